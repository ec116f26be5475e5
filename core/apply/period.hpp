// Periods: closing the months of an account (books S2).
#pragma once

#include "core/apply/change.hpp"
#include "core/commands/commands.hpp"

namespace sluice {

/// Closes what lies before `until`. There is no reopening.
[[nodiscard]] Result<Reply> close_period(const PeriodClose& command, const CommandContext& context,
                                         ProgramCache& programs, LedgerTxn& txn);

/// Every row of a period, computed from the journal and the rows of the period before: what a close
/// stores, and what doctor compares. By (creator, program, currency).
/// @param from  The end of the period before; nothing: there is none.
void period_sums(LedgerReader& ledger, AccountNumber account, const std::optional<Timestamp>& from,
                 Timestamp until, const Visitor<PeriodSum>& visit);

}  // namespace sluice
