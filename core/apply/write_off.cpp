#include <algorithm>
#include <utility>

#include "core/apply/command.hpp"
#include "core/apply/manual_postings.hpp"
#include "core/approvals/approval.hpp"
#include "core/ledger/payout_rows.hpp"

namespace sluice {
namespace {

/// The amount that a creator is owed, and the last sale of the amounts below 0.
struct Owed {
    Decimal sum;
    Timestamp last_negative;
};

Owed owed_to(const CreatorId& creator, const ProgramId& program, Currency currency,
             const CommandContext& context, LedgerTxn& txn) {
    Owed owed{zero_amount(currency), {}};
    OpenAmount first;
    first.account = context.account;
    first.program = program;
    txn.scan(first, {2, 2}, [&](const OpenAmount& row) {
        if (row.creator == creator && row.currency == currency) {
            owed.sum += row.amount;
            owed.last_negative = row.amount.is_negative()
                                     ? std::max(owed.last_negative, row.sold_at)
                                     : owed.last_negative;
        }
        return true;
    });
    return owed;
}

}  // namespace

/// The write-off clears no earlier than the amounts that it makes up for, so that it is never paid
/// before they count against it.
Result<Reply> run_verb(const WriteOff& command, const CommandContext& context,
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
    const Money money{command.amount.currency, *amount};
    const CreatorId creator = first_id(txn, context.account, command.creator);
    const Owed owed = owed_to(creator, command.program, money.currency, context, txn);
    if (money.amount.is_negative() || money.amount > -owed.sum) {
        return refused("creator " + command.creator.str() + " is owed " +
                       to_string(Money{money.currency, owed.sum}) + " in program " +
                       command.program.str() +
                       (owed.sum.is_negative()
                            ? ": expected an amount above 0 and up to " + (-owed.sum).to_string()
                            : ": only a balance below 0 can be written off"));
    }
    if (must_wait(context, creator, money, programs, txn)) {
        return wait_for_approval(context, {money, command.program, creator}, txn);
    }
    MoneyCommand row = money_command(context);
    row.program = command.program;
    row.creator = creator;
    row.currency = money.currency;
    row.amount = money.amount;
    row.sale_at = owed.last_negative;
    row.accrued = row.allocated = zero_amount(money.currency);
    count_adjust(context, creator, money, programs, txn);
    post_credit(row, money.amount, JournalReason::kWriteOff, context, programs, txn);
    return done(to_string(money) + " of creator " + command.creator.str() + " written off as " +
                row.command_id);
}

}  // namespace sluice
