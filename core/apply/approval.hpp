// Approvals: another actor agrees, or the one who asked withdraws (books H3, P3).
#pragma once

#include <functional>
#include <set>

#include "core/commands/commands.hpp"
#include "core/orders/change.hpp"

namespace sluice {

/// Runs a command again that waited, with `approved` set.
using RunApproved = std::function<Result<Reply>(const Command&, const CommandContext&)>;

/// Of a command that waits, a payout or a run.
[[nodiscard]] Result<Reply> approve(const Approve& command, const CommandContext& context,
                                    const RunApproved& run, ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> withdraw(const Withdraw& command, const CommandContext& context,
                                     LedgerTxn& txn);
/// `row` answers a key whose first command waited for an approval in one of the accounts: it waits
/// still (kWaiting), was approved (kRepeated) or withdrawn (kRefused). Who repeats a command learns
/// by the exit status whether anything was posted.
void tell_of_approval(const std::set<AccountNumber>& accounts, CommandRow& row,
                      LedgerReader& ledger);

}  // namespace sluice
