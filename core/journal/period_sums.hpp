// Period sums: the rows of a closed period, from the journal (books S2).
#pragma once

#include <optional>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Every row of a period, computed from the journal and the rows of the period before: what a close
/// stores, and what doctor compares. By (creator, program, currency).
/// @param from  The end of the period before; nothing: there is none.
void period_sums(LedgerReader& ledger, AccountNumber account, const std::optional<Timestamp>& from,
                 Timestamp until, const Visitor<PeriodSum>& visit);

}  // namespace sluice
