// Payouts against their items, transfers and marks (rule D1, c).
#pragma once

#include "core/audit/journal_audit.hpp"

namespace sluice {

/// @return how many items all payouts have.
[[nodiscard]] std::uint64_t audit_payouts(LedgerReader& ledger, const JournalFacts& facts,
                                          Findings& findings);

}  // namespace sluice
