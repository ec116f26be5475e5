// Owed changes: the postings that take an order's position from its accrued amount to the amount
// that it earns now, after an update, a refund, a cancellation or a rejection (rules J1, R3).
//
// The amount may fall below what was paid; core/positions/open_amounts shows that as a debt.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ledger/journal_rows.hpp"
#include "core/ledger/order_state.hpp"

namespace sluice {

/// The reason why commissions may have changed.
struct PostingCause {
    /// Reason of every posting, if the order is being attributed, rejected or released.
    std::optional<JournalReason> all{};
    /// Lines that were frozen before; later ones have the reason ACCRUAL.
    std::size_t frozen_before = 0;
    bool cancellation_changed = false;
    std::vector<LineItemId> refunds_changed{};  ///< kRefund; else kUpdate.
};

/// Computes the postings of the live position's lines, by (line, currency): at most one each, none
/// 0. Changes nothing.
[[nodiscard]] std::vector<JournalEntry> owed_changes(const OrderState& state,
                                                     const PostingCause& cause);
/// Computes the postings that reverse the accrued amounts of the position's lines. Adjustments by
/// hand stay.
[[nodiscard]] std::vector<JournalEntry> take_back(const Position& position, JournalReason reason);

/// The facts of a group that a position keeps: its first entry, its accounting date, and whether it
/// came late, so that each posting names the line's first entry (S1).
struct PostingContext {
    std::uint64_t first_entry = 0;
    Timestamp accounting_date;
    bool late = false;
};
/// Adds the postings to the position's accruals.
void enter(Position& position, std::vector<JournalEntry>& postings, const PostingContext& context);

}  // namespace sluice
