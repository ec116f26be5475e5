// Attention: lists and counts what a person should look at, held orders and anomalies (reading Z5).
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/ledger/overview_rows.hpp"

namespace sluice {

/// @param begins  False takes the order off the list.
void list_attention(LedgerTxn& txn, const OrderKey& order, AttentionKind kind, Timestamp since,
                    bool begins);
/// Takes the order's hold off the list, whenever it began.
void end_hold(LedgerTxn& txn, const OrderState& state);

}  // namespace sluice
