// Forget rows: the ledger's rows that hold what a forget has found, and the task itself (books F2).
//
// Throws LedgerFailure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

void forget_touches(const ForgetJob& job, const ForgetNames& names, LedgerTxn& txn);
/// Dead letters of this node that came before the command.
void forget_letters(const ForgetJob& job, LedgerTxn& txn);
/// The order's ids become pseudonyms, in its row and in the indexes. A damaged row stays.
void forget_ids(const OrderKey& key, const ForgetNames& names, const ForgetWhom& whom,
                LedgerTxn& txn);

/// What one more node has found: the task grows, the ledger's rows and the dead letters of this
/// node follow. If it grew, every node has to do its part again.
/// @param rows  Orders and touches are looked through even if it does not grow: this node applied
///              inputs of before the command after it.
/// @return the task as it is now; nothing: there is none any more.
[[nodiscard]] std::optional<ForgetJob> forget_more(const std::string& command_id,
                                                   const ForgetFound& found, bool rows,
                                                   LedgerTxn& txn);
/// These nodes have done their part of the task as `found` says: the archive holds nothing of it.
/// Once all nodes of the ledger are done the task is wiped, R with it.
/// @return false: the task has grown meanwhile, the part is to be done again.
[[nodiscard]] bool note_forgotten(const std::string& command_id, const ForgetFound& found,
                                  const std::vector<std::string>& nodes, LedgerTxn& txn);

}  // namespace sluice
