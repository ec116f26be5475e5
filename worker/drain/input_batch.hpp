// Input batch: inputs in order, and the one way in which they are applied to a ledger.
//
// The drain loop and the rebuild both go through here, so that the same inputs give the same rows.
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/apply/apply.hpp"
#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"

namespace sluice::worker {

/// An input that owns its bytes.
struct OwnedInput {
    SequenceNumber seq;
    std::string record;
    std::string bulk_body;
    std::string bulk_file;                     ///< Name in queue/bulk/, or empty.
    std::optional<std::string> dead_reason;    ///< Its body cannot be had.
    std::optional<Digest256> original_sha256;  ///< From the archive.
    std::optional<InputClass> input_class;     ///< Set when it was applied here.
    std::optional<ForgetFound> forget_found;   ///< Of a FORGET that was looked for.
    std::optional<std::string> damage;         ///< Of a FORGET that cannot be looked for.

    [[nodiscard]] Input view() const;
};

struct BatchLimits {
    /// Updates of old orders share pages only with each other: a larger batch writes fewer of them.
    std::size_t records_max = 10'000;
    std::chrono::milliseconds time_max{200};  ///< Then the transaction is committed.
};

struct BatchOutcome {
    std::size_t inputs_done = 0;  ///< Of those given, from the front; some may have been done
                                  ///< before.
    std::size_t inputs_applied = 0;
    WorkLeft work;    ///< Attribution to be tried again, before the next input.
    LedgerHead head;  ///< As committed.
    std::size_t inputs_tried = 0;
    SequenceNumber first_tried;
    /// The next input is a FORGET that has to be looked for first; everything before it is
    /// committed. Nothing: go on.
    std::optional<ForgetNotSearched> search;
};

/// Why an input is not tried again as it is.
struct Poison {
    std::string reason;
    bool is_damage = false;  ///< Of a row of an order that it touches.
};

class BatchApplier {
public:
    /// One transaction: pending work first, then inputs while the limits allow. Skips inputs that
    /// the checkpoint covers (a commit whose outcome was unknown).
    /// kCorrupt: an input is missing between the checkpoint and the first one.
    /// Throws LedgerFailure; then nothing happened, or, if commit() failed, all or nothing did: the
    /// next call finds out. std::bad_alloc likewise.
    [[nodiscard]] Result<BatchOutcome> apply(Ledger& ledger, std::string_view node,
                                             std::vector<OwnedInput>& inputs, std::size_t first,
                                             const BatchLimits& limits);

    /// The next try sends this input to the dead letters, with this reason.
    void give_up_on(SequenceNumber seq, std::string reason) {
        poison_[seq] = {std::move(reason), false};
    }

private:
    void apply_inputs(LedgerTxn& txn, std::vector<OwnedInput>& inputs, std::size_t first,
                      const BatchLimits& limits, BatchOutcome& outcome);
    std::size_t narrow(const BatchOutcome& outcome, const LedgerFailure& failure);
    InputClass apply_one(LedgerTxn& txn, const OwnedInput& input);

    Applier applier_;
    /// Inputs that made the applier throw: they go to the dead letters with what it said.
    std::map<SequenceNumber, Poison> poison_;
};

}  // namespace sluice::worker
