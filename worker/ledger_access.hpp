// Ledger access of reports: one snapshot of the ledger that `--ledger` names.
#pragma once

#include <functional>
#include <string>

#include "core/ledger.hpp"
#include "core/result.hpp"
#include "worker/cli.hpp"

namespace sluice::cli {

/// Adds `--ledger URL`. Empty: the store's own ledger.
void add_ledger(CLI::App& app, std::string& target);

/// Runs `read` on a snapshot. A LedgerFailure becomes the Status.
[[nodiscard]] Status with_snapshot(const Frame& frame, const std::string& ledger_url,
                                   const std::function<Status(LedgerReader&)>& read);

}  // namespace sluice::cli
