// Order book: a stored order and an event give the new order (rules O1 to O4, C1, R1, R2).
//
// Pure: what the rules need from elsewhere (who owns a refund id) is asked through a function.
// Commissions are not touched here; core/rules/owed_changes prices the result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "core/ledger/rows.hpp"
#include "core/protocol/order_event.hpp"

namespace sluice {

/// What an event is besides its payload.
struct EventArrival {
    SequenceNumber seq;
    Timestamp received_at;
    EventDigest digest{};
    std::optional<Digest256> device{};    ///< SHA-256 of the device id, if the payload states one.
    std::optional<Digest256> customer{};  ///< See OrderState::customer.
};

/// Refunded amounts of an order's lines: one standing row for each line that has any (rule R2).
class StandingRefunds {
public:
    explicit StandingRefunds(const std::vector<RefundRow>& rows);
    /// 0 if nothing was refunded.
    [[nodiscard]] Decimal amount(const LineItemId& line) const;
    /// Sums as sent: not capped, lines that are gone included; scale 0 if there are no rows.
    [[nodiscard]] const Decimal& amount_sum() const noexcept { return amount_sum_; }
    [[nodiscard]] const Decimal& tax_sum() const noexcept { return tax_sum_; }

private:
    std::unordered_map<std::string_view, const RefundRow*> rows_;
    Decimal amount_sum_, tax_sum_;
};

/// The row that counts of a line's rows; nullptr: none.
[[nodiscard]] const RefundRow* standing_row(const std::vector<RefundRow>& rows,
                                            const LineItemId& line) noexcept;

struct ShownAnomaly {
    AnomalyKind kind;
    std::string message;  ///< For people; ids and amounts, no customer data.
};

/// What an event did.
struct OrderStep {
    bool created = false;
    EventDecision decision = EventDecision::kApplied;
    std::vector<ShownAnomaly> anomalies;  ///< At most one of each kind.
    bool cancellation_changed = false;
    std::vector<LineItemId> refunds_changed;  ///< Lines whose refunded amount has another value.
    /// Refund ids that were used for the first time, with their owner for ever.
    std::vector<std::pair<RefundLineItemId, LineItemId>> new_refund_ids;

    [[nodiscard]] bool shows(AnomalyKind kind) const noexcept;
};

/// Asked for refund ids that the order itself has not used yet.
using FindRefundOwner = std::function<std::optional<RefundOwner>(std::string_view refund_id)>;

/// Rule O2, for the events that are kept within the order.
[[nodiscard]] bool is_duplicate(const OrderState& state, Topic topic,
                                const EventDigest& digest) noexcept;

/// Applies an event that is no duplicate. `state.key` is set; `created` says that there is nothing
/// else in it yet. The event's trace is not appended (it wants to know the journal entry).
[[nodiscard]] OrderStep apply_event(OrderState& state, bool created, const OrderEvent& event,
                                    const EventArrival& arrival, const FindRefundOwner& find_owner);

/// See OrderState::customer; nothing: the payload names none.
[[nodiscard]] std::optional<Digest256> customer_digest(const OrderEvent& event);

inline constexpr std::int64_t kFutureSeconds = 86'400;

}  // namespace sluice
