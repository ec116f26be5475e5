// What stops an order or a creator, and what lets it go on (books H1, H2, J1, O5).
#pragma once

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

[[nodiscard]] Result<Reply> hold(const Hold& command, const CommandContext& context,
                                 ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> release(const Release& command, const CommandContext& context,
                                    ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> reject_order(const Reject& command, const CommandContext& context,
                                         ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> acknowledge_anomaly(const AnomalyAck& command,
                                                const CommandContext& context,
                                                ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> reset_order(const OrderReset& command, const CommandContext& context,
                                        ProgramCache& programs, LedgerTxn& txn);

}  // namespace sluice
