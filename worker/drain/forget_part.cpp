#include "worker/drain/forget_part.hpp"

#include <set>
#include <utility>

#include "core/forget/edit.hpp"
#include "core/ledger/account_rows.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "program/system/crash_point.hpp"
#include "worker/drain/forget_archive.hpp"

namespace sluice::worker {
namespace {

constexpr std::chrono::seconds kCheckEvery{1};
}  // namespace

Result<ForgetFound> ForgetParts::search(const ForgetNotSearched& wanted, Ledger& ledger) {
    const auto& parts = archive_.parts();
    if (parts) {
        if (Status complete = archive_.complete(SequenceNumber{wanted.seq.value - 1}); !complete) {
            return complete.error();
        }
    }
    const auto every = [](std::string_view, SequenceNumber, std::string_view) { return true; };
    const ScanInputs none = [](const auto&) { return Status(); };
    const std::unique_ptr<LedgerReader> snapshot = ledger.snapshot(queue_.uuid());
    auto found = search_forgotten(
        wanted.whom, *snapshot,
        parts ? archived_inputs(parts->paths.archive, parts->options, every, parts->alive) : none);
    crash_point("searched");
    return found;
}

std::vector<ForgetJob> ForgetParts::left_to_do(LedgerReader& ledger) const {
    std::vector<ForgetJob> jobs;
    for (const ForgetTask& row : ledger.rows(ForgetTask{}, {})) {
        ForgetDone done{row.command_id, queue_.uuid()};
        if (!ledger.load(done)) {
            jobs.push_back(decode_task(row));
        }
    }
    return jobs;
}

bool ForgetParts::is_due(const ForgetJob& job, const LedgerHead& head, SequenceNumber applied,
                         bool caught_up) const {
    const bool received_all = job.node == head.node
                                  ? applied >= job.seq
                                  : caught_up || head.last_received > job.received_at;
    const SequenceNumber needed = job.node == head.node ? job.seq : applied;
    return received_all && (!archive_.parts() || archive_.durable_seq() >= needed);
}

Status ForgetParts::turn(Ledger& ledger, SequenceNumber applied, bool caught_up, bool now) {
    if (!now && steady_now() < next_check_) {
        return {};
    }
    next_check_ = steady_now() + kCheckEvery;
    std::vector<ForgetJob> jobs;
    {
        const std::unique_ptr<LedgerReader> snapshot = ledger.snapshot(queue_.uuid());
        jobs = left_to_do(*snapshot);
        const LedgerHead head = snapshot->head();
        std::erase_if(jobs,
                      [&](const ForgetJob& job) { return !is_due(job, head, applied, caught_up); });
    }
    for (const ForgetJob& job : jobs) {
        if (Status done = do_part(job, ledger); !done) {
            return done;
        }
    }
    return {};
}

/// Returns the queues whose archives this node edits: its own, those in its archive, and in an
/// embedded ledger all.
Result<std::vector<std::string>> ForgetParts::nodes(Ledger& ledger) const {
    std::set<std::string> names{queue_.uuid()};
    const std::unique_ptr<LedgerReader> snapshot = ledger.snapshot(queue_.uuid());
    const bool is_shared = dynamic_cast<store::EmbeddedLedger*>(&ledger) == nullptr;
    std::set<std::string> archived;
    if (const auto& parts = archive_.parts()) {
        const auto queues = store::archived_queues(parts->paths.archive);
        if (!queues) {
            return queues.error();
        }
        archived.insert(queues->begin(), queues->end());
    }
    snapshot->scan_heads([&](const LedgerHead& head) {
        if (!is_shared || archived.contains(head.node)) {
            names.insert(head.node);
        }
    });
    return std::vector<std::string>(names.begin(), names.end());
}

Status ForgetParts::do_part(const ForgetJob& job, Ledger& ledger) {
    const auto looked_after = nodes(ledger);
    if (!looked_after) {
        return looked_after.error();
    }
    const auto wanted = [&job](std::string_view queue, SequenceNumber seq,
                               std::string_view record) {
        return is_before(job, queue, seq, record);
    };
    const auto& parts = archive_.parts();
    ForgetFound found;
    if (parts && !archive_.has_edited(job)) {
        const std::unique_ptr<LedgerReader> snapshot = ledger.snapshot(queue_.uuid());
        auto more = search_more(
            job, *snapshot,
            archived_inputs(parts->paths.archive, parts->options, wanted, parts->alive));
        if (!more) {
            return more.error();
        }
        found = *std::move(more);
    }
    std::optional<ForgetJob> grown;
    for (const std::string& node : *looked_after) {
        const std::unique_ptr<LedgerTxn> txn = ledger.begin(node);
        const bool late = node == queue_.uuid() && node != job.node;
        grown = forget_more(job.command_id, found, late, *txn);
        if (!grown) {
            return {};
        }
        txn->commit();
    }
    if (parts && !archive_.has_edited(*grown)) {
        if (Status edited = archive_.edit(*grown); !edited) {
            return edited;
        }
    }
    const std::unique_ptr<LedgerTxn> txn = ledger.begin(queue_.uuid());
    if (note_forgotten(job.command_id, grown->found, *looked_after, *txn)) {
        txn->commit();
    }
    crash_point("forgotten");
    return {};
}

}  // namespace sluice::worker
