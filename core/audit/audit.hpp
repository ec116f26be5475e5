// Audit: does a ledger say the same thing everywhere (rule D1)? It reads one snapshot, in memory
// bounded by the number of balances and payouts, and never stops at the first fault.
//
// What each letter holds:
//   a  chains are whole, entry numbers dense
//   b  every balance is the sum of its transfers
//   c  every payout is its items, its PAYOUT transfers, its mark CLOSED; its state is that of its
//      marks and transfers; its book is empty once it is over
//   d  every position: due is its transfers, its lines earn what the rules give, taken is its
//      standing items; no entry and no item is without its order
//   e  the index of open amounts is due - taken
//   f  sums of closed periods are those of their entries
//   g  tier volumes are those of the orders
#pragma once

#include <cstddef>
#include <vector>

#include "core/audit/findings.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// @param findings_max  No more are looked for once this many were found.
/// Damaged rows are findings; throws LedgerFailure for anything else that cannot be read.
[[nodiscard]] std::vector<AuditFinding> audit_ledger(LedgerReader& ledger,
                                                     std::size_t findings_max);

}  // namespace sluice
