// Position: may this ledger go on with this queue?
#pragma once

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"

namespace sluice::worker {

/// kConflict: inputs that the ledger has applied were never given out by this queue, or inputs
/// that it has not applied are gone. Either file is from elsewhere, and applying on would lose or
/// repeat inputs.
[[nodiscard]] Status check_position(const store::QueueFill& queue, SequenceNumber applied);

}  // namespace sluice::worker
