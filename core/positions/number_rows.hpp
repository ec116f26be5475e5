// Number rows: the index by which an order is found by what people call it.
#pragma once

#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"

namespace sluice {

/// Returns the numbers by which the order is found, the confirmation number among them.
[[nodiscard]] std::vector<std::string> all_numbers(const OrderState& state);

/// Updates the order's rows of the index to `state`.
/// @param before  all_numbers() of the order before it changed.
void reindex_numbers(LedgerTxn& txn, const OrderState& state,
                     const std::vector<std::string>& before);

}  // namespace sluice
