// Payable: the checks of payouts before a file for the bank is written (K2).
#pragma once

#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/result.hpp"

namespace sluice::cli {

/// Returns an error unless all of them are APPROVED.
[[nodiscard]] Status check_states(const std::vector<Payout>& payouts);

/// Refuses a payout without a payee, one whose creator has another payee by now, and one whose row
/// was altered after it was closed.
/// @param creator  As reports show the id.
[[nodiscard]] Status check_payee(LedgerReader& ledger, const Payout& payout,
                                 const std::string& creator);

}  // namespace sluice::cli
