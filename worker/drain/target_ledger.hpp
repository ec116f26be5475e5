// Target ledger: how the drain opens its ledger, and whether that ledger belongs to this queue and
// this store.
#pragma once

#include <functional>
#include <memory>

#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::worker {

using LedgerOpener = std::function<Result<std::unique_ptr<Ledger>>()>;

/// Opens the embedded ledger of a store.
[[nodiscard]] LedgerOpener embedded_ledger(
    const store::StorePaths& paths,
    store::EmbeddedLedger::Mode mode = store::EmbeddedLedger::Mode::kReadWrite);

/// The ledger has applied inputs that the queue never gave a number to.
[[nodiscard]] Error older_queue(SequenceNumber applied, SequenceNumber given_out);
/// The queue lacks these inputs, and the ledger has not applied them (controls K14).
[[nodiscard]] Error missing_inputs(SequenceNumber first, SequenceNumber last);

/// Returns kConflict if the ledger has applied inputs that this queue never assigned, or if the
/// queue lacks inputs that the ledger has not applied. One of the two is then from elsewhere, and
/// applying more would lose or repeat inputs.
[[nodiscard]] Status check_position(const store::QueueFill& queue, SequenceNumber applied);

/// Returns kConflict if a shop of this store has another number in the ledger, or its number
/// belongs to another shop there. Then one shop's orders would be posted to another shop. Throws
/// LedgerFailure.
[[nodiscard]] Status check_shops(store::Registry& registry, LedgerReader& ledger);

}  // namespace sluice::worker
