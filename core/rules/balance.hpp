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

}  // namespace sluice
