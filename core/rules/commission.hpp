// Commission: from a line, its frozen rate and its refund to an amount (rules M1, M2, R3).
//
// Exact rational arithmetic with one rounding at the end, half to even, to the currency's minor
// unit. No floating point.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/ledger/order_state.hpp"
#include "core/programs/program.hpp"
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

/// A product of factors over a product of factors: the width that the result needs is known before
/// anything is multiplied. No factor is negative, none of the denominator is 0.
struct Fraction {
    std::array<Int128, 4> numerator{1, 1, 1, 1};
    std::array<Int128, 4> denominator{1, 1, 1, 1};
};
template <class Integer>
[[nodiscard]] Integer product(const std::array<Int128, 4>& factors) {
    Integer result = 1;
    for (const Int128 factor : factors) {
        result *= Integer(factor);
    }
    return result;
}

/// Returns the part of a line's commission that its refund leaves, (amount - refunded) / amount, or
/// nullopt if the refund disqualifies the line.
[[nodiscard]] std::optional<Fraction> part_left(const Decimal& line_amount,
                                                const Decimal& refunded);
/// Rule M2 before rounding: base x rate, or quantity x amount, times part_left(). Returns nullopt
/// if the line earns 0 whatever its amounts.
/// @param currency  The order's. A fixed rate in another one earns 0.
[[nodiscard]] std::optional<Fraction> exact_commission(const FrozenRate& frozen,
                                                       const OrderLine& line,
                                                       const Decimal& refunded, Currency currency);
/// Returns the amount that one line earns while it is in the payload and the order is not
/// cancelled.
/// @return scale() == currency.minor_units().
[[nodiscard]] Decimal line_commission(const FrozenRate& frozen, const OrderLine& line,
                                      const Decimal& refunded, Currency currency);
/// exact_commission() for people: up to 12 digits after the point, then `...` if there are more.
[[nodiscard]] std::string unrounded_commission(const FrozenRate& frozen, const OrderLine& line,
                                               const Decimal& refunded, Currency currency);

}  // namespace sluice
