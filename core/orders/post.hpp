// Post: writing what happened into the ledger: journal, balances, indexes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/journal/open_amounts.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/owed_changes.hpp"

namespace sluice {

/// What the indexes said of an order before it changed. Empty for a new order.
struct IndexedBefore {
    std::vector<OpenAmount> open;
    std::vector<WaitKey> waiting;
    Timestamp ordered_at;
};
[[nodiscard]] IndexedBefore indexed(const OrderState& state);

/// Brings the index of open amounts and the index of waiting orders to what `state` says now.
void reindex(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before);
void reindex_open(LedgerTxn& txn, const std::vector<OpenAmount>& before,
                  const std::vector<OpenAmount>& after);

/// A group of the source, without entries.
[[nodiscard]] JournalGroup group_of(const Source& source, AccountNumber account,
                                    const std::optional<Timestamp>& closed_until);
/// A mark. `line`: what docs/record-format.md says that the mark keeps there.
[[nodiscard]] JournalEntry mark_of(JournalReason reason, std::string_view line = {});
/// Numbers, seals and appends the group, and adds its transfers to the balances.
/// @return the number of the first entry; 0: the group is empty, nothing was written.
std::uint64_t post_group(LedgerTxn& txn, JournalGroup group);

/// Transfers into `owed` of a position of the order, then marks: one group.
/// @return as post_group().
std::uint64_t post_owed(LedgerTxn& txn, OrderState& state, Position& position, const Source& source,
                        const std::optional<Timestamp>& closed_until,
                        std::vector<JournalEntry> transfers, std::vector<JournalEntry> marks = {});

}  // namespace sluice
