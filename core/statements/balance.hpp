// Balance: what is pending, blocked, payable, in payouts and paid at an instant (books J2, H1, P1).
#pragma once

#include <optional>

#include "core/ledger/ledger.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// pending + blocked + payable == owed; owed + in_payout + paid == total.
struct BalanceAt {
    BalanceKey key;
    Decimal owed, pending, blocked, payable, in_payout, paid, total;
};

/// Balances of one account, or of all, by key. Holds of programs and blocks are those of now.
/// @param now  A commission is pending before its hold ended, payable from that instant on.
void balances_at(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp now,
                 const Visitor<BalanceAt>& visit);

/// Balances as they stood at an instant that is over: what has a later accounting date, transfers
/// and payouts, is taken back. What then stood at 0 in every book is left out. Holds of programs
/// and blocks are those of now: the ledger keeps no other.
void balances_as_of(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp at,
                    const Visitor<BalanceAt>& visit);

}  // namespace sluice
