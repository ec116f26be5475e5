// Plausibility: conditions of an order that last until something changes (books section 8, H2).
#pragma once

#include <cstdint>
#include <string>

#include "core/commands/policy.hpp"
#include "core/ledger/order_state.hpp"
#include "core/ledger/rows.hpp"

namespace sluice {

/// What the conditions depend on beside the order.
struct PlausibilityContext {
    Timestamp received_at;  ///< Of the input after which they are judged.
    const Policy& policy;
    bool is_first_event = false;
    bool is_credited = false;  ///< A credit that names the order is not reversed.
};

/// Kinds that an event shows by itself (O3, C1, R2); the others last.
inline constexpr std::uint32_t kMomentaryKinds =
    bit(AnomalyKind::kVersionInFuture) | bit(AnomalyKind::kCancelWithoutCancelledAt) |
    bit(AnomalyKind::kCancelNotLater) | bit(AnomalyKind::kCancellationWithdrawn) |
    bit(AnomalyKind::kDuplicateRefundId) | bit(AnomalyKind::kRefundIdReused);
inline constexpr std::uint32_t kBlockingByDefault =
    bit(AnomalyKind::kVersionInFuture) | bit(AnomalyKind::kCancelWithoutCancelledAt) |
    bit(AnomalyKind::kCancelNotLater) | bit(AnomalyKind::kRefundIdReused) |
    bit(AnomalyKind::kLinesExceedAmount) | bit(AnomalyKind::kCommissionExceedsBase) |
    bit(AnomalyKind::kAmountAboveLimit) | bit(AnomalyKind::kOrderedInFuture) |
    bit(AnomalyKind::kCurrencyChanged) | bit(AnomalyKind::kCreditedOrder);

/// Bits 1 << AnomalyKind of the lasting conditions that hold.
[[nodiscard]] std::uint32_t lasting_anomalies(const OrderState& state,
                                              const PlausibilityContext& context);
/// For people; ids and amounts, no customer data. Requires: the condition holds.
[[nodiscard]] std::string lasting_message(AnomalyKind kind, const OrderState& state,
                                          const PlausibilityContext& context);

/// The kinds that block under a policy.
[[nodiscard]] std::uint32_t blocking_kinds(const Policy& policy);

}  // namespace sluice
