#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/work.hpp"
#include "core/forget/edit.hpp"
#include "core/forget/search.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/protocol/personal_ids.hpp"

namespace sluice {
namespace {

Reply forgotten() {
    return done(std::string(kForgotten));
}

/// Queues the orders that hold ids of the person, to be changed one by one.
void leave_orders(const ForgetJob& job, std::uint64_t work, LedgerTxn& txn) {
    std::vector<WorkOrder> orders;
    visit_forgotten(job.whom, job.found, txn, [&](const OrderState& state) {
        orders.push_back(
            {work, state.ordered_at, state.key.account, state.key.shop, state.key.order_id});
    });
    for (const WorkOrder& order : orders) {
        txn.put(order);
    }
}

/// Payouts of the creator, from the memo entries in the creator's journal.
std::vector<Payout> payouts_of(AccountNumber account, const CreatorId& creator,
                               LedgerReader& ledger) {
    std::set<std::string> ids;
    ledger.scan_creator_journal(account, creator, kFirstInstant, kEndOfTime,
                                [&ids](const JournalGroup& group) { ids.insert(group.payout_id); });
    std::vector<Payout> payouts;
    for (const std::string& id : ids) {
        Payout payout{.payout_id = id};
        if (!id.empty() && ledger.load(payout)) {
            payouts.push_back(std::move(payout));
        }
    }
    return payouts;
}

/// Returns whether the body of a command sets the profile of one of the creators.
bool sets_profile(const PendingApproval& row, const std::set<CreatorId>& names) {
    if (row.topic != Topic::kCreatorSet && row.topic != Topic::kCreatorImport) {
        return false;
    }
    const Result<Request> request = decode_request(row.topic, row.body);
    if (!request) {
        return false;
    }
    if (const auto* set = std::get_if<CreatorSet>(&request->command)) {
        return names.contains(set->creator);
    }
    const auto& rows = std::get<CreatorImport>(request->command).rows;
    return std::ranges::any_of(rows, [&names](const CreatorImport::Row& import) {
        return names.contains(import.creator);
    });
}

std::vector<PendingApproval> approvals_of(AccountNumber account, const std::set<CreatorId>& names,
                                          LedgerReader& ledger) {
    return ledger.rows(PendingApproval{.account = account}, {1, 1},
                       [&](const PendingApproval& row) { return sets_profile(row, names); });
}

/// Refuses while the creator has payouts that are not over, or a pending change of the payee.
Status check_forgettable(AccountNumber account, const CreatorIds& ids, LedgerReader& ledger) {
    std::string open;
    for (const Payout& payout : payouts_of(account, ids.first, ledger)) {
        if (payout.state <= PayoutState::kSent) {
            open += (open.empty() ? "" : ", ") + payout.payout_id + " (" +
                    std::string(to_string(payout.state)) + ")";
        }
    }
    if (!open.empty()) {
        return refused("creator " + ids.first.str() + " has payouts that are not over: " + open +
                       "; settle or void them first");
    }
    for (const PendingApproval& row : approvals_of(account, ids.all, ledger)) {
        if (row.state == ApprovalState::kPending) {
            return refused(row.command_id + " waits and would set the profile of creator " +
                           ids.first.str() + "; approve or withdraw it first");
        }
    }
    return {};
}

/// Takes the name and payee out of all rows. Digests of the payees stay.
void forget_creator(const Forget& command, AccountNumber account, LedgerTxn& txn) {
    const auto [creator, names] = ids_of_creator(account, command.value, txn);
    CreatorRow profile{account, creator, {}, {}, {}};
    if (txn.load(profile)) {
        profile.name.clear();
        profile.payee.clear();
        txn.put(profile);
    }
    for (PayeeChange& row : txn.rows(PayeeChange{.account = account, .creator = creator}, {2, 2})) {
        row.old_payee = forgotten_payee(row.old_payee);
        row.new_payee = forgotten_payee(row.new_payee);
        txn.put(row);
    }
    for (Payout& payout : payouts_of(account, creator, txn)) {
        payout.payee = forgotten_payee(payout.payee);
        txn.put(payout);
    }
    for (PendingApproval& row : approvals_of(account, names, txn)) {
        row.body.clear();
        txn.put(row);
    }
}

/// Repeats, in a rebuild, a forget that the archive has as done: the inputs before it are edited,
/// and the command leaves the same rows as the first time.
Result<Reply> repeat_done(const Forget& command, const CommandContext& context, LedgerTxn& txn) {
    if (command.done->refused) {
        return refused(command.done->result);
    }
    if (command.by == ForgetBy::kCreator) {
        forget_creator(command, context.account, txn);
    } else {
        leave_forget_work(context, txn);
    }
    return done(command.done->result);
}

Status check(const Forget& command, const CommandContext& context, LedgerTxn& txn) {
    if (command.by != ForgetBy::kCreator) {
        return context.shop.value != 0 ? Status() : Status(refused("forget has to name a shop"));
    }
    const CreatorIds ids = ids_of_creator(context.account, command.value, txn);
    CreatorRow profile{context.account, ids.first, {}, {}, {}};
    if (!txn.load(profile)) {
        return not_found("account " + context.account_id.str() + " has no creator " +
                         command.value);
    }
    return check_forgettable(context.account, ids, txn);
}

}  // namespace

Result<Reply> forget_person(const Forget& command, const CommandContext& context,
                            ProgramCache& /*programs*/, LedgerTxn& txn) {
    if (command.done) {
        return repeat_done(command, context, txn);
    }
    if (Status possible = check(command, context, txn); !possible) {
        return possible.error();
    }
    ForgetJob job{.command_id = context.source.command_id,
                  .whom = forget_subject(command, context.account, context.shop),
                  .secret = *command.secret,
                  .received_at = context.source.received_at,
                  .node = txn.head().node,
                  .seq = context.source.seq};
    if (context.forget_found == nullptr) {
        throw ForgetNotSearched{context.source.seq, job.whom};
    }
    job.found = *context.forget_found;
    txn.put(encode_task(job));
    if (command.by == ForgetBy::kCreator) {
        forget_creator(command, context.account, txn);
        return forgotten();
    }
    const ForgetNames names(job);
    forget_clicks(job, names, txn);
    forget_letters(job, txn);
    leave_orders(job, leave_forget_work(context, txn), txn);
    return forgotten();
}

}  // namespace sluice
