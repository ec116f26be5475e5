// Order book: a stored order and an event give the new order (rules O1 to O4, C1, R1, R2).
//
// Pure: a function looks up the owner of a refund id. core/rules/owed_changes computes the
// commissions of the result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "core/ledger/rows.hpp"
#include "core/protocol/order_event.hpp"

namespace sluice {

/// Finds rows of an order's line. Rows mostly stand at the line's own index, so a table is made
/// only for those that do not. `rows` must not change meanwhile.
/// @tparam Id  The member of a row that names its line. Of several rows the first is found.
template <class Row, LineItemId std::remove_const_t<Row>::*Id>
class ByLine {
public:
    explicit ByLine(std::span<Row> rows) : rows_(rows) {}

    /// Returns nullptr if no row is of the line.
    [[nodiscard]] Row* find(std::string_view id, std::size_t likely_index) {
        if (likely_index < rows_.size() && (rows_[likely_index].*Id).view() == id) {
            return &rows_[likely_index];
        }
        if (by_id_.empty()) {
            for (Row& row : rows_) {
                by_id_.emplace((row.*Id).view(), &row);
            }
        }
        const auto found = by_id_.find(id);
        return found == by_id_.end() ? nullptr : found->second;
    }

private:
    std::span<Row> rows_;
    std::unordered_map<std::string_view, Row*> by_id_;
};

/// The facts of an event that are not in its payload.
struct EventArrival {
    SequenceNumber seq;
    Timestamp received_at;
    EventDigest digest{};
    std::optional<Digest256> device{};    ///< SHA-256 of the device id, if the payload states one.
    std::optional<Digest256> customer{};  ///< See OrderState::customer.
    std::optional<TraceParent> traceparent{};
    EventSource source = EventSource::kSignedPost;
};

/// Refunded amounts of an order's lines. Of several rows of a line one is effective (rule R2).
class EffectiveRefunds {
public:
    explicit EffectiveRefunds(const std::vector<RefundRow>& rows);
    /// Returns the refunded amount of a line; 0 if nothing was refunded.
    [[nodiscard]] Decimal amount(const LineItemId& line) const;
    /// Returns the effective rows by line, in no order. Valid as long as the rows of the
    /// constructor.
    [[nodiscard]] const std::unordered_map<std::string_view, const RefundRow*>& rows()
        const noexcept {
        return rows_;
    }
    /// Return the sums as sent: not capped, and including lines that are gone; scale 0 if there are
    /// no rows.
    [[nodiscard]] const Decimal& amount_sum() const noexcept { return amount_sum_; }
    [[nodiscard]] const Decimal& tax_sum() const noexcept { return tax_sum_; }

private:
    std::unordered_map<std::string_view, const RefundRow*> rows_;
    Decimal amount_sum_, tax_sum_;
};

/// Returns the effective row of a line, or nullptr.
[[nodiscard]] const RefundRow* effective_row(const std::vector<RefundRow>& rows,
                                             const LineItemId& line) noexcept;

struct ShownAnomaly {
    AnomalyKind kind;
    std::string message;  ///< For people; ids and amounts, no customer data.
};

/// The effect of an event.
struct OrderStep {
    bool created = false;
    EventDecision decision = EventDecision::kApplied;
    std::vector<ShownAnomaly> anomalies{};  ///< At most one of each kind.
    bool cancellation_changed = false;
    std::vector<LineItemId> refunds_changed{};  ///< Lines whose refunded amount has another value.
    /// Refund ids that were used for the first time, with their owner for ever.
    std::vector<std::pair<RefundLineItemId, LineItemId>> new_refund_ids{};

    [[nodiscard]] bool shows(AnomalyKind kind) const noexcept;
};

/// Looks up a refund id that the order itself has not used yet.
using FindRefundOwner = std::function<std::optional<RefundOwner>(std::string_view refund_id)>;

/// Rule O2, for the events that are kept within the order.
[[nodiscard]] bool is_duplicate(const OrderState& state, Topic topic,
                                const EventDigest& digest) noexcept;

/// Applies an event that is no duplicate. The caller has set `state.key`, and appends the event's
/// trace later, with the number of the journal entry.
/// @param created  `state` has nothing but its key.
[[nodiscard]] OrderStep apply_event(OrderState& state, bool created, const OrderEvent& event,
                                    const EventArrival& arrival, const FindRefundOwner& find_owner);

/// Applies an ORDER_DELETE that is no duplicate to an order that is stored. Of `event`, topic,
/// version and time of cancellation count.
[[nodiscard]] OrderStep apply_deletion(OrderState& state, const OrderEvent& event,
                                       const EventArrival& arrival);

/// Returns the value of OrderState::customer, or nullopt if the payload names no customer.
[[nodiscard]] std::optional<Digest256> customer_digest(const OrderEvent& event);

/// Greatest distance of an event's updated_at, or of an order's ordered_at, ahead of the receipt.
/// Beyond it, the clock of the shop is called wrong.
inline constexpr std::int64_t kFutureSeconds = kSecondsPerDay;

}  // namespace sluice
