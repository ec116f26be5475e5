// Commission: from a line, its frozen rate and its refund to an amount (rules M1, M2, R3).
//
// Exact rational arithmetic with one rounding at the end, half to even, to the currency's minor
// unit. No floating point.
#pragma once

#include <cstdint>
#include <string>

#include "core/commands/program.hpp"
#include "core/ledger/order_state.hpp"
#include "core/values/currency.hpp"
#include "core/values/decimal.hpp"
#include "core/values/money.hpp"

namespace sluice {

enum class RefundEffect : std::uint8_t {
    kNone,     ///< Nothing was refunded.
    kPartial,  ///< Commission in proportion.
    kFull,     ///< Disqualified.
    kExceeds,  ///< As kFull, and an anomaly.
};
[[nodiscard]] RefundEffect refund_effect(const Decimal& line_amount,
                                         const Decimal& refunded) noexcept;

/// amount - tax, never below 0; or amount.
[[nodiscard]] Decimal base_amount(BaseKind base, const Decimal& amount,
                                  const Decimal& tax) noexcept;

/// What one line earns while it is in the payload and the order is not cancelled.
/// @param currency  The order's. A fixed rate in another one earns 0.
/// @return scale() == currency.minor_units().
[[nodiscard]] Decimal line_commission(const FrozenRate& frozen, const OrderLine& line,
                                      const Decimal& refunded, Currency currency);

/// The same before it is rounded, for people: up to 12 digits after the point, `...` behind them if
/// there are more.
[[nodiscard]] std::string unrounded_commission(const FrozenRate& frozen, const OrderLine& line,
                                               const Decimal& refunded, Currency currency);

}  // namespace sluice
