// Owed changes: the transfers that bring an order's position from what is due of it to what it
// earns now, after an update, a refund, a cancellation or a rejection (books J1; rules R3).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ledger/journal_rows.hpp"
#include "core/ledger/order_state.hpp"

namespace sluice {

/// Why commissions may have changed.
struct PostingCause {
    /// Every transfer has this reason: the order gets its creator now, is rejected or released.
    std::optional<JournalReason> all{};
    std::size_t frozen_before = 0;  ///< Lines that the position knew: others bring ACCRUAL.
    bool cancellation_changed = false;
    std::vector<LineItemId> refunds_changed{};  ///< kRefund; else kUpdate.
};

/// The transfers, by (line, currency), that bring the live position's lines to what they earn now.
/// At most one per line and currency, none 0. Nothing is changed.
[[nodiscard]] std::vector<JournalEntry> owed_changes(const OrderState& state,
                                                     const PostingCause& cause);
/// The transfers that take back what is due of the position's lines; what was entered by hand
/// stays.
[[nodiscard]] std::vector<JournalEntry> take_back(const Position& position, JournalReason reason);

/// How transfers come into a position: the number of the first, their accounting date, and whether
/// they came late, so that each names the line's first entry (S1).
struct Booking {
    std::uint64_t first_entry = 0;
    Timestamp accounting_date;
    bool late = false;
};
/// Adds the transfers to the position's dues.
void enter(Position& position, std::vector<JournalEntry>& transfers, const Booking& booking);

}  // namespace sluice
