// Forget edit: replaces the personal data of an input in an archive or a dead letter, and the ids
// that a forget found in the ledger's rows (rule F2). What reads the ledger throws LedgerFailure.
//
// Archive and dead letters use the same code, so that a rebuild finds the same bytes. Editing an
// edited input again changes nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/forget/search.hpp"
#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/record.hpp"

namespace sluice {

struct EditedInput {
    std::string record;       ///< Contains the body, unless `keeps_bulk`.
    Digest256 body_sha256{};  ///< Digest of the body as it was sent.
    bool keeps_bulk = false;  ///< The body is missing, and the record still names it.
};

class ForgetEdit {
public:
    /// Both must outlive this object. `ledger` has the accounts of the programs that imports name.
    ForgetEdit(const ForgetJob& job, LedgerReader& ledger)
        : job_(job), names_(job), ledger_(ledger) {}

    /// Returns nullopt if the input stays as it is. Throws LedgerFailure.
    [[nodiscard]] std::optional<EditedInput> edit(const StoredInput& input);

private:
    [[nodiscard]] std::optional<std::string> edit_order(const RecordMeta& meta,
                                                        std::string_view body,
                                                        Pseudonyms pseudonyms) const;
    [[nodiscard]] std::optional<std::string> edit_request(const RecordMeta& meta,
                                                          std::string_view body) const;
    [[nodiscard]] std::optional<std::string> edit_command(const RecordMeta& meta,
                                                          std::string_view body,
                                                          const StoredInput& input);
    std::optional<std::string> edit_click_record(const RecordMeta& meta,
                                                 std::string_view body) const;
    bool edit_clicks(ClickImport& command);
    bool edit_creators(CreatorImport& command);
    bool edit_creator(CreatorSet& command, const RecordMeta& meta) const;
    /// True for an unknown program, because its row may be of this account.
    [[nodiscard]] bool is_of_account(const ProgramId& program);

    const ForgetJob& job_;
    ForgetNames names_;
    LedgerReader& ledger_;
    std::map<ProgramId, std::optional<AccountNumber>> accounts_;
};

/// Replaces a FORGET that is done by its outcome: neither R nor the person is kept. Returns nullopt
/// if the body is unreadable. Requires: the record of a FORGET.
/// @param outcome  The command's row.
[[nodiscard]] std::optional<EditedInput> forgotten_command(const StoredInput& input,
                                                           const CommandRow& outcome);

void forget_clicks(const ForgetJob& job, const ForgetNames& names, LedgerTxn& txn);
/// Edits the dead letters of this node that came before the command.
void forget_letters(const ForgetJob& job, LedgerTxn& txn);
/// Replaces the order's ids by pseudonyms, in its row and in the indexes. A damaged row stays.
/// The numbers of the person's own orders are erased.
void forget_ids(const OrderKey& key, const ForgetNames& names, const ForgetJob& job,
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
