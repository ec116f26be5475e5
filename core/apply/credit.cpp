#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/manual_postings.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/orders/account_change.hpp"
#include "core/orders/change.hpp"
#include "core/payouts/sound_credit.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/values/lookup.hpp"

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

/// Checks the reason, the amount and the program of a credit or a write-off. Returns its row,
/// without the sale.
Result<MoneyCommand> checked_row(const CreatorId& creator, const ProgramId& program,
                                 const Money& money, const CommandContext& context,
                                 LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    const Result<Decimal> amount = checked_amount(money.amount, money.currency);
    if (!amount) {
        return amount.error();
    }
    if (const auto known = program_of_account(txn, context, program); !known) {
        return known.error();
    }
    MoneyCommand row = money_command(context, program, first_id(txn, context.account, creator),
                                     {money.currency, *amount});
    row.accrued = row.allocated = zero_amount(row.currency);
    return row;
}

/// The amount that a creator is owed, and the first sale of the amounts below 0.
struct Owed {
    Decimal sum;
    Timestamp first_negative = kEndOfTime;
};

/// Returns what the creator of the write-off is owed in its program, by currency.
std::map<Currency, Owed> owed_to(const WriteOff& write_off, AccountNumber account, LedgerTxn& txn) {
    std::map<Currency, Owed> all;
    const CreatorId creator = first_id(txn, account, write_off.creator);
    const OpenAmount first{.account = account, .program = write_off.program};
    txn.scan(first, {2, 2}, [&](const OpenAmount& row) {
        if (row.creator == creator) {
            Owed& owed = value_at(all, row.currency, Owed{zero_amount(row.currency)});
            owed.sum += row.amount;
            owed.first_negative = row.amount.is_negative()
                                      ? std::min(owed.first_negative, row.sold_at)
                                      : owed.first_negative;
        }
    });
    return all;
}

/// Returns the amount that the command states, or the whole balance below 0.
Result<Money> amount_of(const WriteOff& command, const std::map<Currency, Owed>& owed) {
    if (command.amount) {
        return *command.amount;
    }
    std::vector<Money> negative;
    for (const auto& [currency, one] : owed) {
        if (one.sum.is_negative() && (!command.currency || *command.currency == currency)) {
            negative.push_back({currency, -one.sum});
        }
    }
    const std::string creator = "creator " + command.creator.str() + " has ";
    if (negative.size() > 1) {
        return refused(creator + "balances below 0 in " + std::string(negative[0].currency.code()) +
                       " and " + std::string(negative[1].currency.code()) +
                       ": name one with --currency or --amount");
    }
    if (negative.empty()) {
        return refused(
            creator + "no balance below 0 in program " + command.program.str() +
            (command.currency ? " and " + std::string(command.currency->code()) : std::string()));
    }
    return negative.front();
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

namespace {

/// Judges the orders of which these payouts deducted an amount in the write-off's program.
void judge_deducted_orders(const MoneyCommand& write_off, const std::vector<std::string>& payouts,
                           const CommandContext& context, ProgramCache& programs, LedgerTxn& txn) {
    std::set<OrderKey> orders;
    for (const std::string& id : payouts) {
        const PayoutItem first{.payout_id = id, .program = write_off.program};
        txn.scan(first, {2, 2}, [&](const PayoutItem& item) {
            if (item.kind != ItemKind::kCredit && item.amount.is_negative()) {
                orders.insert({write_off.account, item.shop, item.order_id});
            }
        });
    }
    for (const OrderKey& key : orders) {
        OrderChange change(txn, programs, context.source);
        if (change.load(key)) {
            change.finish();
        }
    }
}

}  // namespace

void reverse_credit(MoneyCommand& credit, const Decimal& amount, const CommandContext& context,
                    ProgramCache& programs, LedgerTxn& txn) {
    std::vector<std::string> payouts;
    if (credit.topic == Topic::kWriteOff && credit.active_items != 0) {
        SoundCredits credits(txn);
        MoneyCommand stored;
        if (credits.load(credit.command_id, stored)) {
            payouts = credits.payouts_of(stored);
        }
    }
    post_credit(credit, amount, JournalReason::kReversal, context, programs, txn);
    count_open_credits(credit, -1, context.account_id, txn);
    judge_named_order(credit, context, programs, txn);
    judge_deducted_orders(credit, payouts, context, programs, txn);
}

Result<Reply> credit(const Credit& command, const CommandContext& context, ProgramCache& programs,
                     LedgerTxn& txn) {
    Result<MoneyCommand> checked =
        checked_row(command.creator, command.program, command.amount, context, txn);
    if (!checked) {
        return checked.error();
    }
    MoneyCommand& row = *checked;
    if (!txn.membership(context.account, row.program, row.creator)) {
        return refused("creator " + command.creator.str() + " was never in program " +
                       row.program.str() + "; import the creator first");
    }
    OrderState state;
    if (command.order && txn.load_order({context.account, context.shop, *command.order}, state)) {
        return refused("order " + command.order->str() + " exists: use `sluice adjust`");
    }
    const Money money{row.currency, row.amount};
    if (command.order) {
        row.shop = context.shop;
        row.shop_id = context.shop_id;
        row.order_id = *command.order;
    }
    row.sale_at = command.sale_at.value_or(context.source.received_at);
    count_adjust(context, row, programs, txn);
    post_credit(row, row.amount, JournalReason::kCredit, context, programs, txn);
    count_open_credits(row, 1, context.account_id, txn);
    return done("creator " + command.creator.str() + " credited with " + to_string(money) + " as " +
                row.command_id);
}

/// The write-off clears with the first of the amounts that it makes up for, because each close
/// takes of it what that close deducts.
Result<Reply> write_off(const WriteOff& command, const CommandContext& context,
                        ProgramCache& programs, LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (const auto known = program_of_account(txn, context, command.program); !known) {
        return known.error();
    }
    std::map<Currency, Owed> all = owed_to(command, context.account, txn);
    const Result<Money> amount = amount_of(command, all);
    if (!amount) {
        return amount.error();
    }
    Result<MoneyCommand> checked =
        checked_row(command.creator, command.program, *amount, context, txn);
    if (!checked) {
        return checked.error();
    }
    MoneyCommand& row = *checked;
    const Owed owed = value_or(all, row.currency, Owed{zero_amount(row.currency)});
    if (row.amount.is_negative() || row.amount > -owed.sum) {
        return refused("creator " + command.creator.str() + " is owed " +
                       to_string(Money{row.currency, owed.sum}) + " in program " +
                       row.program.str() +
                       (owed.sum.is_negative()
                            ? ": expected an amount above 0 and up to " + (-owed.sum).to_string()
                            : ": only a balance below 0 can be written off"));
    }
    const Money money{row.currency, row.amount};
    row.sale_at = owed.first_negative;
    count_adjust(context, row, programs, txn);
    post_credit(row, row.amount, JournalReason::kWriteOff, context, programs, txn);
    return done(to_string(money) + " of creator " + command.creator.str() + " written off as " +
                row.command_id);
}

}  // namespace sluice
