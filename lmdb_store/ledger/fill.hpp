// Fill: the folder that a copied ledger goes to.
//
// The first transaction that writes to the folder sets the mark of an unfinished copy, and the last
// one removes it. begin() empties a copy that was interrupted, and starts again.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/copy/row_sink.hpp"
#include "core/values/result.hpp"

namespace sluice::store {

class EmbeddedFill : public LedgerFill {
public:
    /// Returns true if the folder holds a finished ledger with at least one row. Returns false if
    /// it is absent or empty, or holds a ledger without rows or an unfinished copy, and kConflict
    /// if it holds anything else.
    [[nodiscard]] static Result<bool> holds_ledger(const std::filesystem::path& folder);
    /// Makes the folder, or takes an empty one, a ledger without rows, or an unfinished copy, which
    /// is emptied. Returns kConflict if the folder holds anything else, kBusy if another copy
    /// writes to it.
    /// @param from  The text of the mark.
    [[nodiscard]] static Result<std::unique_ptr<EmbeddedFill>> begin(
        const std::filesystem::path& folder, const std::string& from, const FillOptions& options);
    /// Runs EmbeddedLedger::verify() on the rows stored so far. Requires: flush().
    [[nodiscard]] virtual std::vector<std::string> verify(std::size_t problems_max) = 0;
};

}  // namespace sluice::store
