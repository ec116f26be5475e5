// Code book: who owns a code of a program, and when. Rows of one code never overlap (rules A1, A2).
//
// Pure: changes are planned on copies; the caller writes them when every row of a file fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ledger/rows.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Whether the row ended when it began: the code was removed before its creator had it.
[[nodiscard]] inline bool owns_nothing(const CodeRow& row) noexcept {
    return row.valid_until && *row.valid_until <= row.valid_from;
}

/// A row of an import that names a code.
struct CodeClaim {
    CreatorId creator;
    std::string code;
    std::optional<Timestamp> valid_from, valid_until;
    Timestamp received_at;
    Timestamp
        effective_from;  ///< Receipt - late_days, or --effective-from: the default of valid_from.
};

/// The rows of one program and code, by valid_from.
class CodeBook {
public:
    CodeBook(AccountNumber account, ProgramId program, Digest256 digest, std::vector<CodeRow> rows);

    /// Gives the creator the code. A claim without dates changes no row that the creator has, also
    /// if it has ended; one with dates changes it. Returns whether a row changed; kConflict or
    /// kInvalid, and changes nothing, if the row does not fit.
    [[nodiscard]] Result<bool> claim(const CodeClaim& claim);
    /// Whether the claim leaves a code ended, because it has no dates: an import of the full list
    /// must not undo a removal (A2).
    [[nodiscard]] bool leaves_ended(const CodeClaim& claim) const;
    /// Ends the creator's rows at `at`, those that begin later at their beginning. They stay, so
    /// that the code remains one that the creator had (A2, K13). Returns whether there were any.
    bool end(const CreatorId& creator, Timestamp at);

    [[nodiscard]] const std::vector<CodeRow>& rows() const noexcept { return rows_; }
    /// Returns the constructor's rows that rows() no longer has, by key.
    [[nodiscard]] std::vector<CodeRow> gone() const;

private:
    [[nodiscard]] std::vector<CodeRow> rows_of(const CreatorId& creator) const;
    [[nodiscard]] Timestamp default_start(const CodeClaim& claim) const;
    [[nodiscard]] CodeRow changed_row(const CodeClaim& claim,
                                      const std::vector<CodeRow>& changed) const;
    [[nodiscard]] Result<bool> replace(const std::vector<CodeRow>& changed, CodeRow row,
                                       const CodeClaim& claim);

    AccountNumber account_;
    ProgramId program_;
    Digest256 digest_;
    std::vector<CodeRow> rows_, before_;
};

}  // namespace sluice
