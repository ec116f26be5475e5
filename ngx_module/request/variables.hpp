// The $sluice_* variables.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

[[nodiscard]] ngx_int_t add_variables(ngx_conf_t* cf) noexcept;

}  // namespace sluice::ngx
