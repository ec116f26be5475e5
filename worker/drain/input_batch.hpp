// Input batch: inputs in order, and the one way in which they are applied to a ledger.
//
// The drain loop and the rebuild both go through here, so that the same inputs give the same rows.
// They are applied on the caller's thread, in order, while others prepare the next ones
// (prepared_ahead.hpp). Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/apply/apply.hpp"
#include "core/apply/work.hpp"
#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/drain/owned_input.hpp"
#include "worker/drain/prepared_ahead.hpp"

namespace sluice::worker {

struct BatchLimits {
    /// Updates of old orders share pages only with each other: a larger batch writes fewer of them.
    std::size_t records_max = 10'000;
    std::chrono::milliseconds time_max{200};  ///< Then the transaction is committed.
    bool is_helped = true;                    ///< Threads prepare inputs ahead, if there are any.
};

struct BatchOutcome {
    std::size_t inputs_done = 0;  ///< Inputs from the front that are done, now or before.
    std::size_t inputs_applied = 0;
    WorkLeft work;                      ///< Attribution to be tried again, before the next input.
    LedgerHead head;                    ///< As committed.
    std::optional<AppliedBatch> batch;  ///< Its place among those of all nodes.
    std::size_t inputs_tried = 0;
    SequenceNumber first_tried;
    /// Set if the next input is a FORGET, for which the ledger must be searched first; everything
    /// before it is committed.
    std::optional<ForgetNotSearched> search;
};

/// The reason why an input is not applied again unchanged.
struct Poison {
    std::string reason;
    bool is_damage = false;  ///< A row of an order that it touches is damaged.
    bool is_bare = false;    ///< The ledger rejects the bytes as well: the letter has none.
};

class BatchApplier {
public:
    /// @param seals, senders  As Applier has them.
    /// @param threads  Prepare inputs while earlier inputs are applied.
    explicit BatchApplier(SealCheck* seals = nullptr, SenderCheck* senders = nullptr,
                          unsigned threads = preparing_threads())
        : applier_(seals, senders), ahead_(threads) {}

    /// Applies pending work, then inputs within the limits, in one transaction. Skips inputs that
    /// the checkpoint covers, because a commit may have succeeded without its outcome being known.
    /// Ends before an input that does not follow the checkpoint, and returns kCorrupt if that is
    /// the first one. Throws LedgerFailure or std::bad_alloc. Then nothing was committed; if
    /// commit() itself failed, the outcome is unknown until the next call reads the checkpoint.
    [[nodiscard]] Result<BatchOutcome> apply(Ledger& ledger, std::string_view node,
                                             std::vector<OwnedInput>& inputs, std::size_t first,
                                             const BatchLimits& limits);

    /// Makes the next call send this input to the dead letters, with this reason.
    void give_up_on(SequenceNumber seq, std::string reason) {
        poison_[seq] = {std::move(reason), false};
    }

private:
    void apply_inputs(LedgerTxn& txn, std::vector<OwnedInput>& inputs, std::size_t first,
                      const BatchLimits& limits, BatchOutcome& outcome);
    std::size_t narrow(const BatchOutcome& outcome, const LedgerFailure& failure);
    Applied apply_one(LedgerTxn& txn, const OwnedInput& input, const PreparedInput* ahead);

    Applier applier_;
    PreparedAhead ahead_;
    /// Inputs that made the applier throw, with its message; the next call dead-letters them.
    std::map<SequenceNumber, Poison> poison_;
};

/// Copies inputs out of the queue, from `from` on: at most `inputs_max`, and about `bytes_max` (at
/// least one). Leaves no transaction of the queue open. A body that is lost or damaged becomes a
/// dead_reason, as does any body if there is `no_memory` for it. Returns kIo or kPermission if a
/// body cannot be read now, kConflict if the queue is older than `from` or lacks all from there on.
[[nodiscard]] Result<std::vector<OwnedInput>> read_inputs(
    store::Queue& queue, const store::StorePaths& paths, SequenceNumber from,
    std::size_t inputs_max, std::size_t bytes_max, bool no_memory = false);

}  // namespace sluice::worker
