// Limits: sums of what took effect without a second person, which a limit of the policy counts
// together, so that no split of an amount escapes it (controls K4, K13): neither over commands, nor
// over creators who are paid as one payee.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/money.hpp"

namespace sluice {

/// How far back a limit counts, from the accounting date of a command. Whatever is dated later
/// counts as well, so that a clock that runs back hides nothing.
inline constexpr std::int64_t kLimitDays = 31;
/// How far back the limit of a payout run counts: closes that follow one another are one run.
inline constexpr std::int64_t kRunHours = 24;

/// Returns the digest of the creator's present payee, or zeros if there is none.
[[nodiscard]] Digest256 payee_of(LedgerReader& ledger, AccountNumber account,
                                 const CreatorId& creator);

/// An amount that is compared with a limit.
struct LimitAmount {
    CreatorId creator;
    Digest256 payee{};  ///< As in LimitUse.
    Money money;        ///< Its absolute value counts.
};

/// Sums that count against a limit already, for a command that is dated `at`.
class LimitSums {
public:
    /// @param profiles  Has the payees that creators have now.
    LimitSums(LedgerReader& ledger, AccountNumber account, LimitKind kind, Timestamp at,
              LedgerReader& profiles);

    /// Returns for each amount why another actor must approve it, or an empty text: the amounts of
    /// its creator, or of its payee, are too much with what counts for them already.
    [[nodiscard]] std::vector<std::string> excesses(const std::optional<std::vector<Money>>& above,
                                                    std::span<const LimitAmount> amounts) const;
    /// Returns the currencies that something counts in.
    [[nodiscard]] std::set<Currency> currencies() const;
    /// Returns the sum that counts for the limit of a payout run.
    [[nodiscard]] Decimal of_run(Currency currency) const;

private:
    std::map<std::pair<CreatorId, Currency>, Decimal> creators_;
    std::map<std::pair<Digest256, Currency>, Decimal> payees_;
    std::map<Currency, Decimal> run_;
};

/// Counts an amount (its absolute value), unless another actor approved the command `use.id`.
void count_use(LimitUse use, LedgerTxn& txn);
/// Counts a payout that was just closed and needs no approval, without reading the ledger.
/// @param at  Accounting date of the close.
void count_payout(const Payout& payout, Timestamp at, LedgerTxn& txn);
/// Removes payouts of one account from the sums, because they are void or need an approval now.
/// Reads the ledger once.
void uncount_payouts(std::span<const Payout> payouts, LedgerTxn& txn);

}  // namespace sluice
