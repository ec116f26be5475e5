// Forget edit: what stands in an archive, or in a dead letter, in place of an input that holds what
// is forgotten (books F2).
//
// Archive and dead letters both go through here, so that a rebuild finds the same bytes. Editing
// again what was edited changes nothing.
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
    std::string record;       ///< With the body inside, unless `keeps_bulk`.
    Digest256 body_sha256{};  ///< Of the body as it was sent.
    bool keeps_bulk = false;  ///< Its body is missing: the record still names it.
};

class ForgetEdit {
public:
    /// Both outlive it. `ledger` knows whose the programs are that imports name.
    ForgetEdit(const ForgetJob& job, LedgerReader& ledger)
        : job_(job), names_(job), ledger_(ledger) {}

    /// Nothing: it stays as it is. Throws LedgerFailure.
    [[nodiscard]] std::optional<EditedInput> edit(const StoredInput& input);

private:
    [[nodiscard]] std::optional<std::string> edit_order(const RecordMeta& meta,
                                                        std::string_view body,
                                                        Pseudonyms pseudonyms) const;
    [[nodiscard]] std::optional<std::string> edit_command(const RecordMeta& meta,
                                                          std::string_view body,
                                                          const StoredInput& input);
    bool edit_touches(TouchImport& command);
    bool edit_creators(CreatorImport& command);
    bool edit_creator(CreatorSet& command, const RecordMeta& meta) const;
    /// A row that names no known program may be of this account.
    [[nodiscard]] bool is_of_account(const ProgramId& program);

    const ForgetJob& job_;
    ForgetNames names_;
    LedgerReader& ledger_;
    std::map<ProgramId, std::optional<AccountNumber>> accounts_;
};

/// What an archive keeps of a FORGET once it is done: neither R nor whom.
/// @param outcome  Its row.
/// Requires: a FORGET's record. Nothing: its body is unreadable.
[[nodiscard]] std::optional<EditedInput> forgotten_command(const StoredInput& input,
                                                           const CommandRow& outcome);

}  // namespace sluice
