// Forget part: what one node does for a forget beside its ledger (books F2).
//
// Before a FORGET is applied it is looked for here: in the archive, which holds every input before
// it, and in the ledger. Once it is applied, the archive is edited before the command is archived;
// forgets of other nodes are done likewise, when this node has applied what it received before
// them. Killed at any instant, the next turn does again what is not noted as done: doing it twice
// changes nothing. Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
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
    /// @param alive  Called now and then while an archive is read.
    ForgetParts(const store::StorePaths& paths, store::Queue& queue,
                std::optional<store::ArchiveOptions> options, ArchiveFollower& archive,
                std::function<void()> alive);

    /// What there is to forget; the FORGET is the next input. kBusy, kIo, kNoSpace ...: the archive
    /// cannot be brought up to it now.
    [[nodiscard]] Result<ForgetFound> search(const ForgetNotSearched& wanted, Ledger& ledger);
    /// Looks about once a second, or `now`, for tasks that this node has not done, and does them.
    /// @param applied  Of this node; `caught_up`: it is the last input that was received.
    /// Requires: no work is pending. Throws LedgerFailure.
    [[nodiscard]] Status turn(Ledger& ledger, SequenceNumber applied, bool caught_up,
                              bool now = false);

private:
    [[nodiscard]] Status do_part(const ForgetJob& job, Ledger& ledger);
    [[nodiscard]] std::vector<ForgetJob> left_to_do(LedgerReader& ledger) const;
    [[nodiscard]] Result<std::vector<std::string>> nodes(Ledger& ledger) const;
    [[nodiscard]] bool is_due(const ForgetJob& job, const LedgerHead& head, SequenceNumber applied,
                              bool caught_up) const;

    store::StorePaths paths_;
    store::Queue& queue_;
    std::optional<store::ArchiveOptions> options_;
    ArchiveFollower& archive_;
    std::function<void()> alive_;
    Clock::time_point next_look_{};
};

}  // namespace sluice::worker
