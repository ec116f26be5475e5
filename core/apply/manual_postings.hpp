// Manual postings: the parts that adjust, credit, opening import, write-off and reverse share.
#pragma once

#include <vector>

#include "core/ledger/command_rows.hpp"
#include "core/values/money.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Returns the amount with the currency's digits, or kInvalid if it is 0 or has more digits.
[[nodiscard]] Result<Decimal> checked_amount(const Decimal& amount, Currency currency);
/// Counts what was posted, or reversed, without an approval against approve_adjust_above.
void count_adjust(const CommandContext& context, const MoneyCommand& posting,
                  ProgramCache& programs, LedgerTxn& txn);
/// Makes a row of the command, without its order.
[[nodiscard]] MoneyCommand money_command(const CommandContext& context, const ProgramId& program,
                                         const CreatorId& creator, const Money& money);

/// Returns the context of one posting of a command that makes several: its command id is
/// posting_id().
[[nodiscard]] CommandContext context_of_row(const CommandContext& context, std::uint64_t number);
/// Ends the opening balances among postings that were reversed. With the last one of a program its
/// orders from before the date are tried again.
void end_openings(const std::vector<MoneyCommand>& reversed, const CommandContext& context,
                  LedgerTxn& txn);

/// Posts an amount to the ledger account `owed` of the credit's creator, without a position. Writes
/// the credit and its index.
void post_credit(MoneyCommand& credit, const Decimal& amount, JournalReason reason,
                 const CommandContext& context, ProgramCache& programs, LedgerTxn& txn);
/// Reverses what post_credit() wrote, and judges the order that the credit names.
void reverse_credit(MoneyCommand& credit, const Decimal& amount, const CommandContext& context,
                    ProgramCache& programs, LedgerTxn& txn);
/// Reverses an adjustment of a position.
[[nodiscard]] Status reverse_adjust(const MoneyCommand& adjust, const Decimal& amount,
                                    const CommandContext& context, ProgramCache& programs,
                                    LedgerTxn& txn);

}  // namespace sluice
