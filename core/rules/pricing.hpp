// Pricing: what each line of an attributed order earns (rules M2, M4).
//
// Amounts per order and caps are shared before refunds: a refund lowers its own line only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {

/// Returns the commission of each of state.lines, in their order; 0 for a line that is gone.
/// Ignores cancellation and rejection.
/// @return scale() == the currency's digits. Requires: every present line is frozen.
[[nodiscard]] std::vector<Decimal> line_commissions(const OrderState& state,
                                                    const Position& position,
                                                    const EffectiveRefunds& refunds);

/// Sums over the present lines, in the order's currency. Requires: the position is live, the order
/// earns, and what is accrued of its lines is posted.
struct OrderBases {
    Decimal commission;  ///< Rounded line by line, before refunds.
    Decimal base;        ///< Exact.
};
[[nodiscard]] OrderBases order_bases(const OrderState& state, const Position& position);

/// Returns `percent` percent of the amount, rounded half to even to `digits` digits after the
/// point.
[[nodiscard]] Decimal part_of(const Decimal& amount, const Decimal& percent, std::uint8_t digits);

/// Returns each line's share of an amount per order or a cap, for people: `13.33 of 20.00`, or an
/// empty text.
[[nodiscard]] std::vector<std::string> shared_words(const OrderState& state,
                                                    const Position& position);

}  // namespace sluice
