// Next close: what `payout close` would take now of what is payable, over all programs of an
// account, and what it would leave (rules P1, P5). It reads balances alone, so that a page may ask
// often; `payout preview` reads every open amount, and finds the same sums.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/programs/policy.hpp"
#include "core/statements/statements.hpp"

namespace sluice {

/// Returns why a close leaves out a creator, or nothing if it pays the amount.
/// @param amount  What the close found for the creator in the currency, over its programs.
[[nodiscard]] std::optional<SkipReason> skip_reason(const Policy& policy, const CreatorRow& profile,
                                                    Currency currency, const Decimal& amount,
                                                    Timestamp now, bool ignore_minimum = false);

/// Returns when a creator whose payee changed is paid again, or nothing if nothing delays it.
[[nodiscard]] std::optional<Timestamp> cooled_at(const Policy& policy, const CreatorRow& profile);

/// Returns the first instant of the first payout day that does not begin before `at`, or nothing if
/// the account's policy names none.
[[nodiscard]] std::optional<Timestamp> payout_day_from(const Policy& policy, Timestamp at);

/// The payable amount of a creator in one currency, over all programs.
struct CreatorClose {
    CreatorId creator;  ///< First id.
    Currency currency;
    Decimal amount;
    std::optional<SkipReason> left;  ///< Why the close leaves it; nothing if it takes it.
};

/// Adds up balances of an account, and decides as a close does.
class NextClose {
public:
    NextClose(LedgerReader& ledger, AccountNumber account, const Policy& policy)
        : ledger_(ledger), account_(account), policy_(policy) {}

    /// Call it outside of scans of the ledger, or within: it reads nothing.
    void add(const BalanceAt& balance);
    /// Returns the creators with an amount other than 0, by first id and currency.
    [[nodiscard]] std::vector<CreatorClose> decide(Timestamp now) const;

private:
    [[nodiscard]] std::map<CreatorId, CreatorRow> profiles() const;

    LedgerReader& ledger_;
    AccountNumber account_;
    const Policy& policy_;
    std::map<std::pair<CreatorId, Currency>, Decimal> payable_;
};

/// Returns what the next close does for one creator.
/// @param creator  First id.
/// @param totals   The creator's open amounts by day. Null, or empty.
[[nodiscard]] std::vector<CreatorClose> next_close_of(LedgerReader& ledger, AccountNumber account,
                                                      const CreatorId& creator,
                                                      const Policy& policy, Timestamp now,
                                                      OpenTotals* totals = nullptr);

}  // namespace sluice
