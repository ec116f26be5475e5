// Closed periods against the entries that they sum up (rule D1, f).
#pragma once

#include "core/audit/findings.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

void audit_periods(LedgerReader& ledger, Findings& findings);

}  // namespace sluice
