// Adjustments by hand.
#pragma once

#include <string>

#include "core/apply/context.hpp"
#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// A manual entry is part of the order's due: paid with the order's commission, or at once if that
/// was paid before.
[[nodiscard]] Result<std::string> adjust_order(const Adjust& command, const CommandContext& context,
                                               LedgerTxn& txn);

}  // namespace sluice
