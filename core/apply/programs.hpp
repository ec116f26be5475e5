// Program files: programs and policies (books A2, H3, section 12).
#pragma once

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

/// All or nothing. A policy that has approvals changes only when another actor approves: then the
/// reply is kWaiting.
[[nodiscard]] Result<Reply> apply_programs(const ProgramApply& command,
                                           const CommandContext& context, ProgramCache& programs,
                                           LedgerTxn& txn);

}  // namespace sluice
