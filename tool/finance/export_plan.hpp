// Export plan: which payouts an export sends, in one file for each currency or in several if a file
// has a limit, and which files an earlier command with the same key wrote (rules K1, P3).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/result.hpp"

namespace sluice::cli {

/// The payouts that a person asks to export.
struct ExportRequest {
    AccountNumber account;
    AccountId account_id;
    std::vector<std::string> ids;      ///< Payouts, and payout runs.
    std::optional<Currency> currency;  ///< Other payouts of the payout runs are left out.
    std::size_t rows_max = 0;          ///< Payments of one file; 0 means no limit.
    std::string key;                   ///< May be empty.
};

/// The payouts of one file.
struct FilePayouts {
    std::string suffix;  ///< -EUR, of one currency of several; -2, of several files of a currency.
    std::vector<Payout> payouts;
    bool are_sent = false;  ///< By an earlier command with this key.
};

struct ExportPlan {
    std::vector<FilePayouts> files;
    std::string notes;  ///< On payouts that are not exported.
};

/// Returns the key of one of several files.
[[nodiscard]] std::string key_of(const std::string& key, const std::string& suffix);

/// Returns the payouts that an earlier export with this key sent, or none. Returns kConflict if the
/// key was used for anything else.
[[nodiscard]] Result<std::vector<Payout>> sent_with_key(LedgerReader& ledger,
                                                        const ExportRequest& request);

/// Decides which payouts go into which file. A repeated key means the files of the first time.
/// Returns kConflict if no payout is left to send.
[[nodiscard]] Result<ExportPlan> plan_export(LedgerReader& ledger, const ExportRequest& request);

}  // namespace sluice::cli
