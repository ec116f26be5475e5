// Rows of payouts: the payouts of an account or payout run, the items of one payout, and what a
// payout run left out.
#pragma once

#include <string>
#include <vector>

#include "core/explain/node_names.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/reports/row_output.hpp"

namespace sluice::reports {

/// @param payout  Without an id it is planned only.
[[nodiscard]] Row payout_row(LedgerReader& ledger, PayoutNodes& nodes, const AccountId& account_id,
                             const Payout& payout, const std::vector<PayoutPart>& parts);

[[nodiscard]] std::vector<Column> payout_item_columns();
[[nodiscard]] Row payout_item_row(const PayoutItem& item);
void write_payout_items(LedgerReader& ledger, const Payout& payout, RowOutput& out);

/// Visits the payouts of a payout run, by number.
void scan_payout_run(LedgerReader& ledger, const std::string& run, const Visitor<Payout>& visit);

[[nodiscard]] std::vector<Skipped> skipped_of(LedgerReader& ledger, const std::string& run);
[[nodiscard]] std::vector<Column> skipped_columns();
[[nodiscard]] Row skipped_row(LedgerReader& ledger, AccountNumber account, const Skipped& row);

}  // namespace sluice::reports
