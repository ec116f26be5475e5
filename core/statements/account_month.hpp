// Account month: the books of an account over an interval, by program and currency (books S2, S3).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/ledger/ledger.hpp"
#include "core/statements/statements.hpp"

namespace sluice {

/// One ledger account over an interval: opening + debit - credit = closing. A balance that creators
/// are owed is a credit, so it is negative.
struct BookMonth {
    Decimal opening, debit, credit, closing;
};

/// The books of one program in one currency. The closing balances of the four books add up to 0.
struct ProgramMonth {
    BookMonth expense, owed, in_payout, paid;
    StatementSums sums;          ///< Sums of `owed` over all creators, as statements show them.
    std::uint64_t postings = 0;  ///< In the interval.
    /// Postings of the interval that were received before it (S1).
    std::uint64_t late_postings = 0;
};
using AccountMonth = std::map<std::pair<ProgramId, Currency>, ProgramMonth>;

/// Reads the sums of the days in [from, until), and for the opening balances the last closed period
/// before `from` and the days since. Requires: both are starts of UTC days.
[[nodiscard]] AccountMonth read_account_month(LedgerReader& ledger, AccountNumber account,
                                              Timestamp from, Timestamp until);

}  // namespace sluice
