// Posting: an attributed order's commissions, and the journal entries that bring the ledger there
// (rules M3, R3, J1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/rate_book.hpp"

namespace sluice {

/// Freezes a rate with every line of the payload that has none yet.
/// @return the ids of these lines.
std::vector<LineItemId> freeze_rates(OrderState& state, const RateBook& rates,
                                     LedgerReader& ledger);

/// Why commissions may have changed.
struct PostingCause {
    /// kAccrual or kAttribution: the order gets its creator now, every entry has this reason.
    std::optional<JournalReason> attributed;
    std::vector<LineItemId> new_lines;        ///< kAccrual.
    bool cancellation_changed = false;        ///< kCancellation.
    std::vector<LineItemId> refunds_changed;  ///< kRefund; else kUpdate.
    Currency currency_before;
};

/// Brings every line's commission up to date and the order's dues with them.
/// @return what is to be written to the journal: at most one entry per line and currency, none 0.
[[nodiscard]] std::vector<JournalLine> post_commissions(OrderState& state,
                                                        const PostingCause& cause);

/// Adds to the due of one currency.
void add_due(OrderState& state, Currency currency, const Decimal& amount);

/// What the order has open, for the index by which payouts find it.
[[nodiscard]] std::vector<OpenAmount> open_amounts(const OrderState& state);

/// What the order's commission is: what is due until it is paid, then the value paid (P1).
struct CommissionAmount {
    Currency currency;
    Decimal amount;
};
[[nodiscard]] CommissionAmount commission_amount(const OrderState& state);

}  // namespace sluice
