// The setters of the directives. Each checks its arguments; a wrong one fails `nginx -t` with file,
// line and what to write instead.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

extern "C" {
char* ngx_http_sluice_store(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_key_file(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_zone(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_rate_limit(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_idempotency_ttl(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_large_memory(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_header_prefix(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_ingest(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_offload_threshold(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_retry_after(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
char* ngx_http_sluice_status(ngx_conf_t* cf, ngx_command_t* cmd, void* conf) noexcept;
}
