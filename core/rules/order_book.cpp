#include "core/rules/order_book.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/protocol/personal_ids.hpp"

namespace sluice {
namespace {

/// Returns true if `row` takes precedence over `other`, a row of the same line (rule R2).
bool stands_before(const RefundRow& row, const RefundRow& other) noexcept {
    return std::pair(row.version, row.stated) > std::pair(other.version, other.stated);
}

void show(OrderStep& step, AnomalyKind kind, std::string message) {
    if (!step.shows(kind)) {
        step.anomalies.push_back({kind, std::move(message)});
    }
}

// ---- Cancellation (C1) ------------------------------------------------------------------------

void show_cancel_anomalies(OrderStep& step, const OrderState& state, const OrderEvent& event) {
    if (step.created || event.topic != Topic::kOrderCancel) {
        return;
    }
    if (!event.cancelled_at) {
        show(step, AnomalyKind::kCancelWithoutCancelledAt,
             "ORDER_CANCEL without platform_cancelled_at: taken as an update");
    } else if (event.updated_at <= state.version && event.cancelled_at != state.cancelled_at) {
        show(step, AnomalyKind::kCancelNotLater,
             "ORDER_CANCEL of version " + event.updated_at.to_string() +
                 " is not later than the stored version " + state.version.to_string());
    }
}

/// Takes the newest payload's cancellation, unless an ORDER_CANCEL is not later than the order.
void apply_cancellation(OrderStep& step, OrderState& state, const OrderEvent& event) {
    const bool was_cancelled = state.cancelled_at.has_value();
    if (!step.shows(AnomalyKind::kCancelNotLater)) {
        state.cancelled_at = event.cancelled_at;
    }
    step.cancellation_changed = was_cancelled != state.cancelled_at.has_value();
    if (was_cancelled && !state.cancelled_at) {
        show(step, AnomalyKind::kCancellationWithdrawn,
             "version " + event.updated_at.to_string() + " is not cancelled any more");
    }
}

// ---- The payload replaces the order (O1) ------------------------------------------------------

void fill_line(OrderLine& line, const LineItem& item) {
    line.id.assign(item.line_item_id);
    line.sku.assign(item.sku);
    if (item.variant_sku) {
        line.variant_sku.emplace(*item.variant_sku);
    }
    line.amount = item.amount.value;
    line.tax = item.tax.value;
    line.quantity = item.quantity;
}

std::unordered_set<std::string_view> priced_lines(const OrderState& state) {
    std::unordered_set<std::string_view> lines;
    for (const Position& position : state.positions) {
        for (const FrozenLine& frozen : position.frozen) {
            lines.insert(frozen.line.view());
        }
    }
    return lines;
}

/// Keeps lines that the payload dropped, behind the others, if they were ever priced: they may
/// return.
void replace_lines(OrderState& state, const OrderEvent& event) {
    std::vector<OrderLine> stored;
    if (!state.lines.empty()) {
        stored.swap(state.lines);
    }
    ByLine<OrderLine, &OrderLine::id> finder(stored);
    std::vector<OrderLine*> kept;
    state.lines.reserve(event.line_items.size());
    for (std::size_t i = 0; i < event.line_items.size(); ++i) {
        fill_line(state.lines.emplace_back(), event.line_items[i]);
        OrderLine* old = stored.empty() ? nullptr : finder.find(state.lines.back().id.view(), i);
        if (old != nullptr) {
            kept.push_back(old);
        }
    }
    if (kept.size() == stored.size()) {
        return;
    }
    std::ranges::sort(kept);
    const std::unordered_set<std::string_view> priced = priced_lines(state);
    for (OrderLine& old : stored) {
        if (!std::binary_search(kept.begin(), kept.end(), &old) && priced.contains(old.id.view())) {
            old.present = false;
            state.lines.push_back(std::move(old));
        }
    }
}

void replace_payload(OrderState& state, const OrderEvent& event, const EventArrival& arrival) {
    state.version = event.updated_at;
    state.ordered_at = event.ordered_at;
    state.currency = event.currency;
    state.amount = event.amount.text;
    state.tax = event.tax.text;
    state.shipping = event.shipping.text;
    state.codes.resize(event.discounts.size());
    for (std::size_t i = 0; i < event.discounts.size(); ++i) {
        state.codes[i] = event.discounts[i].code;
    }
    state.numbers.assign(event.numbers.begin(), event.numbers.end());
    state.confirmation_number = event.confirmation_number;
    state.customer = arrival.customer;
    state.last_applied = arrival.seq;
    replace_lines(state, event);
}

// ---- Refund rows (R1, R2) ---------------------------------------------------------------------

class RefundBook {
public:
    RefundBook(OrderStep& step, OrderState& state, const FindRefundOwner& find_owner)
        : step_(step), state_(state), find_owner_(find_owner) {
        for (std::size_t i = 0; i < state.refunds.size(); ++i) {
            row_of_id_.emplace(state.refunds[i].id.str(), i);
            refunded_lines_.insert(state.refunds[i].line.str());
        }
    }

    void state_refund(const RefundLineItem& refund, Timestamp version) {
        const auto known = row_of_id_.find(std::string(refund.refund_line_item_id));
        if (known == row_of_id_.end()) {
            add(refund, version);
            return;
        }
        RefundRow& row = state_.refunds[known->second];
        if (row.line.view() != refund.line_item_id) {
            show_reuse(refund, row.line);
        } else if (version >= row.version) {
            fill(row, refund, version);
        }
    }

private:
    void add(const RefundLineItem& refund, Timestamp version) {
        if (const std::optional<RefundOwner> owner = find_owner_(refund.refund_line_item_id)) {
            show_reuse(refund, owner->line);
            return;
        }
        if (!refunded_lines_.emplace(refund.line_item_id).second) {
            show(step_, AnomalyKind::kDuplicateRefundId,
                 "line " + std::string(refund.line_item_id) + " has a second refund id, " +
                     std::string(refund.refund_line_item_id) + "; the newer version counts");
        }
        RefundRow row{.id = RefundLineItemId(refund.refund_line_item_id),
                      .line = LineItemId(refund.line_item_id)};
        fill(row, refund, version);
        row_of_id_.emplace(row.id.str(), state_.refunds.size());
        step_.new_refund_ids.emplace_back(row.id, row.line);
        state_.refunds.push_back(std::move(row));
    }

    void fill(RefundRow& row, const RefundLineItem& refund, Timestamp version) {
        row.version = version;
        row.stated = ++state_.statements_count;
        row.refunded_at = refund.refunded_at;
        row.amount = refund.amount.value;
        row.tax = refund.tax.value;
        row.quantity = refund.quantity;
    }

    void show_reuse(const RefundLineItem& refund, const LineItemId& owner_line) {
        show(step_, AnomalyKind::kRefundIdReused,
             "refund id " + std::string(refund.refund_line_item_id) + " for line " +
                 std::string(refund.line_item_id) + " belongs to line " + owner_line.str() +
                 " of an earlier use: ignored");
    }

    OrderStep& step_;
    OrderState& state_;
    const FindRefundOwner& find_owner_;
    std::unordered_map<std::string, std::size_t> row_of_id_;
    std::unordered_set<std::string> refunded_lines_;
};

void state_refunds(OrderStep& step, OrderState& state, const OrderEvent& event,
                   const FindRefundOwner& find_owner) {
    if (event.refund_line_items.empty()) {
        return;
    }
    const std::vector<RefundRow> rows_before = state.refunds;
    const EffectiveRefunds before(rows_before);
    RefundBook book(step, state, find_owner);
    for (const RefundLineItem& refund : event.refund_line_items) {
        book.state_refund(refund, event.updated_at);
    }
    const EffectiveRefunds after(state.refunds);
    for (const RefundLineItem& refund : event.refund_line_items) {
        LineItemId line(refund.line_item_id);
        if (before.amount(line) != after.amount(line)) {
            step.refunds_changed.push_back(std::move(line));
        }
    }
}

// ---- Versions and devices (O4, O5) ------------------------------------------------------------

bool is_in_future(const OrderEvent& event, const EventArrival& arrival) {
    return event.updated_at > arrival.received_at.plus_seconds(kFutureSeconds);
}

/// Notes a version that is in the future as an anomaly if it is applied, and any other one as
/// plausible.
void note_version(OrderStep& step, OrderState& state, const OrderEvent& event,
                  const EventArrival& arrival) {
    if (is_in_future(event, arrival)) {
        if (step.decision == EventDecision::kApplied) {
            show(step, AnomalyKind::kVersionInFuture,
                 "version " + event.updated_at.to_string() + " was received at " +
                     arrival.received_at.to_string());
        }
    } else {
        state.plausible_version = state.plausible_version
                                      ? std::max(*state.plausible_version, event.updated_at)
                                      : event.updated_at;
    }
}

/// Takes the device of the newest version that stated one; of one version, the later arrival.
void state_device(OrderState& state, const OrderEvent& event, const EventArrival& arrival) {
    if (arrival.device && (!state.device || event.updated_at >= state.device_version)) {
        state.device = arrival.device;
        state.device_version = event.updated_at;
    }
}

}  // namespace

EffectiveRefunds::EffectiveRefunds(const std::vector<RefundRow>& rows) {
    for (const RefundRow& row : rows) {
        const RefundRow*& standing = rows_[row.line.view()];
        if (standing == nullptr || stands_before(row, *standing)) {
            standing = &row;
        }
    }
    for (const auto& [line, row] : rows_) {
        amount_sum_ += row->amount;
        tax_sum_ += row->tax;
    }
}

Decimal EffectiveRefunds::amount(const LineItemId& line) const {
    const auto found = rows_.find(line.view());
    return found == rows_.end() ? Decimal() : found->second->amount;
}

const RefundRow* effective_row(const std::vector<RefundRow>& rows,
                               const LineItemId& line) noexcept {
    const RefundRow* standing = nullptr;
    for (const RefundRow& row : rows) {
        if (row.line == line && (standing == nullptr || stands_before(row, *standing))) {
            standing = &row;
        }
    }
    return standing;
}

bool OrderStep::shows(AnomalyKind kind) const noexcept {
    return std::ranges::any_of(anomalies,
                               [kind](const ShownAnomaly& shown) { return shown.kind == kind; });
}

std::optional<Digest256> customer_digest(const OrderEvent& event) {
    if (event.customer_pseudonym) {
        return event.customer_pseudonym;
    }
    if (event.customer_id && !event.customer_id->empty()) {
        return customer_id_digest(*event.customer_id);
    }
    if (event.email_pseudonym) {
        return event.email_pseudonym;
    }
    return event.email && !event.email->empty() ? std::optional(email_digest(*event.email))
                                                : std::nullopt;
}

bool is_duplicate(const OrderState& state, Topic topic, const EventDigest& digest) noexcept {
    return std::ranges::any_of(state.events, [&](const EventTrace& event) {
        return event.topic == topic && event.digest == digest;
    });
}

OrderStep apply_event(OrderState& state, bool created, const OrderEvent& event,
                      const EventArrival& arrival, const FindRefundOwner& find_owner) {
    OrderStep step;
    step.created = created;
    step.decision = created || event.updated_at >= state.version ? EventDecision::kApplied
                                                                 : EventDecision::kStale;
    note_version(step, state, event, arrival);
    state_device(state, event, arrival);
    show_cancel_anomalies(step, state, event);
    if (step.decision == EventDecision::kApplied) {
        apply_cancellation(step, state, event);
        replace_payload(state, event, arrival);
    }
    state_refunds(step, state, event, find_owner);
    return step;
}

OrderStep apply_deletion(OrderState& state, const OrderEvent& event, const EventArrival& arrival) {
    OrderStep step{.decision = event.updated_at >= state.version ? EventDecision::kApplied
                                                                 : EventDecision::kStale};
    note_version(step, state, event, arrival);
    if (step.decision == EventDecision::kApplied) {
        step.cancellation_changed = !state.cancelled_at;
        state.cancelled_at = event.cancelled_at;
        state.version = event.updated_at;
        state.last_applied = arrival.seq;
    }
    return step;
}

}  // namespace sluice
