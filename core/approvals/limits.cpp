#include "core/approvals/limits.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/commands/ids.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/programs/policy.hpp"

namespace sluice {
namespace {

// Columns of the key that a scan compares.
constexpr unsigned kOfKind = 2;       // account, kind
constexpr unsigned kFromCreator = 3;  // and the creator
constexpr unsigned kOfCreator = 4;    // and the currency
constexpr unsigned kSince = 5;        // and the instant

Decimal absolute(const Decimal& amount) {
    return amount.is_negative() ? -amount : amount;
}

}  // namespace

void add_to(LimitSums& sums, const CreatorId& creator, const Money& money) {
    sums.try_emplace({creator, money.currency}, zero_amount(money.currency)).first->second +=
        absolute(money.amount);
}

LimitSums limit_sums(LedgerReader& ledger, AccountNumber account, LimitKind kind, Timestamp at) {
    LimitSums sums;
    const Timestamp from = at.plus_days(-kLimitDays);
    ledger.scan(LimitUse{account, kind, {}, {}, {}, {}, {}}, {kOfKind, kOfKind},
                [&](const LimitUse& use) {
                    if (use.at >= from && use.at <= at) {
                        sums.try_emplace({use.creator, use.currency}, zero_amount(use.currency))
                            .first->second += use.amount;
                    }
                });
    return sums;
}

Decimal limit_sum(LedgerReader& ledger, AccountNumber account, LimitKind kind,
                  const CreatorId& creator, Currency currency, Timestamp at) {
    Decimal sum = zero_amount(currency);
    ledger.scan(LimitUse{account, kind, creator, currency, at.plus_days(-kLimitDays), {}, {}},
                {kOfCreator, kSince}, [&](const LimitUse& use) {
                    if (use.at <= at) {
                        sum += use.amount;
                    }
                    return use.at <= at;
                });
    return sum;
}

bool exceeds_limit(const std::optional<std::vector<Money>>& above, const Money& amount,
                   const Decimal& counted) {
    return needs_approval(above, {amount.currency, absolute(amount.amount) + counted});
}

bool exceeds_limit(const std::optional<std::vector<Money>>& above, const LimitSums& amounts,
                   AccountNumber account, LimitKind kind, Timestamp at, LedgerReader& ledger) {
    return std::any_of(amounts.begin(), amounts.end(), [&](const auto& sum) {
        const auto& [creator, currency] = sum.first;
        return exceeds_limit(above, {currency, sum.second},
                             limit_sum(ledger, account, kind, creator, currency, at));
    });
}

void count_use(LimitUse use, LedgerTxn& txn) {
    PendingApproval approved;
    approved.account = use.account;
    approved.command_id = command_of(use.id);
    if (use.amount.is_zero() || txn.load(approved)) {
        return;
    }
    use.amount = absolute(use.amount);
    if (LimitUse stored = use; txn.load(stored)) {
        use.amount += stored.amount;
    }
    txn.put(use);
}

void count_payout(const Payout& payout, Timestamp at, LedgerTxn& txn) {
    txn.put(LimitUse{payout.account, LimitKind::kPayout, payout.creator, payout.currency, at,
                     payout.payout_id, payout.amount});
}

void uncount_payouts(std::span<const Payout> payouts, LedgerTxn& txn) {
    if (payouts.empty()) {
        return;
    }
    std::set<std::string_view> ids;
    LimitUse first{
        payouts.front().account, LimitKind::kPayout, payouts.front().creator, {}, {}, {}, {}};
    CreatorId last = first.creator;
    for (const Payout& payout : payouts) {
        ids.insert(payout.payout_id);
        first.creator = std::min(first.creator, payout.creator);
        last = std::max(last, payout.creator);
    }
    std::vector<LimitUse> found;
    txn.scan(first, {kOfKind, kFromCreator}, [&](const LimitUse& use) {
        if (ids.contains(use.id)) {
            found.push_back(use);
        }
        return use.creator <= last;
    });
    for (const LimitUse& use : found) {
        txn.erase(use);
    }
}

}  // namespace sluice
