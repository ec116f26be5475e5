#include "core/apply/leave_work.hpp"

#include <set>

namespace sluice {
namespace {

Work new_work(WorkKind kind, const CommandContext& context, LedgerTxn& txn) {
    Work work;
    work.number = txn.mutable_head().next_work++;
    work.kind = kind;
    work.cause = context.source.seq;
    work.cause_topic = context.source.topic;
    work.command_id = context.source.command_id;
    work.actor = context.source.actor;
    work.reason = context.source.note;
    work.received_at = context.source.received_at;
    return work;
}

}  // namespace

void leave_work(const std::vector<WaitKey>& keys, const CommandContext& context, LedgerTxn& txn) {
    std::set<WaitKey> seen;
    for (const WaitKey& key : keys) {
        if (seen.insert(key).second && txn.next_waiting(key) == key) {
            Work work = new_work(WorkKind::kTryKey, context, txn);
            work.key = key;
            txn.put(work);
        }
    }
}

void leave_account_work(AccountNumber account, const CommandContext& context, LedgerTxn& txn) {
    Work work = new_work(WorkKind::kCollect, context, txn);
    work.key = {account, WaitKind::kAnon, {}};
    txn.put(work);
}

void leave_detach_work(const std::string& cause, bool retry, const CommandContext& context,
                       LedgerTxn& txn) {
    Work work = new_work(retry ? WorkKind::kRetry : WorkKind::kDetach, context, txn);
    work.key = {context.account, WaitKind::kAnon, {}};
    work.subject = cause;
    txn.put(work);
}

std::uint64_t leave_forget_work(const CommandContext& context, LedgerTxn& txn) {
    Work work = new_work(WorkKind::kForget, context, txn);
    work.key = {context.account, WaitKind::kAnon, {}};
    work.subject = context.source.command_id;
    work.reason.clear();  // it may name the person
    txn.put(work);
    return work.number;
}

}  // namespace sluice
