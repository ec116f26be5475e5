// How a request came to an ingest location, and whether it can be taken as it is.
//
// Most come straight from the client. Others come through other parts of nginx: a rewrite, a named
// location, an error page, an answer with X-Accel-Redirect; or with a body that another module has
// read (mirror, Lua, a firewall). What arrives whole is taken; what does not is refused in a way
// that tells the sender the truth: 413 where nginx found it too long, else 503, which every sender
// repeats.
#pragma once

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

enum class Arrival {
    kWhole,      ///< The head as the client sent it, and its body, read already or not.
    kTooLarge,   ///< Longer than client_max_body_size, here or in the location it comes from.
    kIncomplete  ///< Its body or its method is gone, or its answer's status is settled already.
};

/// Requires: `r` is a main request that was not answered yet. Event loop.
[[nodiscard]] Arrival arrival_of(const ngx_http_request_t* r) noexcept;

/// `r` is about to end with 413: if an error page leads to an ingest location, arrival_of() knows
/// it from a body that came unbuffered and is gone for another reason. Event loop.
void mark_refused_length(ngx_http_request_t* r) noexcept;

}  // namespace sluice::ngx
