// Causes: why an order is, or is not, a creator's. One enum, from which the creator's page has its
// sentences (docs/creators.md).
//
// A cause has no member for another creator's id, code or amount.
#pragma once

#include "core/explain/cause_found.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"

namespace sluice {

/// Returns why an order is, or is not, the creator's.
[[nodiscard]] CauseFound find_cause(LedgerReader& ledger, const OrderState& order,
                                    const CreatorId& creator, Timestamp now);

/// Returns whether a position of the order is or was the creator's.
[[nodiscard]] bool is_or_was_of(const OrderState& order, const CreatorId& creator);
/// Returns whether the order has a code that was the creator's at the time of the order, or that
/// was no creator's then and the creator's before or after.
[[nodiscard]] bool has_code_of(LedgerReader& ledger, const OrderState& order,
                               const CreatorId& creator);

}  // namespace sluice
