// Orders and credits against journal, items, open index and tier volumes (rule D1, d, e, g).
#pragma once

#include "core/audit/journal_audit.hpp"

namespace sluice {

/// @param items_count  Of all payouts: each belongs to an order or a credit.
void audit_orders(LedgerReader& ledger, const JournalFacts& facts, std::uint64_t items_count,
                  Findings& findings);

}  // namespace sluice
