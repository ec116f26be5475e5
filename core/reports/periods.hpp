// Rows of accounting periods.
#pragma once

#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/reports/names.hpp"
#include "core/reports/row_output.hpp"

namespace sluice::reports {

[[nodiscard]] std::vector<Column> period_columns();
/// Lists the closed periods of an account, the oldest first.
void write_periods(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                   RowOutput& out);

/// The sums of one closed period, by creator, program and currency.
[[nodiscard]] std::vector<Column> period_sum_columns();
[[nodiscard]] Row period_sum_row(const CreatorNames& names, const AccountId& account_id,
                                 const PeriodSum& row);

}  // namespace sluice::reports
