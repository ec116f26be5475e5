// Freezing rates: what a line earns is settled when its position first sees it, and stays (books
// M3).
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/rules/rate_book.hpp"

namespace sluice {

/// Freezes a rate with every line of the payload that the live position has not seen yet.
/// Requires: the order has a creator.
void freeze_rates(OrderState& state, const RateBook& rates, LedgerReader& ledger);

}  // namespace sluice
