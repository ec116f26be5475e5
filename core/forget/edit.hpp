// Forget edit: replaces the personal data of an input in an archive or a dead letter (rule F2).
//
// Archive and dead letters use the same code, so that a rebuild finds the same bytes. Editing an
// edited input again changes nothing.
#pragma once

#include <map>
#include <optional>
#include <string>

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
    [[nodiscard]] std::optional<std::string> edit_command(const RecordMeta& meta,
                                                          std::string_view body,
                                                          const StoredInput& input);
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

}  // namespace sluice
