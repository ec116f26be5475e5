// Rows of what waits for another actor's approval, and what an approver is shown before the
// decision (controls K3).
#pragma once

#include <map>
#include <vector>

#include "core/apply/dry_run.hpp"
#include "core/ledger/ledger.hpp"
#include "core/reports/row_output.hpp"

namespace sluice::reports {

[[nodiscard]] std::vector<Column> pending_columns();
/// Lists commands that wait, then payouts that are closed and not approved.
void write_pending(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                   RowOutput& out);

/// Count and amounts of the work that waits for an approval.
struct PendingTotals {
    std::uint64_t count = 0;
    std::map<Currency, Decimal> amounts;
};
/// Returns the totals of the rows of write_pending(). An amount of several currencies counts in
/// each, although its row has no place for it.
[[nodiscard]] PendingTotals pending_totals(LedgerReader& ledger, AccountNumber account);

/// Returns a pending command, a payout or a payout run with its fields, the settings that it would
/// change, and its effect: the ten largest changes.
[[nodiscard]] Json approval_object(LedgerReader& ledger, AccountNumber account,
                                   const AccountId& account_id, const ShownApproval& shown);

/// Returns columns and rows of a dry run or a program preview, by program, creator and currency.
[[nodiscard]] std::vector<Column> difference_columns();
[[nodiscard]] Row difference_row(const DryRunRow& row);

}  // namespace sluice::reports
