#include "core/apply/order.hpp"

#include <utility>

#include "core/apply/post.hpp"
#include "core/ledger/row_name.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/posting.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

bool came_before(const OrderState& state, Topic topic, const EventDigest& digest, LedgerTxn& txn) {
    return is_duplicate(state, topic, digest) ||
           (state.events_count > state.events.size() && txn.has_event(state.key, topic, digest));
}

void record(LedgerTxn& txn, const OrderKey& order, const ShownAnomaly& shown,
            const EventArrival& arrival) {
    std::optional<Anomaly> anomaly = txn.anomaly(order, shown.kind);
    if (!anomaly) {
        anomaly = Anomaly{order, shown.kind, arrival.seq, arrival.received_at, 0, shown.message};
        ++txn.mutable_head().totals.anomalies[static_cast<std::size_t>(shown.kind)];
    }
    ++anomaly->count;
    txn.put(*anomaly);
}

std::uint16_t bits_of(const std::vector<ShownAnomaly>& anomalies) noexcept {
    unsigned bits = 0;
    for (const ShownAnomaly& shown : anomalies) {
        bits |= 1U << static_cast<unsigned>(shown.kind);
    }
    return static_cast<std::uint16_t>(bits);
}

void append_trace(LedgerTxn& txn, OrderState& state, EventTrace trace) {
    ++state.events_count;
    if (state.events.size() < kEventsInlineMax) {
        state.events.push_back(std::move(trace));
    } else {
        txn.put_event(state.key, trace);
    }
}

}  // namespace

void OrderApplier::attribute(LedgerTxn& txn, std::string_view shop_id, SequenceNumber cause,
                             Topic cause_topic, Timestamp at) {
    const std::vector<const ProgramRow*>& programs =
        programs_.covering(txn, state_.key.account, state_.key.shop, shop_id);
    state_.attribution = choose(programs, find_candidates(state_, programs, txn));
    if (state_.attribution) {
        state_.attribution->cause = cause;
        state_.attribution->cause_topic = cause_topic;
        state_.attribution->at = at;
    }
}

const RateBook& OrderApplier::rates(LedgerTxn& txn) {
    const ProgramId& program = state_.attribution->program;
    const RateBook* rates = programs_.rates(txn, state_.key.account, program);
    if (rates == nullptr) {
        throw DamagedRow(row_name("orders", state_.key),
                         "there is no program " + program.str() + ", which it is attributed to",
                         state_.key);
    }
    return *rates;
}

void OrderApplier::write_step(const OrderArrival& arrival, const OrderStep& step,
                              std::uint64_t first_entry, LedgerTxn& txn) {
    for (const auto& [refund_id, line] : step.new_refund_ids) {
        txn.put(RefundOwner{arrival.account, arrival.shop, refund_id, state_.key.order_id, line});
    }
    for (const ShownAnomaly& shown : step.anomalies) {
        record(txn, state_.key, shown, arrival.arrival);
    }
    append_trace(txn, state_,
                 {arrival.arrival.seq, arrival.event.topic, step.decision, arrival.arrival.digest,
                  arrival.event.updated_at, arrival.arrival.received_at,
                  arrival.event.cancelled_at.has_value(), bits_of(step.anomalies), first_entry});
    txn.mutable_head().totals.orders += step.created ? 1 : 0;
    txn.put_order(state_);
}

InputClass OrderApplier::apply_order(const OrderArrival& arrival, LedgerTxn& txn) {
    const OrderKey key{arrival.account, arrival.shop, OrderId(arrival.event.order_id)};
    const bool created = !load_sound_order(txn, key, state_);
    if (created) {
        state_ = OrderState{};
        state_.key = key;
    } else if (came_before(state_, arrival.event.topic, arrival.arrival.digest, txn)) {
        ++state_.duplicates_count;
        txn.put_order(state_);
        return InputClass::kDuplicate;
    }
    const IndexedBefore before = created ? IndexedBefore{} : indexed(state_);
    PostingCause cause;
    cause.currency_before = created ? arrival.event.currency : state_.currency;
    OrderStep step = apply_event(
        state_, created, arrival.event, arrival.arrival,
        [&](std::string_view id) { return txn.refund_owner(arrival.account, arrival.shop, id); });
    if (!state_.attribution) {
        attribute(txn, arrival.shop_id, arrival.arrival.seq, arrival.event.topic,
                  arrival.arrival.received_at);
        if (state_.attribution) {
            cause.attributed = JournalReason::kAccrual;
        }
    }
    std::uint64_t first_entry = 0;
    if (state_.attribution) {
        cause.new_lines = freeze_rates(state_, rates(txn), txn);
        cause.cancellation_changed = step.cancellation_changed;
        cause.refunds_changed = std::move(step.refunds_changed);
        first_entry =
            post_entries(txn, state_, {arrival.arrival.seq, arrival.arrival.received_at, {}, {}},
                         post_commissions(state_, cause));
    }
    reindex(txn, state_, before);
    write_step(arrival, step, first_entry, txn);
    return step.decision == EventDecision::kApplied ? InputClass::kApplied : InputClass::kStale;
}

void OrderApplier::retry_order(const OrderKey& order, const Work& work, LedgerTxn& txn) {
    const std::optional<ShopRow> shop = txn.shop(order.shop);
    try {
        if (!shop || !load_sound_order(txn, order, state_) || state_.attribution) {
            return;
        }
    } catch (const DamagedRow& damaged) {
        if (!damaged.order()) {
            throw;
        }
        return;  // doctor shows it; nothing of it was changed yet
    }
    const IndexedBefore before = indexed(state_);
    attribute(txn, shop->shop_id.view(), work.cause, work.cause_topic, work.received_at);
    if (!state_.attribution) {
        return;
    }
    PostingCause cause;
    cause.attributed = JournalReason::kAttribution;
    cause.currency_before = state_.currency;
    freeze_rates(state_, rates(txn), txn);
    const std::uint64_t first_entry =
        post_entries(txn, state_, {state_.last_applied, work.received_at, {}, {}},
                     post_commissions(state_, cause));
    if (first_entry != 0) {
        state_.other_groups.push_back(first_entry);
    }
    reindex(txn, state_, before);
    txn.put_order(state_);
}

}  // namespace sluice
