#include "core/apply/hold.hpp"

#include <algorithm>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {
namespace {

void set(OrderState& state, OrderFlag flag, bool on) {
    state.flags = static_cast<std::uint8_t>(on ? state.flags | flag : state.flags & ~flag);
}

/// A hold on the creator; its first id, the program of the account.
Result<CreatorHold> hold_of(const HoldTarget& target, const CommandContext& context,
                            LedgerTxn& txn) {
    if (!target.program.empty()) {
        const Result<ProgramRow> program = program_of_account(txn, context, target.program);
        if (!program) {
            return program.error();
        }
    }
    CreatorHold row;
    row.account = context.account;
    row.creator = first_id(txn, context.account, target.creator);
    row.program = target.program;
    return row;
}

void post_creator_mark(const CreatorHold& row, JournalReason reason, const CommandContext& context,
                       ProgramCache& programs, LedgerTxn& txn) {
    JournalGroup group =
        group_of(context.source, row.account, programs.settings(txn, row.account).row.closed_until);
    group.creator = row.creator;
    group.program = row.program;
    group.entries.push_back(mark_of(reason));
    post_group(txn, std::move(group));
}

Result<Reply> hold_creator(const HoldTarget& target, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn) {
    Result<CreatorHold> row = hold_of(target, context, txn);
    if (!row) {
        return row.error();
    }
    if (CreatorHold stored = *row; txn.load(stored)) {
        return nothing("creator " + target.creator.str() + " is held already, by " + stored.actor);
    }
    row->actor = context.actor();
    row->reason = context.reason();
    row->held_at = context.source.received_at;
    txn.put(*row);
    post_creator_mark(*row, JournalReason::kMarkHeld, context, programs, txn);
    return Reply{CommandOutcome::kDone, "creator " + target.creator.str() + " is held"};
}

Result<Reply> release_creator(const HoldTarget& target, const CommandContext& context,
                              ProgramCache& programs, LedgerTxn& txn) {
    Result<CreatorHold> row = hold_of(target, context, txn);
    if (!row) {
        return row.error();
    }
    if (!txn.load(*row)) {
        return nothing("creator " + target.creator.str() + " is not held");
    }
    txn.erase(*row);
    post_creator_mark(*row, JournalReason::kMarkReleased, context, programs, txn);
    return Reply{CommandOutcome::kDone, "creator " + target.creator.str() + " is released"};
}

/// Transfers that bring the lines of the live position to what they earn now; none without one.
void reprice(OrderChange& change, JournalReason reason, JournalEntry mark) {
    OrderState& state = change.state();
    if (!state.live) {
        change.post_mark(mark.reason, mark.line.view());
        return;
    }
    PostingCause cause;
    cause.all = reason;
    std::vector<JournalEntry> transfers = owed_changes(state, cause);
    if (!transfers.empty()) {
        change.post(*state.position(), std::move(transfers));
    }
    change.post_mark(mark.reason, mark.line.view());
}

/// What is released of an order that is held, rejected or both; nothing: it must be said.
std::optional<ReleaseOf> released(const OrderState& state, ReleaseOf asked) {
    if (asked != ReleaseOf::kWhatThereIs) {
        return asked;
    }
    if (state.has(kOrderHeld) && state.has(kOrderRejected)) {
        return std::nullopt;
    }
    return state.has(kOrderHeld) ? ReleaseOf::kHold : ReleaseOf::kReject;
}

/// Digests of stale events are forgotten, so that their bodies may be sent again (O5).
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
        return true;
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
    row->acknowledged_by = context.actor();
    row->acknowledged_at = context.source.received_at;
    txn.put(*row);
    state.anomalies_acknowledged |= bit(kind);
}

}  // namespace

Result<Reply> hold(const Hold& command, const CommandContext& context, ProgramCache& programs,
                   LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (!command.target.order) {
        return hold_creator(command.target, context, programs, txn);
    }
    OrderChange change(txn, programs, context.source);
    if (Status found = change.load(context, *command.target.order); !found) {
        return found.error();
    }
    if (change.state().has(kOrderHeld)) {
        return nothing("order " + command.target.order->str() + " is held already");
    }
    set(change.state(), kOrderHeld, true);
    change.post_mark(JournalReason::kMarkHeld);
    change.finish();
    return Reply{CommandOutcome::kDone, "order " + command.target.order->str() + " is held"};
}

Result<Reply> release(const Release& command, const CommandContext& context, ProgramCache& programs,
                      LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (!command.target.order) {
        return release_creator(command.target, context, programs, txn);
    }
    const std::string& order = command.target.order->str();
    OrderChange change(txn, programs, context.source);
    if (Status found = change.load(context, *command.target.order); !found) {
        return found.error();
    }
    OrderState& state = change.state();
    const std::optional<ReleaseOf> of = released(state, command.of);
    if (!of) {
        return refused("order " + order + " is held and rejected: say --hold or --reject");
    }
    const bool of_hold = *of == ReleaseOf::kHold;
    const OrderFlag flag = of_hold ? kOrderHeld : kOrderRejected;
    if (!state.has(flag)) {
        return nothing("order " + order + " is not " + (of_hold ? "held" : "rejected"));
    }
    set(state, flag, false);
    if (of_hold) {
        change.post_mark(JournalReason::kMarkReleased, "hold");
    } else {
        reprice(change, JournalReason::kRelease, mark_of(JournalReason::kMarkReleased, "reject"));
    }
    change.finish();
    return Reply{CommandOutcome::kDone, "order " + order + " is released"};
}

Result<Reply> reject_order(const Reject& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    if (change.state().has(kOrderRejected)) {
        return nothing("order " + command.order.str() + " is rejected already");
    }
    set(change.state(), kOrderRejected, true);
    reprice(change, JournalReason::kReject, mark_of(JournalReason::kMarkRejected));
    change.finish();
    return Reply{CommandOutcome::kDone, "order " + command.order.str() + " is rejected"};
}

Result<Reply> acknowledge_anomaly(const AnomalyAck& command, const CommandContext& context,
                                  ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    const std::string& order = command.order.str();
    const std::optional<AnomalyKind> kind = parse_anomaly_kind(command.kind);
    if (!kind) {
        return Error{ErrorCode::kInvalid, command.kind + " is no kind of anomaly"};
    }
    OrderState& state = change.state();
    if (!txn.anomaly(state.key, *kind)) {
        return refused("order " + order + " of shop " + context.shop_id.str() + " has no anomaly " +
                       command.kind);
    }
    if ((state.anomalies_showing & ~state.anomalies_acknowledged & bit(*kind)) == 0) {
        return nothing("nothing of " + command.kind + " is left to acknowledge for order " + order);
    }
    acknowledge(txn, state, *kind, context);
    change.post_mark(JournalReason::kMarkAcknowledged, command.kind);
    change.finish();
    return Reply{CommandOutcome::kDone, command.kind + " of order " + order + " is acknowledged"};
}

namespace {

/// Rows of a version above it get it. Of two rows of a line the one that stood stands: a reset
/// books nothing.
void set_refunds_back(OrderState& state, Timestamp version) {
    std::vector<RefundRow*> rows;
    std::vector<std::uint64_t> arrivals;
    for (RefundRow& row : state.refunds) {
        if (row.version >= version) {
            rows.push_back(&row);
            arrivals.push_back(row.stated);
        }
    }
    std::sort(rows.begin(), rows.end(), [](const RefundRow* a, const RefundRow* b) {
        return std::pair(a->version, a->stated) < std::pair(b->version, b->stated);
    });
    std::sort(arrivals.begin(), arrivals.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i]->version = version;
        rows[i]->stated = arrivals[i];
    }
}

}  // namespace

Result<Reply> reset_order(const OrderReset& command, const CommandContext& context,
                          ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    OrderState& state = change.state();
    const Timestamp version =
        command.version.value_or(state.sane_version.value_or(state.ordered_at));
    if (version >= state.version) {
        return refused("--version " + version.to_string() + " is not below " +
                       state.version.to_string() + ", the version of order " + command.order.str());
    }
    state.version = version;
    set_refunds_back(state, version);
    state.device_version = std::min(state.device_version, version);
    forget_stale_digests(state, txn);
    acknowledge(txn, state, AnomalyKind::kVersionInFuture, context);
    change.post_mark(JournalReason::kMarkReset, version.to_string());
    change.finish();
    return Reply{CommandOutcome::kDone,
                 "order " + command.order.str() + " has version " + version.to_string() + " now"};
}

}  // namespace sluice
