// Statement: what one creator earned and was paid in one month, with the balance before and after.
#pragma once

#include <vector>

#include "core/ledger/ledger.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

[[nodiscard]] std::vector<Column> statement_columns();

/// For each program and currency: OPENING (earned and not paid before), the month's journal entries
/// and payouts (PAYOUT, negative), CLOSING, which is the sum of the rows above it.
/// Months are UTC, by recorded_at and closed_at. Throws LedgerFailure.
void write_statement(LedgerReader& ledger, const CreatorId& creator, const Month& month,
                     Listing& out);

}  // namespace sluice::cli
