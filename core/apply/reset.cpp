// Anomalies that a person has checked, and versions that a person corrects (rules H2, O5).
#include <algorithm>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/orders/change.hpp"
#include "core/rules/plausibility.hpp"

namespace sluice {
namespace {

/// Clears the digests of stale events, so that their bodies may be sent again (O5).
void forget_stale_digests(OrderState& state, LedgerTxn& txn) {
    const auto forget = [](EventTrace& event) {
        const bool stale = event.decision == EventDecision::kStale;
        if (stale) {
            event.digest = {};
        }
        return stale;
    };
    for (EventTrace& event : state.events) {
        forget(event);
    }
    if (state.events_count <= state.events.size()) {
        return;
    }
    std::vector<EventTrace> changed;
    txn.scan_events(state.key, [&](const EventTrace& event) {
        EventTrace copy = event;
        if (forget(copy)) {
            changed.push_back(std::move(copy));
        }
    });
    for (const EventTrace& event : changed) {
        txn.put_event(state.key, event);
    }
}

void acknowledge(LedgerTxn& txn, OrderState& state, AnomalyKind kind,
                 const CommandContext& context) {
    std::optional<Anomaly> row = txn.anomaly(state.key, kind);
    if (!row || !row->acknowledged_by.empty()) {
        return;
    }
    const Anomaly stored = *row;
    acknowledge_anomaly(state, *row, context.source);
    put_anomaly(txn, *row, stored);
}

/// Lowers newer refund rows to `version`. Each line keeps its effective row, so a reset posts
/// nothing.
void lower_refunds(OrderState& state, Timestamp version) {
    std::vector<RefundRow*> rows;
    std::vector<std::uint64_t> arrivals;
    for (RefundRow& row : state.refunds) {
        if (row.version >= version) {
            rows.push_back(&row);
            arrivals.push_back(row.stated);
        }
    }
    std::ranges::sort(rows, [](const RefundRow* a, const RefundRow* b) {
        return std::pair(a->version, a->stated) < std::pair(b->version, b->stated);
    });
    std::ranges::sort(arrivals);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i]->version = version;
        rows[i]->stated = arrivals[i];
    }
}

}  // namespace

Result<Reply> ack_anomaly(const AnomalyAck& command, const CommandContext& context,
                          ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    const std::string& order = command.order.str();
    const std::optional<AnomalyKind> kind = parse_name<AnomalyKind>(command.kind);
    if (!kind) {
        return invalid(command.kind + " is not a kind of anomaly");
    }
    OrderState& state = change.state();
    if (!txn.anomaly(state.key, *kind)) {
        return refused("order " + order + " of shop " + context.shop_id.str() + " has no anomaly " +
                       command.kind);
    }
    if ((state.anomalies_showing & ~state.anomalies_acknowledged & bit(*kind)) == 0) {
        return nothing("order " + order + " has no " + command.kind + " left to acknowledge");
    }
    acknowledge(txn, state, *kind, context);
    change.post_memo(JournalReason::kMemoAcknowledged, command.kind);
    change.finish();
    const std::string value = lasting_value(*kind, state);
    return done(command.kind + " of order " + order + " is acknowledged" +
                (value.empty() ? "" : " at " + value));
}

Result<Reply> reset_order(const OrderReset& command, const CommandContext& context,
                          ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    OrderState& state = change.state();
    const Timestamp version =
        command.version.value_or(state.plausible_version.value_or(state.ordered_at));
    if (version >= state.version) {
        return refused("--version " + version.to_string() + " is not below " +
                       state.version.to_string() + ", the version of order " + command.order.str());
    }
    state.version = version;
    lower_refunds(state, version);
    state.device_version = std::min(state.device_version, version);
    forget_stale_digests(state, txn);
    acknowledge(txn, state, AnomalyKind::kVersionInFuture, context);
    change.post_memo(JournalReason::kMemoReset, version.to_string());
    change.finish();
    return done("order " + command.order.str() + " has version " + version.to_string() + " now");
}

}  // namespace sluice
