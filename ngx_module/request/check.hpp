// Checks a request whose body is there: signature, rate, content; and prepares its record.
#pragma once

#include "core/intake/intake.hpp"
#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

/// Settles the request, or fills what the commit needs (envelope, claim, bulk file). On the offload
/// thread it may block for the disk; on the event loop the body must lie in memory and be at most
/// store::kInlineBodyBytesMax long.
/// Throws std::bad_alloc. Requires: nobody else uses `scratch` meanwhile.
void check_request(IngestRequest& request, IntakeScratch& scratch, Timestamp now);

}  // namespace sluice::ngx
