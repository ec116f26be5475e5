// Open amounts: what positions and credits have accrued, what payouts have allocated of it, and
// what is open: accrued but not allocated (rule P1).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/ledger/command_rows.hpp"
#include "core/ledger/journal_rows.hpp"
#include "core/ledger/order_state.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/payout_rows.hpp"

namespace sluice {

[[nodiscard]] Decimal accrued_in(const Position& position, Currency currency);
[[nodiscard]] Decimal allocated_in(const Position& position, Currency currency);
/// Returns currencies of the position's accruals, sorted.
[[nodiscard]] std::vector<Currency> currencies_of(const Position& position);
/// Returns true if an active payout has an item of the position. The rest of the position is then
/// payable at once.
[[nodiscard]] bool has_active_payout(const Position& position) noexcept;
/// Returns true if an active payout of a payout run other than `run` has an item of the position of
/// kind COMMISSION. The position's lines then become items of kind ADJUSTMENT (P2).
[[nodiscard]] bool is_in_another_run(const Position& position, std::string_view run) noexcept;

/// Returns true if the payout is active and its items of the position add up to less than 0.
[[nodiscard]] inline bool is_deduction(const PositionPayout& payout) noexcept {
    return payout.active && payout.amount.is_negative();
}
[[nodiscard]] bool is_open_above_zero(const Position& position, Currency currency);
/// Returns the first amount that a position has open above 0 although an active payout deducted an
/// amount of it in that currency, or nullopt.
[[nodiscard]] std::optional<Money> open_after_deduction(const OrderState& state);

/// Returns whether two rows of one order or credit have the same key.
[[nodiscard]] bool is_same_row(const OpenAmount& a, const OpenAmount& b) noexcept;

/// Returns the index row of an amount that a position has open, as of now.
[[nodiscard]] OpenAmount open_row(const OrderState& state, const Position& position,
                                  Currency currency, const Decimal& amount);
[[nodiscard]] OpenAmount open_row(const MoneyCommand& credit, const Decimal& amount);
/// Returns the row alone as a sum of its hour, without a node. Throws DamagedRow if the amount has
/// more digits than its currency.
/// @param sign  -1 returns what takes the row out of a sum.
[[nodiscard]] OpenHours open_hours(const OpenAmount& row, int sign = 1);
/// Returns all index rows of an order, those of earlier positions included.
[[nodiscard]] std::vector<OpenAmount> open_amounts(const OrderState& state);
/// Returns the index row of a credit, if anything of it is open.
[[nodiscard]] std::vector<OpenAmount> open_amounts(const MoneyCommand& credit);
/// Returns true for a row of a credit, false for one of a position.
[[nodiscard]] inline bool is_credit(const OpenAmount& row) noexcept {
    return row.shop.value == 0;
}

/// Returns the sum of the live position's COMMISSION items in active payouts, or the accrued amount
/// if there are none (P2).
[[nodiscard]] Money commission_amount(const OrderState& state);

using LineAmounts = std::map<LineItemId, Decimal>;
/// Returns the sum, with the currency's digits.
[[nodiscard]] Decimal sum_of(const LineAmounts& amounts, Currency currency);
/// Returns the amounts that a close until T pays of a position, by line: min(accrued before T,
/// accrued now) - allocated, from the side with the smaller sum (P1). Empty if the sum is 0.
/// @param before  Accrued before T; nullptr means the same as now.
[[nodiscard]] LineAmounts payable_by_line(const Position& position, Currency currency,
                                          const LineAmounts* before);
/// Returns the amounts that the position had accrued before `until`, by line and accounting date
/// (K8).
[[nodiscard]] LineAmounts accrued_as_of(const std::vector<JournalGroup>& journal,
                                        const Position& position, Currency currency,
                                        Timestamp until);

}  // namespace sluice
