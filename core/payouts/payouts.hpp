// Payout commands: closing what has cleared into payouts, and moving payouts from state to state
// (rules P1 to P4).
#pragma once

#include "core/commands/commands.hpp"
#include "core/orders/reply.hpp"

namespace sluice {

/// Makes the payouts of one payout run, over all programs of the account or those that the command
/// names. Changes nothing if it is refused.
Verb<PayoutClose> close_payouts;

/// Moves all payouts that the command names, or none. The reply names who moved those that were in
/// the state before.
Verb<PayoutMove> move_payouts;

/// Approves a payout, or all payouts of a payout run that need it.
[[nodiscard]] Result<Reply> approve_payouts(const Approve& command, const CommandContext& context,
                                            ProgramCache& programs, LedgerTxn& txn);

}  // namespace sluice
