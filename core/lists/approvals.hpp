// Rows of what waits for another actor's approval, and what an approver is shown before the
// decision (controls K3).
#pragma once

#include <map>

#include "core/apply/dry_run.hpp"
#include "core/ledger/ledger.hpp"
#include "core/lists/list.hpp"
#include "core/lists/row_output.hpp"

namespace sluice::lists {

/// A command or payout that waits.
struct PendingOf {
    std::string_view id;
    std::string command;
    const AccountId& account_id;
    std::optional<Money> money;
    std::string_view actor, reason;
    Timestamp received_at;
};
[[nodiscard]] const List<PendingOf>& pending_list();
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

/// The changes of a dry run or a program preview, by program, creator and currency.
[[nodiscard]] const List<DryRunRow>& difference_list();

}  // namespace sluice::lists
