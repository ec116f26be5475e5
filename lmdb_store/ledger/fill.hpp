// Fill: the folder that a copied ledger goes to.
//
// The mark that the copy is unfinished is in the first transaction that writes to the folder, and
// goes with the last one. What was killed in between is emptied and begun again by begin().
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/copy/row_sink.hpp"
#include "core/values/result.hpp"

namespace sluice::store {

struct FillOptions {
    std::uint64_t rows_max = 10'000;  ///< Of one transaction, which is as large as 16 MB at most.
    /// Told after each transaction how many rows are there by now. May be empty.
    std::function<void(std::uint64_t)> committed;
};

class EmbeddedFill : public LedgerFill {
public:
    /// Is there a finished ledger with at least one row? kConflict: something else is there.
    [[nodiscard]] static Result<bool> holds_ledger(const std::filesystem::path& folder);
    /// Makes the folder, or takes an empty one, a ledger without rows, or an unfinished copy, which
    /// is emptied. kConflict: it holds something else; kBusy: another copy goes there.
    /// @param from  What the mark says.
    [[nodiscard]] static Result<std::unique_ptr<EmbeddedFill>> begin(
        const std::filesystem::path& folder, const std::string& from, const FillOptions& options);
    /// EmbeddedLedger::verify() of what is there by now. Requires: flush().
    [[nodiscard]] virtual std::vector<std::string> verify(std::size_t problems_max) = 0;
};

}  // namespace sluice::store
