// Payout moves: from state to state (books P3, P4).
#pragma once

#include <string_view>

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

/// All or nothing. A payout that is in the state already says who brought it there.
[[nodiscard]] Result<Reply> move_payouts(const PayoutMove& command, const CommandContext& context,
                                         ProgramCache& programs, LedgerTxn& txn);
/// `approve` of a payout or a run.
[[nodiscard]] Result<Reply> approve_payouts(const Approve& command, const CommandContext& context,
                                            ProgramCache& programs, LedgerTxn& txn);

}  // namespace sluice
