#include <utility>

#include "core/apply/command.hpp"
#include "core/apply/money.hpp"
#include "core/approvals/approval.hpp"

namespace sluice {
namespace {

Result<MoneyCommand> reversible(const Reverse& command, const CommandContext& context,
                                LedgerTxn& txn) {
    PendingApproval waiting;
    waiting.account = context.account;
    waiting.command_id = command.id;
    if (txn.load(waiting) && waiting.state == ApprovalState::kPending) {
        return refused(command.id + " waits for an approval: use `sluice withdraw`");
    }
    MoneyCommand row;
    row.command_id = command.id;
    if (!txn.load(row) || row.account != context.account || row.topic == Topic::kReverse) {
        return Error{ErrorCode::kNotFound, "account " + context.account_id.str() +
                                               " has no adjust or credit " + command.id};
    }
    if (!row.reversed_by.empty()) {
        return refused(command.id + " was reversed by " + row.reversed_by);
    }
    return row;
}

}  // namespace

Result<Reply> reverse_money(const Reverse& command, const CommandContext& context,
                            ProgramCache& programs, LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    Result<MoneyCommand> found = reversible(command, context, txn);
    if (!found) {
        return found.error();
    }
    MoneyCommand& row = *found;
    const Money money{row.currency, -row.amount};
    if (must_wait(context, row.creator, money, programs, txn)) {
        return wait_for_approval(context, {money, row.program, row.creator}, txn);
    }
    row.reversed_by = context.source.command_id;
    if (row.topic == Topic::kCredit) {
        reverse_credit(row, money.amount, context, programs, txn);
    } else if (Status done = reverse_adjust(row, money.amount, context, programs, txn); !done) {
        return done.error();
    }
    count_adjust(context, row.creator, money, programs, txn);
    txn.put(row);
    MoneyCommand reversal = money_command(context);
    reversal.topic = Topic::kReverse;
    reversal.shop = row.shop;
    reversal.shop_id = row.shop_id;
    reversal.order_id = row.order_id;
    reversal.program = row.program;
    reversal.creator = row.creator;
    reversal.currency = row.currency;
    reversal.amount = money.amount;
    reversal.reverses = row.command_id;
    txn.put(reversal);
    return Reply{CommandOutcome::kDone, row.command_id + " reversed by " + to_string(money) +
                                            " as " + reversal.command_id};
}

}  // namespace sluice
