// Checks a request whose body is there: signature, rate, content; and prepares its record.
#pragma once

#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

// Each settles the request, or fills what the commit needs (envelope, claim, bulk file). Event
// loop. Throws std::bad_alloc.

/// Here and now, where that takes neither long nor waits for a disk. @return kAnswer, kCommit,
/// kOffload, or kParked: the master key is looked for first.
[[nodiscard]] Step check(IngestRequest& request);
/// On a thread. @return kParked, or kAnswer: no memory or no thread is left for it.
[[nodiscard]] Step offload(IngestRequest& request);
/// The thread has checked it. @return kAnswer, kCommit, or kEnd.
[[nodiscard]] Step offloaded(IngestRequest& request);

}  // namespace sluice::ngx
