// Payout: closing what is payable in a program (rule P1). Writes no journal entries.
#pragma once

#include <string>

#include "core/apply/context.hpp"
#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Takes, per creator and currency, the commissions whose hold ended at or before `until` and all
/// open adjustments; a sum of 0 or less closes nothing and stays open.
/// @return one line for the person who ran it. kNotFound: no such program. kInvalid: `until` lies
///         after the command's time of receipt. Then nothing was changed.
[[nodiscard]] Result<std::string> close_payout(const PayoutClose& command,
                                               const CommandContext& context, LedgerTxn& txn);

}  // namespace sluice
