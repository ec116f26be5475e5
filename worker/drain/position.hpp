// Position: may this ledger go on with this queue, and is it this store's?
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/registry.hpp"

namespace sluice::worker {

/// kConflict: inputs that the ledger has applied were never given out by this queue, or inputs
/// that it has not applied are gone. Either file is from elsewhere, and applying on would lose or
/// repeat inputs.
[[nodiscard]] Status check_position(const store::QueueFill& queue, SequenceNumber applied);

/// kConflict: a shop of this store has another number, or its number another shop, in the ledger:
/// it is the ledger of other stores, and one shop's orders would be posted to another's.
/// Throws LedgerFailure.
[[nodiscard]] Status check_shops(store::Registry& registry, LedgerReader& ledger);

}  // namespace sluice::worker
