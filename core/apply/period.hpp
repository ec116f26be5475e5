// Periods: closing the months of an account (books S2).
#pragma once

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

/// Closes what lies before `until`. There is no reopening.
[[nodiscard]] Result<Reply> close_period(const PeriodClose& command, const CommandContext& context,
                                         ProgramCache& programs, LedgerTxn& txn);

}  // namespace sluice
