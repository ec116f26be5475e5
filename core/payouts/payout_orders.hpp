// Payout orders: of how many orders a payout is (books P2, section 14).
#pragma once

#include <cstdint>
#include <vector>

#include "core/ledger/payout_rows.hpp"

namespace sluice {

/// Each order once, whatever programs it has items of; a credit without an order is none.
/// @param items  One payout's, in the order of their keys.
[[nodiscard]] std::uint64_t orders_of(const std::vector<PayoutItem>& items);

}  // namespace sluice
