// Payout close: what has matured becomes payouts (books P1, P2).
#pragma once

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

/// Of all programs of the account, or those named. Nothing is changed if it is refused.
[[nodiscard]] Result<Reply> close_payouts(const PayoutClose& command, const CommandContext& context,
                                          ProgramCache& programs, LedgerTxn& txn);

}  // namespace sluice
