// Limits: sums of what took effect without a second person, which a limit of the policy counts
// together, so that no split of an amount escapes it (controls K4).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/money.hpp"

namespace sluice {

/// How far back a limit counts, from the accounting date of a command.
inline constexpr std::int64_t kLimitDays = 31;

/// Sums by creator and currency.
using LimitSums = std::map<std::pair<CreatorId, Currency>, Decimal>;
/// Adds an amount (its absolute value).
void add_to(LimitSums& sums, const CreatorId& creator, const Money& money);

/// Returns what counts against a limit for a command that is dated `at`. Creators and currencies
/// without anything are absent.
[[nodiscard]] LimitSums limit_sums(LedgerReader& ledger, AccountNumber account, LimitKind kind,
                                   Timestamp at);
/// Likewise for one creator and currency: 0 or more.
[[nodiscard]] Decimal limit_sum(LedgerReader& ledger, AccountNumber account, LimitKind kind,
                                const CreatorId& creator, Currency currency, Timestamp at);
/// Returns whether another actor must approve the amount (its absolute value): needs_approval() of
/// its sum with what counts already.
[[nodiscard]] bool exceeds_limit(const std::optional<std::vector<Money>>& above,
                                 const Money& amount, const Decimal& counted);

/// Likewise for amounts of one command that is dated `at`: whether one of them is too much.
[[nodiscard]] bool exceeds_limit(const std::optional<std::vector<Money>>& above,
                                 const LimitSums& amounts, AccountNumber account, LimitKind kind,
                                 Timestamp at, LedgerReader& ledger);

/// Counts an amount (its absolute value), unless another actor approved the command `use.id`.
void count_use(LimitUse use, LedgerTxn& txn);
/// Counts a payout that was just closed and needs no approval, without reading the ledger.
/// @param at  Accounting date of the close.
void count_payout(const Payout& payout, Timestamp at, LedgerTxn& txn);
/// Removes payouts of one account from the sums, because they are void or need an approval now.
/// Reads the ledger once.
void uncount_payouts(std::span<const Payout> payouts, LedgerTxn& txn);

}  // namespace sluice
