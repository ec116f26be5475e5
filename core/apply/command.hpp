// Commands of people, applied: which function does which, and their keys (books K1).
#pragma once

#include <functional>
#include <string>

#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/change.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Dead letters are inputs of any kind: applying them again is not this file's.
using Replay = std::function<Result<std::string>(const DeadReplay&)>;

/// Runs the command, or answers for its key, and stores its result.
[[nodiscard]] CommandRow apply_command(const Request& request, const CommandContext& context,
                                       const Replay& replay, ProgramCache& programs,
                                       LedgerTxn& txn);
/// The result of a command that cannot even be tried; the caller stores it.
[[nodiscard]] CommandRow refused_row(const CommandContext& context, std::string why);

}  // namespace sluice
