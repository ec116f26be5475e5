// What one nginx worker process has: the open store, the commit, the offload pool, its requests,
// the status.
//
// Made in init_process of worker processes (and of single-process mode), after fork; never by the
// master, `nginx -t` or cache processes. Lives as long as the cycle's memory pool.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

extern "C" {
ngx_int_t ngx_http_sluice_init_process(ngx_cycle_t* cycle) noexcept;
}
