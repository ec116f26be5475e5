// The directives of links, and how nginx merges their values. Internal to this folder.
#pragma once

#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

// Setters, as nginx calls them.
char* set_link(ngx_conf_t* cf, ngx_command_t* command, void* location) noexcept;
char* set_link_cookie(ngx_conf_t* cf, ngx_command_t* command, void* location) noexcept;
char* set_device_id(ngx_conf_t* cf, ngx_command_t* command, void* location) noexcept;
char* set_click_buffer(ngx_conf_t* cf, ngx_command_t* command, void* main) noexcept;

/// Sets the content handler of the location, which can have only one.
char* take_location(ngx_conf_t* cf, ngx_http_handler_pt handler) noexcept;

void init_link_values(LocConf& conf) noexcept;
void init_link_values(MainConf& conf) noexcept;
/// Returns false without memory.
[[nodiscard]] bool merge_link_values(ngx_conf_t* cf, const LocConf& parent, LocConf& conf) noexcept;
/// Checks a location with `sluice_link`. Returns false if it is refused and logged.
[[nodiscard]] bool check_link(ngx_conf_t* cf, const MainConf& main, const LocConf& conf,
                              const ngx_http_core_loc_conf_t& core) noexcept;

}  // namespace sluice::ngx
