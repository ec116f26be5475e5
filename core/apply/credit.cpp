#include <algorithm>
#include <utility>

#include "core/apply/command.hpp"
#include "core/apply/manual_postings.hpp"
#include "core/approvals/approval.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/positions/open_amounts.hpp"

namespace sluice {
namespace {

/// Judges the anomalies of the order that a credit names, after the credit was reversed.
void judge_named_order(const MoneyCommand& credit, const CommandContext& context,
                       ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (credit.shop.value != 0 && change.load({credit.account, credit.shop, credit.order_id})) {
        change.finish();
    }
}

void count_open_credits(const MoneyCommand& credit, std::int64_t by, const AccountId& account_id,
                        LedgerTxn& txn) {
    if (credit.order_id.empty()) {
        return;
    }
    const CreditOfOrder row{credit.account, credit.shop_id, credit.order_id, credit.command_id};
    by > 0 ? txn.put(row) : txn.erase(row);
    change_account(txn, credit.account, account_id, [by](AccountRow& account) {
        account.open_credits += static_cast<std::uint64_t>(by);
    });
}

}  // namespace

void post_credit(MoneyCommand& credit, const Decimal& amount, JournalReason reason,
                 const CommandContext& context, ProgramCache& programs, LedgerTxn& txn) {
    const std::vector<OpenAmount> before = open_amounts(credit);
    const auto& closed_until = programs.settings(txn, credit.account).row.closed_until;
    JournalGroup group = group_of(context.source, credit.account, closed_until);
    const bool late = is_late(context.source.received_at, closed_until);
    group.shop = credit.shop;
    group.order_id = credit.order_id;
    group.program = credit.program;
    group.creator = credit.creator;
    group.entries.push_back(
        {LineItemId(), credit.currency, amount, reason, late ? credit.first_entry : 0});
    credit.accrued += amount;
    credit.last_posted = std::max(credit.last_posted, group.accounting_date);
    const std::uint64_t entry = post_group(txn, std::move(group));
    credit.first_entry = credit.first_entry == 0 ? entry : credit.first_entry;
    txn.put(credit);
    reindex_open(txn, before, open_amounts(credit));
}

void reverse_credit(MoneyCommand& credit, const Decimal& amount, const CommandContext& context,
                    ProgramCache& programs, LedgerTxn& txn) {
    post_credit(credit, amount, JournalReason::kReversal, context, programs, txn);
    count_open_credits(credit, -1, context.account_id, txn);
    judge_named_order(credit, context, programs, txn);
}

Result<Reply> run_verb(const Credit& command, const CommandContext& context, ProgramCache& programs,
                       LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    const Result<Decimal> amount = checked_amount(command.amount.amount, command.amount.currency);
    if (!amount) {
        return amount.error();
    }
    const Result<ProgramRow> program = program_of_account(txn, context, command.program);
    if (!program) {
        return program.error();
    }
    const CreatorId creator = first_id(txn, context.account, command.creator);
    if (!txn.membership(context.account, command.program, creator)) {
        return refused("creator " + command.creator.str() + " was never in program " +
                       command.program.str() + "; import the creator first");
    }
    OrderState state;
    if (command.order && txn.load_order({context.account, context.shop, *command.order}, state)) {
        return refused("order " + command.order->str() + " exists: use `sluice adjust`");
    }
    const Money money{command.amount.currency, *amount};
    if (must_wait(context, creator, money, programs, txn)) {
        return wait_for_approval(context, {money, command.program, creator}, txn);
    }
    MoneyCommand row = money_command(context);
    if (command.order) {
        row.shop = context.shop;
        row.shop_id = context.shop_id;
        row.order_id = *command.order;
    }
    row.program = command.program;
    row.creator = creator;
    row.currency = money.currency;
    row.amount = money.amount;
    row.sale_at = command.sale_at.value_or(context.source.received_at);
    row.accrued = row.allocated = zero_amount(money.currency);
    count_adjust(context, creator, money, programs, txn);
    post_credit(row, money.amount, JournalReason::kCredit, context, programs, txn);
    count_open_credits(row, 1, context.account_id, txn);
    return done("creator " + command.creator.str() + " credited with " + to_string(money) + " as " +
                row.command_id);
}

}  // namespace sluice
