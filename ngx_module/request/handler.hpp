// The content handler of `sluice_ingest`: a request enters the module here, and is walked from step
// to step.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

extern "C" {
ngx_int_t ngx_http_sluice_handler(ngx_http_request_t* r) noexcept;
}
