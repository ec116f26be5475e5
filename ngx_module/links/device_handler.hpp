// The content handler of `sluice_device_id`.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

extern "C" {
ngx_int_t ngx_http_sluice_device_id_handler(ngx_http_request_t* r) noexcept;
}
