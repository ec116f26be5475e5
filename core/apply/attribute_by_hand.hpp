// Who has an order, by hand: attribute and detach (books A3).
#pragma once

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

[[nodiscard]] Result<Reply> attribute_order(const Attribute& command, const CommandContext& context,
                                            ProgramCache& programs, LedgerTxn& txn);
/// Of an order at once. Of all that a command gave out: left as work.
[[nodiscard]] Result<Reply> detach(const Detach& command, const CommandContext& context,
                                   ProgramCache& programs, LedgerTxn& txn);
/// One order of `detach --cause`; nothing is done if `cause` does not have it given out any more.
/// @return true if something changed.
bool detach_given(const OrderKey& order, const std::string& cause, bool retry, const Source& source,
                  ProgramCache& programs, LedgerTxn& txn);

}  // namespace sluice
