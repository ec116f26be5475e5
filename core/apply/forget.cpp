#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/payees.hpp"
#include "core/apply/work.hpp"
#include "core/forget/edit.hpp"
#include "core/forget/search.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/rules/account.hpp"

namespace sluice {
namespace {

/// The result of every forget; it must not name the person.
constexpr std::string_view kForgotten = "forgotten";

Reply forgotten() {
    return {CommandOutcome::kDone, std::string(kForgotten)};
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

/// The first id of a creator, and all ids.
struct Names {
    CreatorId first;
    std::set<CreatorId> all;
};
Names names_of(const Forget& command, AccountNumber account, LedgerReader& ledger) {
    Names names{first_id(ledger, account, CreatorId(command.value)), {}};
    names.all.insert(names.first);
    ledger.scan(CreatorAlias{account, {}, {}}, {1, 1}, [&names](const CreatorAlias& row) {
        if (row.creator == names.first) {
            names.all.insert(row.alias);
        }
        return true;
    });
    return names;
}

void forget_creator(const Forget& command, AccountNumber account, LedgerTxn& txn) {
    const Names names = names_of(command, account, txn);
    sluice::forget_creator(account, names.first, names.all, txn);
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
    return Reply{CommandOutcome::kDone, command.done->result};
}

Status check(const Forget& command, const CommandContext& context, LedgerTxn& txn) {
    if (command.by != ForgetBy::kCreator) {
        return context.shop.value != 0 ? Status() : Status(refused("forget has to name a shop"));
    }
    const Names names = names_of(command, context.account, txn);
    CreatorRow profile{context.account, names.first, {}, {}, {}};
    if (!txn.load(profile)) {
        return Error{ErrorCode::kNotFound,
                     "account " + context.account_id.str() + " has no creator " + command.value};
    }
    return check_forgettable(context.account, names.first, names.all, txn);
}

}  // namespace

Result<Reply> forget(const Forget& command, const CommandContext& context, LedgerTxn& txn) {
    if (command.done) {
        return repeat_done(command, context, txn);
    }
    if (Status possible = check(command, context, txn); !possible) {
        return possible.error();
    }
    ForgetJob job{context.source.command_id,
                  forget_subject(command, context.account, context.shop),
                  *command.secret,
                  context.source.received_at,
                  txn.head().node,
                  context.source.seq,
                  {}};
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
