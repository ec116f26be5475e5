// Balance: what is pending, payable and paid at an instant (rule P1).
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// pending + payable + paid == total.
struct BalanceAt {
    BalanceKey key;
    Decimal pending;
    Decimal payable;
    Decimal paid;
    Decimal total;
};

/// Every balance, by key. Holds are those of the programs as they are now in the ledger.
/// @param now  A commission is pending before its hold ended, payable from that instant on.
void balances_at(LedgerReader& ledger, Timestamp now, const Visitor<BalanceAt>& visit);

}  // namespace sluice
