// Sales: what an order adds to its creator's volume of a month (rule M4, tiers). Pure.
#pragma once

#include <cstdint>

#include "core/ledger/order_state.hpp"

namespace sluice {

/// Amount - tax - (refunded amount - refunded tax) of each line, not below 0; 0 for a line that is
/// fully refunded or gone, and for an order that earns nothing. In the order's currency.
[[nodiscard]] Decimal net_sales(const OrderState& state);
/// The calendar month (UTC): 202601.
[[nodiscard]] std::uint32_t month_of(Timestamp at);

}  // namespace sluice
