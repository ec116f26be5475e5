// Slices: how much of many positions is held at once.
#pragma once

#include <cstddef>

#include "core/journal/open_amounts.hpp"
#include "core/ledger/payout_rows.hpp"

namespace sluice {

/// Positions whose orders are read, changed and written together.
inline constexpr std::size_t kPayoutSlice = 8192;

[[nodiscard]] inline bool is_credit(const OpenAmount& row) noexcept {
    return row.shop.value == 0;
}

/// Of the currency's digits, also if there are none.
[[nodiscard]] inline Decimal sum_of(const LineAmounts& amounts, Currency currency) {
    Decimal sum = zero_amount(currency);
    for (const auto& [line, amount] : amounts) {
        sum = sum + amount;
    }
    return sum;
}

}  // namespace sluice
