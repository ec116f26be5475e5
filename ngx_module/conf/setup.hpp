// Setup: how nginx makes, fills in and merges the configuration of one http block.
#pragma once

#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// nullptr: no memory.
[[nodiscard]] MainConf* create_main_conf(ngx_conf_t* cf, const Handlers& handlers) noexcept;

/// When everything was read.
void finish_configuration(ngx_conf_t* cf) noexcept;

}  // namespace sluice::ngx

extern "C" {
char* ngx_http_sluice_init_main_conf(ngx_conf_t* cf, void* conf) noexcept;
void* ngx_http_sluice_create_loc_conf(ngx_conf_t* cf) noexcept;
char* ngx_http_sluice_merge_loc_conf(ngx_conf_t* cf, void* parent, void* child) noexcept;
}
