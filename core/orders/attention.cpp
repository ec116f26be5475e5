#include "core/orders/attention.hpp"

namespace sluice {
namespace {

Attention attention_row(const OrderKey& order, AttentionKind kind, Timestamp since) {
    return {order.account, kind, since, order.shop, order.order_id};
}

void count_attention(LedgerTxn& txn, AccountNumber account, AttentionKind kind, bool begins) {
    AttentionCount count{account, kind, txn.head().number};
    ++(begins ? count.begun : count.ended);
    txn.add_row(count);
}

}  // namespace

void list_attention(LedgerTxn& txn, const OrderKey& order, AttentionKind kind, Timestamp since,
                    bool begins) {
    const Attention row = attention_row(order, kind, since);
    begins ? txn.put(row) : txn.erase(row);
    count_attention(txn, order.account, kind, begins);
}

/// The memo entry of each hold has its time. Holds that ended have no row.
void end_hold(LedgerTxn& txn, const OrderState& state) {
    for (const JournalGroup& group : txn.order_journal(state)) {
        for (const JournalEntry& entry : group.entries) {
            if (entry.reason == JournalReason::kMemoHeld) {
                txn.erase(attention_row(state.key, AttentionKind::kHold, group.recorded_at));
            }
        }
    }
    count_attention(txn, state.key.account, AttentionKind::kHold, false);
}

}  // namespace sluice
