// Open amounts: what positions and credits have due, taken and open (books P1).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/ledger/command_rows.hpp"
#include "core/ledger/journal_rows.hpp"
#include "core/ledger/order_state.hpp"
#include "core/ledger/payout_rows.hpp"

namespace sluice {

[[nodiscard]] Decimal due_in(const Position& position, Currency currency);
[[nodiscard]] Decimal taken_in(const Position& position, Currency currency);
/// As OpenAmount::blocks has them: kBlockedByHold, unacknowledged anomalies.
[[nodiscard]] std::uint32_t blocks_of(const OrderState& state) noexcept;
/// Currencies of its dues, sorted.
[[nodiscard]] std::vector<Currency> currencies_of(const Position& position);
/// True if it has an item in a standing payout: it matures at once.
[[nodiscard]] bool has_standing(const Position& position) noexcept;
/// True if an item of kind COMMISSION stands in a payout that is not of `run`: its lines then give
/// items of kind ADJUSTMENT (P2).
[[nodiscard]] bool has_commission(const Position& position, std::string_view run) noexcept;

/// For the index by which payouts find it. Every position, earlier ones too.
[[nodiscard]] std::vector<OpenAmount> open_amounts(const OrderState& state);
[[nodiscard]] std::optional<OpenAmount> open_amount(const MoneyCommand& credit);

/// The sum of the live position's standing COMMISSION items; without any, what is due (P2).
struct CommissionAmount {
    Currency currency;
    Decimal amount;
};
[[nodiscard]] CommissionAmount commission_amount(const OrderState& state);

/// What a close takes, by line; never empty sums.
using LineAmounts = std::map<LineItemId, Decimal>;
/// take = min(due as of T, due now) - taken, from the side with the smaller sum (P1). Empty: the
/// sum is 0.
/// @param as_of  By line, what was due then; nullptr: as now.
[[nodiscard]] LineAmounts take_of(const Position& position, Currency currency,
                                  const LineAmounts* as_of);
/// As of T includes T.
[[nodiscard]] Timestamp next_instant(Timestamp at) noexcept;
/// What was due of the position then, by line.
[[nodiscard]] LineAmounts due_as_of(const std::vector<JournalGroup>& journal,
                                    const Position& position, Currency currency, Timestamp until);

}  // namespace sluice
