// The content handler of `sluice_ingest`: a request enters the module here.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

extern "C" {
ngx_int_t ngx_http_sluice_handler(ngx_http_request_t* r) noexcept;
/// nginx calls it when the body is read.
void ngx_http_sluice_body_read(ngx_http_request_t* r) noexcept;
/// The write event handler of a parked request.
void ngx_http_sluice_woken(ngx_http_request_t* r) noexcept;
}
