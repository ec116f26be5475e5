// Forgetting a customer.
#pragma once

#include <string>

#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// The ledger's part: bodies of dead letters. It keeps no other body.
[[nodiscard]] Result<std::string> forget_customer(const Forget& command,
                                                  const CommandContext& context, LedgerTxn& txn);

}  // namespace sluice
