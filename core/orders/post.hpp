// Post: writes journal entries, balances and the indexes of orders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/owed_changes.hpp"

namespace sluice {

/// The index rows of an order before it changed; empty for a new order.
struct IndexedBefore {
    std::vector<OpenAmount> open;
    std::vector<WaitKey> waiting;
    bool exists = false;  ///< The members below are set.
    Timestamp ordered_at;
    CreatorId creator;  ///< Empty means none.
    std::vector<std::string> codes;
    std::vector<std::string> numbers;  ///< As all_numbers() returns them.
    std::optional<Landed> landed;
    std::optional<Coded> coded;
};
[[nodiscard]] IndexedBefore indexed(const OrderState& state);

/// Updates the indexes of open amounts and waiting orders, and the lists, to `state`.
void reindex(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before);
void reindex_open(LedgerTxn& txn, const std::vector<OpenAmount>& before,
                  const std::vector<OpenAmount>& after);

/// Makes a group of the source, without entries.
[[nodiscard]] JournalGroup group_of(const Source& source, AccountNumber account,
                                    const std::optional<Timestamp>& closed_until);
/// Makes a memo entry.
/// @param line  The memo entry's object, as docs/record-format.md lists it.
[[nodiscard]] JournalEntry memo_of(JournalReason reason, std::string_view line = {});
/// Numbers, seals and appends the group, and adds its postings to balances and sums. Returns the
/// number of the first entry, or 0 if the group is empty.
std::uint64_t post_group(LedgerTxn& txn, JournalGroup group);

/// Posts a memo entry on the order that names no creator, and adds the group to the order.
void post_order_memo(LedgerTxn& txn, OrderState& state, const Source& source,
                     const std::optional<Timestamp>& closed_until, JournalReason reason,
                     std::string_view line);

/// Appends one group: postings to the ledger account `owed` of a position of the order, then memo
/// entries. Returns as post_group() does.
std::uint64_t post_owed(LedgerTxn& txn, OrderState& state, Position& position, const Source& source,
                        const std::optional<Timestamp>& closed_until,
                        std::vector<JournalEntry> postings, std::vector<JournalEntry> memos = {});

}  // namespace sluice
