// Plausibility: anomalies of an order that last until something changes (rule H2).
#pragma once

#include <cstdint>
#include <string>

#include "core/ledger/order_state.hpp"
#include "core/ledger/rows.hpp"
#include "core/programs/policy.hpp"

namespace sluice {

/// The facts that the conditions depend on, other than the order.
struct PlausibilityContext {
    Timestamp received_at;  ///< Receipt of the input after which they are judged.
    const Policy& policy;
    bool is_first_event = false;
    bool is_credited = false;  ///< A credit that names the order is not reversed.
    /// An open amount makes up again for a debt that was written off (restores_written_off()).
    bool restores_written_off = false;
};

/// Kinds that one event shows by itself (O3, C1, R2). All other kinds but the notes are conditions
/// that last.
inline constexpr std::uint32_t kMomentaryKinds =
    bit(AnomalyKind::kVersionInFuture) | bit(AnomalyKind::kCancelWithoutCancelledAt) |
    bit(AnomalyKind::kCancelNotLater) | bit(AnomalyKind::kCancellationWithdrawn) |
    bit(AnomalyKind::kDuplicateRefundId) | bit(AnomalyKind::kRefundIdReused);

/// Notes of a platform's order: they show as long as its newest version has them (O7).
inline constexpr std::uint32_t kNoteKinds = bit(AnomalyKind::kRefundNotByLine) |
                                            bit(AnomalyKind::kTotalsDiffer) |
                                            bit(AnomalyKind::kQuantityRounded);

/// Returns bits 1 << AnomalyKind of the lasting conditions that hold.
[[nodiscard]] std::uint32_t lasting_anomalies(const OrderState& state,
                                              const PlausibilityContext& context);
/// Returns the message of an anomaly for people: ids and amounts, no customer data. Requires: the
/// condition holds.
[[nodiscard]] std::string lasting_message(AnomalyKind kind, const OrderState& state,
                                          const PlausibilityContext& context);

/// Returns the cause of a lasting kind: an amount with its currency, or an instant. Returns an
/// empty text for other kinds.
[[nodiscard]] std::string lasting_value(AnomalyKind kind, const OrderState& state);
/// Whether `value` goes beyond what was acknowledged: a larger amount, one in another currency, a
/// time further from the receipt (K6). Both are of lasting_value().
[[nodiscard]] bool goes_beyond(AnomalyKind kind, const std::string& value,
                               const std::string& acknowledged);

}  // namespace sluice
