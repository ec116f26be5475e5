// Order status: where an order's commission stands, for reports (books section 3).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// detached, waiting, rejected, cancelled, paid, in_payout, blocked, pending or payable: the first
/// that applies. `paid` and `in_payout` are those of the standing COMMISSION items.
[[nodiscard]] std::string_view order_status(const OrderState& order, Timestamp now,
                                            LedgerReader& ledger);

/// What standing payouts took of the order, by currency.
struct TakenOfOrder {
    std::map<Currency, Decimal> in_payout, paid;
};
[[nodiscard]] TakenOfOrder taken_of_order(const OrderState& order, LedgerReader& ledger);

}  // namespace sluice
