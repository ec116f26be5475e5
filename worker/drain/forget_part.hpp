// Forget part: one node's part of a forget, outside its ledger (rule F2).
//
// Before a FORGET is applied, this node searches its archive, which holds every earlier input, and
// the ledger. Once the FORGET is applied, the archive is edited before the command is archived.
// Forgets of other nodes follow when this node has applied all inputs that it received before them.
// After a crash at any instant, the next call repeats every step that is not recorded as done,
// which is idempotent. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "core/forget/search.hpp"
#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "worker/drain/archive_follower.hpp"

namespace sluice::worker {

class ForgetParts {
public:
    ForgetParts(store::Queue& queue, ArchiveFollower& archive) : queue_(queue), archive_(archive) {}

    /// Searches for the data to forget; the FORGET is the next input. Returns kBusy, kIo, kNoSpace
    /// and the like if the archive cannot be brought up to it now.
    [[nodiscard]] Result<ForgetFound> search(const ForgetNotSearched& wanted, Ledger& ledger);
    /// Performs the tasks that this node has not done; searches for them about once a second, or
    /// at once if `now`.
    /// @param applied    This node's checkpoint.
    /// @param caught_up  True if `applied` is the last input that was received.
    /// Requires: no work is pending. Throws LedgerFailure.
    [[nodiscard]] Status turn(Ledger& ledger, SequenceNumber applied, bool caught_up,
                              bool now = false);

private:
    [[nodiscard]] Status do_part(const ForgetJob& job, Ledger& ledger);
    [[nodiscard]] std::vector<ForgetJob> left_to_do(LedgerReader& ledger) const;
    [[nodiscard]] Result<std::vector<std::string>> nodes(Ledger& ledger) const;
    [[nodiscard]] bool is_due(const ForgetJob& job, const LedgerHead& head, SequenceNumber applied,
                              bool caught_up) const;

    store::Queue& queue_;
    ArchiveFollower& archive_;
    Clock::time_point next_check_{};
};

}  // namespace sluice::worker
