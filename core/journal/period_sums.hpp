// Period sums: which periods can be closed, and the rows of a closed one, from the journal (rule
// S2).
#pragma once

#include <optional>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Computes every row of a period from the journal and the rows of the period before, by (creator,
/// program, currency). A close stores them, and the audit compares them.
/// @param from  The end of the period before; nullopt if there is none.
void period_sums(LedgerReader& ledger, AccountNumber account, const std::optional<Timestamp>& from,
                 Timestamp until, const Visitor<PeriodSum>& visit);

/// Refuses an end that is no first instant of a month, lies in the future or is closed already.
/// @param closed_until  The end of the period before; nullopt if there is none.
[[nodiscard]] Status check_period_end(Timestamp until, Timestamp received_at,
                                      const AccountId& account,
                                      const std::optional<Timestamp>& closed_until);

/// Returns the heads of nodes whose last applied receipt lies before `until`: what they apply later
/// would be dated late.
/// @param received_at  Receipt of the command on the reader's own node.
[[nodiscard]] std::vector<LedgerHead> late_nodes(LedgerReader& ledger, Timestamp until,
                                                 Timestamp received_at);

}  // namespace sluice
