// Stores the record of a checked request.
#pragma once

#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

/// Gives the record to the commit. @return kParked, or kAnswer: it cannot be stored now. Event
/// loop.
[[nodiscard]] Step commit(IngestRequest& request);
/// What the store said becomes the answer. Event loop.
[[nodiscard]] Step committed(IngestRequest& request);

}  // namespace sluice::ngx
