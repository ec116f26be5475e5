#include "core/orders/anomaly.hpp"

#include <utility>

#include "core/orders/post.hpp"
#include "core/orders/sums.hpp"
#include "core/orders/write_offs.hpp"
#include "core/rules/plausibility.hpp"

namespace sluice {
namespace {

/// Returns the stored row, or a new one.
Anomaly row_of(LedgerTxn& txn, const OrderState& state, AnomalyKind kind, const Source& source,
               bool by_event) {
    if (std::optional<Anomaly> stored = txn.anomaly(state.key, kind)) {
        return *std::move(stored);
    }
    Anomaly row{.order = state.key,
                .kind = kind,
                .node = txn.head().node,
                .first_seq = by_event ? source.seq : SequenceNumber{},
                .recorded_at = source.received_at};
    ++txn.mutable_head().totals.anomalies[static_cast<std::size_t>(kind)];
    return row;
}

bool is_credited(LedgerTxn& txn, const OrderState& state, const AccountSettings& settings) {
    if (settings.row.open_credits == 0) {
        return false;
    }
    const std::optional<ShopRow> shop = txn.shop(state.key.shop);
    bool found = false;
    if (shop) {
        txn.scan(CreditOfOrder{state.key.account, shop->shop_id, state.key.order_id, {}}, {3, 3},
                 [&found](const CreditOfOrder&) {
                     found = true;
                     return false;
                 });
    }
    return found;
}

/// Ends an anomaly: it blocks no more, and its acknowledgement is dropped.
void end_anomaly(LedgerTxn& txn, OrderState& state, AnomalyKind kind) {
    if (std::optional<Anomaly> row = txn.anomaly(state.key, kind)) {
        const Anomaly stored = *row;
        row->showing = false;
        row->acknowledged_by.clear();
        row->acknowledged_at.reset();
        row->acknowledged_value.clear();
        put_anomaly(txn, *row, stored);
    }
    state.anomalies_showing &= ~bit(kind);
    state.anomalies_acknowledged &= ~bit(kind);
}

bool needs_attention(const Anomaly& row) {
    return row.count != 0 && row.showing && !row.acknowledged_at;
}

/// Writes an anomaly that shows, with a memo entry if it did not need attention before.
void put_shown(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
               const Source& source, const Anomaly& row, const Anomaly& stored) {
    put_anomaly(txn, row, stored);
    if (needs_attention(row) && !needs_attention(stored)) {
        post_order_memo(txn, state, source, settings.row.closed_until, JournalReason::kMemoAnomaly,
                        to_string(row.kind));
    }
}

struct NoteAnomaly {
    SourceNote note;
    AnomalyKind kind;
    const char* message;
};
constexpr NoteAnomaly kNoteAnomalies[] = {
    {SourceNote::kRefundNotByLine, AnomalyKind::kRefundNotByLine,
     "the platform refunded an amount without naming lines, which was shared among them"},
    {SourceNote::kTotalsDiffer, AnomalyKind::kTotalsDiffer,
     "the platform's total is less than lines and shipping, or an amount was below 0"},
    {SourceNote::kQuantityRounded, AnomalyKind::kQuantityRounded,
     "the platform sold a fraction of a piece, which was rounded up"},
};

/// Counts and describes a lasting kind that holds. A value beyond the acknowledged one blocks again
/// (K6).
void keep_showing(LedgerTxn& txn, OrderState& state, AnomalyKind kind,
                  const AccountSettings& settings, const Source& source,
                  const PlausibilityContext& context, std::optional<JudgedEvent> event) {
    const bool begins = (state.anomalies_showing & bit(kind)) == 0;
    const bool counts = begins || (event && kind != AnomalyKind::kOrderedLongAgo);
    const bool acknowledged = (state.anomalies_acknowledged & bit(kind)) != 0;
    if (!counts && !acknowledged) {
        return;
    }
    Anomaly row = row_of(txn, state, kind, source, event.has_value());
    const Anomaly stored = row;
    const std::string value = lasting_value(kind, state);
    const bool blocks_again = acknowledged && goes_beyond(kind, value, row.acknowledged_value);
    if (!counts && !blocks_again) {
        return;
    }
    if (row.count == 0 || row.value != value) {
        row.message = lasting_message(kind, state, context);
        row.value = value;
    }
    row.count += counts ? 1U : 0U;
    row.showing = true;
    state.anomalies_showing |= bit(kind);
    if (blocks_again) {
        row.acknowledged_by.clear();
        row.acknowledged_at.reset();
        state.anomalies_acknowledged &= ~bit(kind);
    }
    put_shown(txn, state, settings, source, row, stored);
}

}  // namespace

void put_anomaly(LedgerTxn& txn, const Anomaly& row, const Anomaly& stored) {
    txn.put(row);
    if (needs_attention(row) != needs_attention(stored)) {
        list_attention(txn, row.order, attention_of(row.kind), row.recorded_at,
                       needs_attention(row));
    }
}

void show_anomaly(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                  const ShownAnomaly& shown, const Source& source) {
    Anomaly row = row_of(txn, state, shown.kind, source, true);
    const Anomaly stored = row;
    if (row.count == 0) {
        row.message = shown.message;
    }
    ++row.count;
    row.showing = true;
    row.acknowledged_by.clear();
    row.acknowledged_at.reset();
    put_shown(txn, state, settings, source, row, stored);
    state.anomalies_showing |= bit(shown.kind);
    state.anomalies_acknowledged &= ~bit(shown.kind);
}

std::uint32_t show_notes(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                         SourceNotes notes, const Source& source) {
    std::uint32_t shown = 0;
    for (const auto& [note, kind, message] : kNoteAnomalies) {
        if (!notes.has(note)) {
            if ((state.anomalies_showing & bit(kind)) != 0) {
                end_anomaly(txn, state, kind);
            }
            continue;
        }
        Anomaly row = row_of(txn, state, kind, source, true);
        const Anomaly stored = row;
        row.message = message;
        ++row.count;
        row.showing = true;
        put_shown(txn, state, settings, source, row, stored);
        state.anomalies_showing |= bit(kind);
        shown |= bit(kind);
    }
    return shown;
}

std::uint32_t judge_anomalies(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                              const Source& source, std::optional<JudgedEvent> event) {
    return judge_anomalies(txn, state, settings, source, event, is_credited(txn, state, settings));
}

std::uint32_t judge_anomalies(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                              const Source& source, std::optional<JudgedEvent> event,
                              bool is_credited) {
    const PlausibilityContext context{source.received_at, settings.policy, event && event->is_first,
                                      is_credited, restores_written_off(txn, state)};
    const std::uint32_t holds = lasting_anomalies(state, context);
    const std::uint32_t before = state.anomalies_showing & ~(kMomentaryKinds | kNoteKinds);
    if ((holds | before) == 0) {
        return 0;
    }
    for (unsigned number = 1; number < kAnomalyKinds; ++number) {
        const auto kind = static_cast<AnomalyKind>(number);
        if ((holds & bit(kind)) == 0) {
            if ((before & bit(kind)) != 0) {
                end_anomaly(txn, state, kind);
            }
            continue;
        }
        keep_showing(txn, state, kind, settings, source, context, event);
    }
    return holds;
}

void acknowledge_anomaly(OrderState& state, Anomaly& row, const Source& source) {
    row.acknowledged_by = source.actor;
    row.acknowledged_at = source.received_at;
    row.value = row.acknowledged_value = lasting_value(row.kind, state);
    state.anomalies_acknowledged |= bit(row.kind);
}

}  // namespace sluice
