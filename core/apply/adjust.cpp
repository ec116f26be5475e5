#include "core/apply/adjust.hpp"

#include <utility>

#include "core/journal/accounting_date.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {
namespace {

Decimal minus(const Decimal& amount) {
    return Decimal(0, amount.scale()) - amount;
}

/// The amount with the currency's digits, or what is wrong with it.
Result<Decimal> checked_amount(const Decimal& amount, Currency currency) {
    if (amount.is_zero()) {
        return Error{ErrorCode::kInvalid, "an amount of 0 changes nothing"};
    }
    if (const std::optional<Decimal> exact = in_minor_units(amount, currency)) {
        return *exact;
    }
    return Error{ErrorCode::kInvalid, "--amount " + amount.to_string() + " has more digits than " +
                                          std::string(currency.code()) + ", which has " +
                                          std::to_string(currency.minor_units())};
}

bool must_wait(const CommandContext& context, const Money& amount, ProgramCache& programs,
               LedgerTxn& txn) {
    const Policy& policy = programs.settings(txn, context.account).policy;
    return !context.approved && needs_approval(policy.approve_adjust_above, amount);
}

MoneyCommand money_command(const CommandContext& context) {
    MoneyCommand row;
    row.command_id = context.source.command_id;
    row.account = context.account;
    row.topic = context.source.topic;
    return row;
}

/// A transfer into `owed` that no position has.
void post_credit(MoneyCommand& credit, const Decimal& amount, JournalReason reason,
                 const CommandContext& context, ProgramCache& programs, LedgerTxn& txn) {
    const std::optional<OpenAmount> before = open_amount(credit);
    const auto& closed_until = programs.settings(txn, credit.account).row.closed_until;
    JournalGroup group = group_of(context.source, credit.account, closed_until);
    const bool late = is_late(context.source.received_at, closed_until);
    group.shop = credit.shop;
    group.order_id = credit.order_id;
    group.program = credit.program;
    group.creator = credit.creator;
    group.entries.push_back(
        {LineItemId(), credit.currency, amount, reason, late ? credit.first_entry : 0});
    credit.due = credit.due + amount;
    credit.last_booked = std::max(credit.last_booked, group.accounting_date);
    const std::uint64_t entry = post_group(txn, std::move(group));
    credit.first_entry = credit.first_entry == 0 ? entry : credit.first_entry;
    txn.put(credit);
    const std::optional<OpenAmount> after = open_amount(credit);
    const auto rows = [](const std::optional<OpenAmount>& row) {
        return row ? std::vector<OpenAmount>{*row} : std::vector<OpenAmount>{};
    };
    reindex_open(txn, rows(before), rows(after));
}

/// The order that a credit named, judged again now that the credit is there or gone.
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

// ---- Reverse
// --------------------------------------------------------------------------------------

Result<MoneyCommand> reversible(const Reverse& command, const CommandContext& context,
                                LedgerTxn& txn) {
    WaitingCommand waiting;
    waiting.account = context.account;
    waiting.command_id = command.id;
    if (txn.load(waiting) && waiting.state == ApprovalState::kWaiting) {
        return refused(command.id + " waits for an approval; withdraw it");
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

Status reverse_adjust(const MoneyCommand& row, const CommandContext& context,
                      ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (!change.load({row.account, row.shop, row.order_id})) {
        return Error{ErrorCode::kCorrupt, "ledger: " + row.command_id + " adjusted order " +
                                              row.order_id.str() + ", which is not there"};
    }
    const auto position = find_position(change.state(), row.program, row.creator);
    if (!position) {
        return Error{ErrorCode::kCorrupt, "ledger: order " + row.order_id.str() +
                                              " has no position of creator " + row.creator.str()};
    }
    change.post(change.state().positions[*position],
                {{LineItemId(), row.currency, minus(row.amount), JournalReason::kReversal, 0}});
    change.finish();
    return {};
}

}  // namespace

Reply wait_for_approval(const CommandContext& context, const AskedAbout& about, LedgerTxn& txn) {
    WaitingCommand row;
    row.account = context.account;
    row.command_id = context.source.command_id;
    row.topic = context.source.topic;
    row.shop = context.shop;
    row.shop_id = context.shop_id;
    row.body = context.body;
    row.actor = context.actor();
    row.reason = context.reason();
    row.received_at = context.source.received_at;
    if (about.amount) {
        row.currency = about.amount->currency;
        row.amount = about.amount->amount;
    }
    row.program = about.program;
    row.creator = about.creator;
    txn.put(row);
    return {CommandOutcome::kWaiting, row.command_id + " waits for another actor's approve"};
}

Result<Reply> adjust_order(const Adjust& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    OrderState& state = change.state();
    if (!state.live) {
        return refused("order " + command.order.str() +
                       " belongs to no creator, so nobody is owed anything; attribute it first");
    }
    const Result<Decimal> amount = checked_amount(command.amount, state.currency);
    if (!amount) {
        return amount.error();
    }
    Position& position = *state.position();
    const Attribution& attribution = position.attribution;
    if (must_wait(context, {state.currency, *amount}, programs, txn)) {
        return wait_for_approval(
            context, {Money{state.currency, *amount}, attribution.program, attribution.creator},
            txn);
    }
    MoneyCommand row = money_command(context);
    row.shop = context.shop;
    row.shop_id = context.shop_id;
    row.order_id = command.order;
    row.program = attribution.program;
    row.creator = attribution.creator;
    row.currency = state.currency;
    row.amount = *amount;
    txn.put(row);
    change.post(position, {{LineItemId(), state.currency, *amount, JournalReason::kManual, 0}});
    change.finish();
    return Reply{CommandOutcome::kDone, "order " + command.order.str() + " adjusted by " +
                                            to_string(Money{state.currency, *amount}) + " as " +
                                            row.command_id};
}

Result<Reply> book_credit(const Credit& command, const CommandContext& context,
                          ProgramCache& programs, LedgerTxn& txn) {
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
        return refused("order " + command.order->str() + " is there; adjust it");
    }
    const Money money{command.amount.currency, *amount};
    if (must_wait(context, money, programs, txn)) {
        return wait_for_approval(context, {money, {}, {}}, txn);
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
    row.due = row.taken = zero_amount(money.currency);
    post_credit(row, money.amount, JournalReason::kCredit, context, programs, txn);
    count_open_credits(row, 1, context.account_id, txn);
    return Reply{CommandOutcome::kDone, "creator " + command.creator.str() + " credited with " +
                                            to_string(money) + " as " + row.command_id};
}

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
    const Money money{row.currency, minus(row.amount)};
    if (must_wait(context, money, programs, txn)) {
        return wait_for_approval(context, {money, row.program, row.creator}, txn);
    }
    row.reversed_by = context.source.command_id;
    if (row.topic == Topic::kCredit) {
        post_credit(row, money.amount, JournalReason::kReversal, context, programs, txn);
        count_open_credits(row, -1, context.account_id, txn);
        judge_named_order(row, context, programs, txn);
    } else if (Status done = reverse_adjust(row, context, programs, txn); !done) {
        return done.error();
    }
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
