// Posting: writing what happened to an order into the ledger: journal, balances, indexes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/posting.hpp"

namespace sluice {

/// What the indexes said of an order before it changed. Empty for a new order.
struct IndexedBefore {
    std::vector<OpenAmount> open;
    std::vector<WaitKey> waiting;
};
[[nodiscard]] IndexedBefore indexed(const OrderState& state);

/// Brings the index of open amounts and the index of waiting orders to what `state` says now.
void reindex(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before);

/// What a journal group says beside its entries.
struct Posting {
    SequenceNumber event_seq;
    Timestamp recorded_at;
    std::string note, actor;
};
/// Appends the entries as one group, sealed, and adds them to the balances.
/// @return the number of the first entry; 0 if there are none.
std::uint64_t post_entries(LedgerTxn& txn, const OrderState& state, Posting posting,
                           std::vector<JournalLine> entries);

}  // namespace sluice
