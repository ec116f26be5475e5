// Closed periods against the entries that they sum up (rule D1, f).
#pragma once

#include "core/audit/findings.hpp"

namespace sluice {

void audit_periods(LedgerReader& ledger, Findings& findings);

}  // namespace sluice
