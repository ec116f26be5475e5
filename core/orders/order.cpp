#include "core/orders/order.hpp"

#include <algorithm>
#include <utility>

#include "core/orders/anomaly.hpp"
#include "core/orders/sums.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/rate_book.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

bool is_known_event(const OrderState& state, Topic topic, const EventDigest& digest,
                    LedgerTxn& txn) {
    return is_duplicate(state, topic, digest) ||
           (state.events_count > state.events.size() && txn.has_event(state.key, topic, digest));
}

/// Returns whether the version that stands came from an event that `is_one` accepts.
template <class IsOne>
bool stands(const OrderState& state, LedgerTxn& txn, IsOne is_one) {
    bool found = false;
    const auto compare = [&](const EventTrace& event) {
        found = found ||
                (event.seq == state.last_applied && event.node == state.last_node && is_one(event));
    };
    std::ranges::for_each(state.events, compare);
    if (!found && state.events_count > state.events.size()) {
        txn.scan_events(state.key, compare);
    }
    return found;
}

std::uint32_t bits_of(const std::vector<ShownAnomaly>& anomalies) noexcept {
    std::uint32_t bits = 0;
    for (const ShownAnomaly& shown : anomalies) {
        bits |= bit(shown.kind);
    }
    return bits;
}

void append_trace(LedgerTxn& txn, OrderState& state, EventTrace trace) {
    ++state.events_count;
    if (state.events.size() < kEventsInlineMax) {
        state.events.push_back(std::move(trace));
    } else {
        txn.put_event(state.key, trace);
    }
}

Source source_of(const OrderArrival& arrival) {
    return {arrival.arrival.seq, arrival.event.topic, arrival.arrival.received_at, {}, {}, {}};
}

/// Makes it the state of an order of which nothing is known, and keeps its lists' buffers.
void begin_order(OrderState& state, const OrderKey& key) {
    OrderState order;
    const auto keep = [](auto& list, auto& buffer) {
        buffer.clear();
        list.swap(buffer);
    };
    keep(order.codes, state.codes);
    keep(order.numbers, state.numbers);
    keep(order.lines, state.lines);
    keep(order.refunds, state.refunds);
    keep(order.positions, state.positions);
    keep(order.events, state.events);
    state = std::move(order);
    state.key = key;
}

JournalEntry attributed_memo(const OrderState& state) {
    return memo_of(JournalReason::kMemoAttributed, type_names(state.position()->attribution.types));
}

}  // namespace

std::optional<Attribution> find_creator(const OrderState& state, std::string_view shop_id,
                                        ProgramCache& programs, LedgerTxn& txn) {
    const std::vector<Covering>& covering =
        programs.covering(txn, state.key.account, state.key.shop, shop_id);
    return covering.empty() ? std::nullopt
                            : choose(covering, find_candidates(state, covering, txn));
}

void attribute(OrderState& state, Attribution attribution, const Source& source,
               ProgramCache& programs, LedgerTxn& txn) {
    attribution.cause = source.seq;
    attribution.command_id = source.command_id;
    attribution.cause_topic = source.topic;
    attribution.at = source.received_at;
    std::optional<std::uint32_t> index =
        find_position(state, attribution.program, attribution.creator);
    const bool is_known = index.has_value();
    if (!is_known) {
        index = static_cast<std::uint32_t>(state.positions.size());
        Position position{.facts = frozen_facts(state, attribution, programs, txn)};
        state.positions.push_back(std::move(position));
    }
    if (!source.command_id.empty()) {
        txn.put(AttributedOrder{source.command_id, state.key.account, state.key.shop,
                                state.key.order_id});
    }
    state.positions[*index].attribution = std::move(attribution);
    state.live = index;
    if (is_known) {
        rate_again(state, programs, txn);
    }
    state.flags = static_cast<std::uint8_t>(state.flags & ~kOrderBarred);
}

void post_attribution(OrderState& state, const Source& source, ProgramCache& programs,
                      LedgerTxn& txn) {
    complete_facts(state, {}, programs, txn);
    freeze_rates(state, programs.rates(txn, state.key, state.position()->attribution.program), txn);
    PostingCause cause{.all = JournalReason::kAttribution};
    const AccountSettings& settings = programs.settings(txn, state.key.account);
    state.other_groups.push_back(post_owed(txn, state, *state.position(), source,
                                           settings.row.closed_until, owed_changes(state, cause),
                                           {attributed_memo(state)}));
}

std::uint64_t OrderApplier::post_event(const OrderArrival& arrival, OrderStep& step,
                                       bool attributed, std::size_t frozen_before, LedgerTxn& txn) {
    Position& position = *state_.position();
    freeze_rates(state_, programs_.rates(txn, state_.key, position.attribution.program), txn);
    PostingCause cause{.frozen_before = frozen_before,
                       .cancellation_changed = step.cancellation_changed,
                       .refunds_changed = std::move(step.refunds_changed)};
    std::vector<JournalEntry> memos;
    if (attributed) {
        cause.all = JournalReason::kAccrual;
        memos.push_back(attributed_memo(state_));
    }
    return post_owed(txn, state_, position, source_of(arrival),
                     programs_.settings(txn, arrival.account).row.closed_until,
                     owed_changes(state_, cause), std::move(memos));
}

void OrderApplier::write_step(const OrderArrival& arrival, const OrderStep& step,
                              std::uint32_t anomalies, std::uint64_t first_entry, LedgerTxn& txn) {
    for (const auto& [refund_id, line] : step.new_refund_ids) {
        txn.put(RefundOwner{arrival.account, arrival.shop, refund_id, state_.key.order_id, line});
    }
    append_trace(txn, state_,
                 {arrival.arrival.seq, arrival.event.topic, step.decision, arrival.arrival.digest,
                  arrival.event.updated_at, arrival.arrival.received_at,
                  arrival.event.cancelled_at.has_value(), anomalies, first_entry, txn.head().number,
                  arrival.arrival.traceparent, arrival.arrival.source});
    if (step.created) {
        ++txn.mutable_head().totals.orders;
        note_new_order(txn, arrival.account, arrival.shop, arrival.arrival.received_at,
                       arrival.arrival.device.has_value());
    }
    txn.put_updated(state_);
}

OrderApplier::Before OrderApplier::before_event(LedgerTxn& txn) {
    return {indexed(state_), counted_volume(state_, programs_, txn), indexed_customer(state_),
            state_.live ? state_.position()->frozen.size() : 0};
}

/// O2. A platform may send the bytes of an earlier version again, and means it: so only those of
/// the version that stands make a duplicate of its event.
bool OrderApplier::is_duplicate_event(const OrderArrival& arrival, LedgerTxn& txn) {
    const Topic topic = arrival.event.topic;
    const EventDigest& digest = arrival.arrival.digest;
    const auto is_same = [&](const EventTrace& event) {
        return event.topic == topic && event.digest == digest;
    };
    if (!is_known_event(state_, topic, digest, txn) ||
        (arrival.source && !stands(state_, txn, is_same))) {
        return false;
    }
    ++state_.duplicates_count;
    txn.put_updated(state_);
    return true;
}

/// O7. WooCommerce states no version of a deletion, so any state that arrives after it undoes it.
bool OrderApplier::undoes_deletion(const OrderArrival& arrival, LedgerTxn& txn) {
    return state_.cancelled_at && arrival.source &&
           arrival.source->platform == Platform::kWooCommerce &&
           stands(state_, txn,
                  [](const EventTrace& event) { return event.topic == Topic::kOrderDelete; });
}

InputClass OrderApplier::apply_order(const OrderArrival& arrival, LedgerTxn& txn) {
    const OrderKey key{arrival.account, arrival.shop, OrderId(arrival.event.order_id)};
    const bool created = !load_sound_order(txn, key, state_);
    if (created) {
        begin_order(state_, key);
    } else if (is_duplicate_event(arrival, txn)) {
        return InputClass::kDuplicate;
    }
    const Before before = created ? Before{} : before_event(txn);
    const std::optional<Timestamp> undone =
        undoes_deletion(arrival, txn) ? std::optional(state_.version) : std::nullopt;
    if (undone) {
        state_.version = {};
    }
    OrderStep step = apply_event(
        state_, created, arrival.event, arrival.arrival,
        [&](std::string_view id) { return txn.refund_owner(arrival.account, arrival.shop, id); });
    if (undone) {
        state_.version = std::max(*undone, state_.version);  // it never goes back (O5)
    }
    if (step.decision == EventDecision::kApplied) {
        state_.last_node = txn.head().number;
    }
    if (created && arrival.source && arrival.source->platform == Platform::kShopify) {
        apply_earlier_deletion(arrival, step, txn);
    }
    return finish_event(arrival, step, before, txn);
}

InputClass OrderApplier::delete_order(const OrderArrival& arrival, std::optional<Timestamp> version,
                                      LedgerTxn& txn) {
    const OrderKey key{arrival.account, arrival.shop, OrderId(arrival.event.order_id)};
    OrderEvent event = arrival.event;
    OrderArrival versioned{event,           arrival.account, arrival.shop,
                           arrival.shop_id, arrival.arrival, arrival.source};
    if (!load_sound_order(txn, key, state_)) {
        event.updated_at = version.value_or(Timestamp{});
        return version && arrival.source->platform == Platform::kShopify
                   ? keep_deletion(versioned, txn)
                   : InputClass::kStale;
    }
    event.updated_at = version.value_or(state_.version);
    if (is_duplicate_event(versioned, txn)) {
        return InputClass::kDuplicate;
    }
    const Before before = before_event(txn);
    OrderStep step = apply_deletion(state_, event, versioned.arrival);
    if (step.decision == EventDecision::kApplied) {
        state_.last_node = txn.head().number;
    }
    return finish_event(versioned, step, before, txn);
}

/// Keeps the deletion of an unknown order until a state of the order arrives.
InputClass OrderApplier::keep_deletion(const OrderArrival& arrival, LedgerTxn& txn) {
    DeletedOrder row{.order = {arrival.account, arrival.shop, OrderId(arrival.event.order_id)}};
    if (txn.load(row) && arrival.event.updated_at <= row.version) {
        return arrival.event.updated_at == row.version ? InputClass::kDuplicate
                                                       : InputClass::kStale;
    }
    row.seq = arrival.arrival.seq;
    row.node = txn.head().number;
    row.version = arrival.event.updated_at;
    row.received_at = arrival.arrival.received_at;
    row.cancelled_at = *arrival.event.cancelled_at;
    std::ranges::copy(arrival.arrival.digest, row.digest.begin());
    txn.put(row);
    return InputClass::kApplied;
}

/// Applies a deletion that came before the order's first event to the order that this event made.
/// Only those of Shopify are kept. A version that was in the future shows now.
void OrderApplier::apply_earlier_deletion(const OrderArrival& arrival, OrderStep& step,
                                          LedgerTxn& txn) {
    DeletedOrder row{.order = state_.key};
    if (!txn.load(row)) {
        return;
    }
    txn.erase(row);
    if (arrival.event.updated_at > row.version) {
        return;  // the order was restored
    }
    OrderEvent deletion{
        .topic = Topic::kOrderDelete, .updated_at = row.version, .cancelled_at = row.cancelled_at};
    EventArrival arrived{row.seq, row.received_at};
    std::copy_n(row.digest.begin(), arrived.digest.size(), arrived.digest.begin());
    OrderStep deleted = apply_deletion(state_, deletion, arrived);
    for (ShownAnomaly& anomaly : deleted.anomalies) {
        if (!step.shows(anomaly.kind)) {
            step.anomalies.push_back(std::move(anomaly));
        }
    }
    state_.last_node = row.node;
    append_trace(txn, state_,
                 {.seq = row.seq,
                  .topic = deletion.topic,
                  .decision = deleted.decision,
                  .digest = arrived.digest,
                  .version = row.version,
                  .received_at = row.received_at,
                  .cancelled = true,
                  .node = row.node,
                  .source = EventSource::kShopify});
}

/// Attributes, posts, judges and writes the order after an event.
InputClass OrderApplier::finish_event(const OrderArrival& arrival, OrderStep& step,
                                      const Before& before, LedgerTxn& txn) {
    const Source source = source_of(arrival);
    bool attributed = false;
    if (!state_.live && !state_.has(kOrderBarred)) {
        if (auto found = find_creator(state_, arrival.shop_id, programs_, txn)) {
            attribute(state_, *std::move(found), source, programs_, txn);
            attributed = true;
        }
    }
    if (state_.live) {
        complete_facts(state_, attributed ? VolumeBefore{} : before.volume, programs_, txn);
    }
    const std::uint64_t first_entry =
        state_.live ? post_event(arrival, step, attributed, before.frozen, txn) : 0;
    const AccountSettings& settings = programs_.settings(txn, arrival.account);
    for (const ShownAnomaly& shown : step.anomalies) {
        show_anomaly(txn, state_, settings, shown, source);
    }
    std::uint32_t shown = bits_of(step.anomalies);
    if (arrival.source && is_order(arrival.event.topic) &&
        step.decision == EventDecision::kApplied) {
        shown |= show_notes(txn, state_, settings, arrival.source->notes, source);
    }
    shown |= judge_anomalies(txn, state_, settings, source, JudgedEvent{step.created});
    reindex(txn, state_, before.indexed);
    count_volume(state_, before.volume, source, programs_, txn);
    index_customer(state_, before.customer, programs_, txn);
    write_step(arrival, step, shown, first_entry, txn);
    return step.decision == EventDecision::kApplied ? InputClass::kApplied : InputClass::kStale;
}

void OrderApplier::retry_order(const OrderKey& order, const Source& source, LedgerTxn& txn) {
    const std::optional<ShopRow> shop = txn.shop(order.shop);
    if (!shop || !load_unless_damaged(txn, order, state_) || state_.live ||
        state_.has(kOrderBarred)) {
        return;
    }
    auto found = find_creator(state_, shop->shop_id.view(), programs_, txn);
    if (!found) {
        return;
    }
    const IndexedBefore before = indexed(state_);
    attribute(state_, *std::move(found), source, programs_, txn);
    post_attribution(state_, source, programs_, txn);
    judge_anomalies(txn, state_, programs_.settings(txn, order.account), source, {});
    reindex(txn, state_, before);
    count_volume(state_, {}, source, programs_, txn);
    txn.put_order(state_);
}

}  // namespace sluice
