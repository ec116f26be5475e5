// The directives of the module, and how nginx creates, completes and merges their values.
#pragma once

#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// Return value of a setter that has logged the mistake.
inline char* const kConfFailed = static_cast<char*>(NGX_CONF_ERROR);

/// Returns nullptr without memory.
[[nodiscard]] MainConf* create_main_conf(ngx_conf_t* cf, const Handlers& handlers) noexcept;

/// Completes the values that depend on the whole configuration.
void finish_configuration(ngx_conf_t* cf) noexcept;

}  // namespace sluice::ngx

extern "C" {
/// Each setter checks its arguments; a wrong one fails `nginx -t` with file, line and what to
/// write.
extern ngx_command_t ngx_http_sluice_commands[];

char* ngx_http_sluice_init_main_conf(ngx_conf_t* cf, void* conf) noexcept;
void* ngx_http_sluice_create_loc_conf(ngx_conf_t* cf) noexcept;
char* ngx_http_sluice_merge_loc_conf(ngx_conf_t* cf, void* parent, void* child) noexcept;
}
