// Audit: checks that the tables of a ledger agree with each other (rule D1). It reads one snapshot,
// in memory bounded by the number of balances, sums and payouts, and does not stop at the first
// fault.
//
// Each letter checks:
//   a  Chains are unbroken, and entry numbers dense.
//   b  Every balance, and every sum of a day or month, is the sum of its postings.
//   c  Every payout equals its items, its PAYOUT postings and its memo entry CLOSED. Its state
//      follows from its memo entries and postings. Its ledger account is 0 once it has ended.
//   d  The accrued amounts of every position are the sums of its postings, and equal the earnings
//      of its lines by the rules. Its allocated amounts are the sums of its items in active
//      payouts. Every entry and item has an order.
//   e  The index of open amounts is accrued - allocated.
//   f  Sums of closed periods are the sums of their entries.
//   g  Tier volumes are the sums of the orders, and the orders that they rate are listed.
//   h  Every command that waits is the one that its memo entry PENDING proves.
//   i  What counts against limits is the sum of payouts and adjustments that needed no approval.
#pragma once

#include <cstddef>
#include <vector>

#include "core/audit/findings.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Returns the findings. Damaged rows are findings; throws LedgerFailure for anything else that
/// cannot be read.
/// @param findings_max  The audit ends after so many.
[[nodiscard]] std::vector<AuditFinding> audit_ledger(LedgerReader& ledger,
                                                     std::size_t findings_max);

}  // namespace sluice
