// Commands of people, applied: which function does which.
#pragma once

#include <functional>
#include <string>

#include "core/apply/context.hpp"
#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Dead letters are inputs of any kind: applying them again is not this file's.
using Replay = std::function<Result<std::string>(const DeadReplay&)>;

/// @return one line for the person who ran it, or an Error and then nothing was changed.
[[nodiscard]] Result<std::string> apply_command(const Command& command,
                                                const CommandContext& context, const Replay& replay,
                                                LedgerTxn& txn);

}  // namespace sluice
