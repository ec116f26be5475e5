// What people bring in: programs, creators, touches.
#pragma once

#include <string>

#include "core/apply/context.hpp"
#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"

namespace sluice {

// Each returns one line for the person who ran it, or an Error and then has changed nothing.

[[nodiscard]] Result<std::string> apply_programs(const ProgramApply& command,
                                                 const CommandContext& context, LedgerTxn& txn);
[[nodiscard]] Result<std::string> import_creators(const CreatorImport& command,
                                                  const CommandContext& context, LedgerTxn& txn);
[[nodiscard]] Result<std::string> remove_creator(const CreatorRemove& command,
                                                 const CommandContext& context, LedgerTxn& txn);
[[nodiscard]] Result<std::string> import_touches(const TouchImport& command,
                                                 const CommandContext& context, LedgerTxn& txn);

}  // namespace sluice
