// The content handler of `sluice_link`, and the variables $sluice_link and $sluice_link_id.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// Adds the variables. Called in preconfiguration.
[[nodiscard]] ngx_int_t add_link_variables(ngx_conf_t* cf) noexcept;

}  // namespace sluice::ngx

extern "C" {
ngx_int_t ngx_http_sluice_link_handler(ngx_http_request_t* r) noexcept;
}
