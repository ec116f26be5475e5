// Commands of people, applied: programs, creators, touches, adjustments, forgetting.
#pragma once

#include <string>

#include "core/apply/payout.hpp"
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
/// A manual entry is part of the order's due: paid with the order's commission, or at once if that
/// was paid before.
[[nodiscard]] Result<std::string> adjust_order(const Adjust& command, const CommandContext& context,
                                               LedgerTxn& txn);
/// The ledger's part: bodies of dead letters. It keeps no other body.
[[nodiscard]] Result<std::string> forget_customer(const Forget& command,
                                                  const CommandContext& context, LedgerTxn& txn);

}  // namespace sluice
