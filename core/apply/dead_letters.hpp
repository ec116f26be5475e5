// Dead letters: inputs that could not be applied, and how their letters end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/apply/prepared_input.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Which orders may have rows in dead_orders, so that an order is not looked up there for nothing:
/// on PostgreSQL that would be a round trip for each order. An applier has one.
class UnreadOrders {
public:
    /// Returns false if no shop's order of this id has a letter. The first call reads all rows.
    bool may_have(std::string_view order_id, LedgerReader& ledger);
    void add(const OrderId& order_id);
    /// Forgets what an aborted transaction added.
    void clear() noexcept { ids_.reset(); }

private:
    std::optional<std::unordered_set<std::size_t>> ids_;  ///< Hashes; rows that ended stay.
};

/// Stores the letter of an input. The input counts as done; a person corrects the cause and replays
/// it.
/// @param prepared  The input, which may be unreadable.
void store_letter(const Input& input, const PreparedInput& prepared, std::string reason,
                  UnreadOrders& unread, LedgerTxn& txn);

/// Erases a letter that was replayed or discarded. The caller counts its input again.
void erase_letter(const DeadLetter& letter, LedgerTxn& txn);

/// Ends the letters of an order that could not be translated, because a state of it was: those of
/// other inputs than `but`, unless their version is later than `version`. They count as stale. Only
/// letters of this node are found.
void end_letters(const OrderKey& order, Timestamp version, SequenceNumber but, LedgerTxn& txn);

}  // namespace sluice
