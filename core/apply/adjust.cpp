#include "core/apply/command.hpp"
#include "core/apply/manual_postings.hpp"
#include "core/approvals/limits.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/change.hpp"

namespace sluice {
namespace {

/// Returns what the journal says that the command posted.
Decimal posted_by(const MoneyCommand& adjust, const OrderState& state, LedgerTxn& txn) {
    Decimal sum;
    for (const JournalGroup& group : txn.order_journal(state)) {
        if (group.command_id == adjust.command_id) {
            for (const JournalEntry& entry : group.entries) {
                sum += change_in(entry, LedgerAccount::kOwed);
            }
        }
    }
    return sum;
}

}  // namespace

Result<Decimal> checked_amount(const Decimal& amount, Currency currency) {
    if (amount.is_zero()) {
        return invalid("an amount of 0 changes nothing");
    }
    if (const std::optional<Decimal> exact = in_minor_units(amount, currency)) {
        return *exact;
    }
    return invalid("--amount " + amount.to_string() + " has more digits than " +
                   std::string(currency.code()) + ", which has " +
                   std::to_string(currency.minor_units()));
}

void count_adjust(const CommandContext& context, const MoneyCommand& posting,
                  ProgramCache& programs, LedgerTxn& txn) {
    const AccountRow& settings = programs.settings(txn, context.account).row;
    count_use({.account = context.account,
               .kind = LimitKind::kAdjust,
               .at = accounting_date(context.source.received_at, settings.closed_until),
               .id = context.source.command_id,
               .creator = posting.creator,
               .currency = posting.currency,
               .amount = posting.amount},
              txn);
}

MoneyCommand money_command(const CommandContext& context, const ProgramId& program,
                           const CreatorId& creator, const Money& money) {
    return MoneyCommand{.command_id = context.source.command_id,
                        .account = context.account,
                        .topic = context.source.topic,
                        .program = program,
                        .creator = creator,
                        .currency = money.currency,
                        .amount = money.amount};
}

Result<Reply> adjust(const Adjust& command, const CommandContext& context, ProgramCache& programs,
                     LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    OrderState& state = change.state();
    if (!state.live) {
        return refused("order " + command.order.str() +
                       " is not attributed to a creator; attribute it first");
    }
    const Result<Decimal> amount = checked_amount(command.amount, state.currency);
    if (!amount) {
        return amount.error();
    }
    Position& position = *state.position();
    const Attribution& attribution = position.attribution;
    const Money money{state.currency, *amount};
    MoneyCommand row = money_command(context, attribution.program, attribution.creator, money);
    row.shop = context.shop;
    row.shop_id = context.shop_id;
    row.order_id = command.order;
    txn.put(row);
    count_adjust(context, row, programs, txn);
    change.post(position, {{LineItemId(), state.currency, *amount, JournalReason::kManual, 0}});
    change.finish();
    return done("order " + command.order.str() + " adjusted by " + to_string(money) + " as " +
                row.command_id);
}

Status reverse_adjust(const MoneyCommand& adjust, const Decimal& amount,
                      const CommandContext& context, ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (!change.load({adjust.account, adjust.shop, adjust.order_id})) {
        return corrupt("ledger: " + adjust.command_id + " adjusted order " + adjust.order_id.str() +
                       ", which is not stored");
    }
    if (posted_by(adjust, change.state(), txn) != adjust.amount) {
        throw DamagedRow(row_name(adjust), "its amount is not that of its posting",
                         change.state().key);
    }
    const auto position = find_position(change.state(), adjust.program, adjust.creator);
    if (!position) {
        return corrupt("ledger: order " + adjust.order_id.str() + " has no position of creator " +
                       adjust.creator.str());
    }
    change.post(change.state().positions[*position],
                {{LineItemId(), adjust.currency, amount, JournalReason::kReversal, 0}});
    change.finish();
    return {};
}

}  // namespace sluice
