// Forget rows: replaces the ids that a forget found in the ledger's rows, and keeps its task (rule
// F2).
//
// Throws LedgerFailure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

void forget_clicks(const ForgetJob& job, const ForgetNames& names, LedgerTxn& txn);
/// Edits the dead letters of this node that came before the command.
void forget_letters(const ForgetJob& job, LedgerTxn& txn);
/// Replaces the order's ids by pseudonyms, in its row and in the indexes. A damaged row stays.
void forget_ids(const OrderKey& key, const ForgetNames& names, const ForgetWhom& whom,
                LedgerTxn& txn);

/// Adds what one more node has found to the task, and edits the ledger's rows and the dead letters
/// of this node. If the task grew, every node repeats its part. Returns the task, or nullopt if it
/// is done.
/// @param rows  Search orders and clicks even if the task does not grow, because this node applied
///              earlier inputs after the command.
[[nodiscard]] std::optional<ForgetJob> forget_more(const std::string& command_id,
                                                   const ForgetFound& found, bool rows,
                                                   LedgerTxn& txn);
/// Records that the archives of these nodes are edited as `found` says. Once all nodes of the
/// ledger are done, erases the task with R. Returns false if the task has grown meanwhile, and the
/// part must be repeated.
[[nodiscard]] bool note_forgotten(const std::string& command_id, const ForgetFound& found,
                                  const std::vector<std::string>& nodes, LedgerTxn& txn);

}  // namespace sluice
