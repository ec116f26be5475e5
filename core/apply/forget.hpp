// Forgetting people: the command (books F1, F2).
//
// It leaves a task. What the ledger's rows know a person by is replaced before the next input is
// applied; the archive of each node is its worker's.
#pragma once

#include <string_view>

#include "core/commands/commands.hpp"
#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/change.hpp"
#include "core/orders/context.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// What every forget that was done says; nothing of it may name the person.
inline constexpr std::string_view kForgotten = "forgotten";

/// Throws ForgetNotSearched.
[[nodiscard]] Result<Reply> forget(const Forget& command, const CommandContext& context,
                                   LedgerTxn& txn);

}  // namespace sluice
