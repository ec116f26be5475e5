// Period sums: the rows of a closed period, from the journal (rule S2).
#pragma once

#include <optional>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Computes every row of a period from the journal and the rows of the period before, by (creator,
/// program, currency). A close stores them, and the audit compares them.
/// @param from  The end of the period before; nullopt if there is none.
void period_sums(LedgerReader& ledger, AccountNumber account, const std::optional<Timestamp>& from,
                 Timestamp until, const Visitor<PeriodSum>& visit);

}  // namespace sluice
