// Refused before: counts what nginx itself or another module refuses at an ingest location, so that
// a sender who gets 503 of limit_req is seen on the status page.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// In postconfiguration.
/// @return false: no memory.
[[nodiscard]] bool install_refusal_counter(ngx_conf_t* cf) noexcept;

}  // namespace sluice::ngx
