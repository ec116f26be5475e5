#include "core/approvals/limits.hpp"

#include "core/ledger/command_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/programs/policy.hpp"

namespace sluice {
namespace {

constexpr unsigned kOfCreator = 4;  // account, kind, creator, currency
constexpr unsigned kSince = 5;      // and the instant

bool counts(const LimitUse& use, Timestamp at) {
    return use.at >= at.plus_days(-kLimitDays) && use.at <= at;
}

Decimal absolute(const Decimal& amount) {
    return amount.is_negative() ? -amount : amount;
}

}  // namespace

LimitSums limit_sums(LedgerReader& ledger, AccountNumber account, LimitKind kind, Timestamp at) {
    LimitSums sums;
    ledger.scan(LimitUse{account, kind, {}, {}, {}, {}, {}}, {2, 2}, [&](const LimitUse& use) {
        if (counts(use, at)) {
            sums.try_emplace({use.creator, use.currency}, zero_amount(use.currency))
                .first->second += use.amount;
        }
        return true;
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

void count_use(LimitUse use, LedgerTxn& txn) {
    PendingApproval approved;
    approved.account = use.account;
    approved.command_id = use.id;
    if (use.amount.is_zero() || txn.load(approved)) {
        return;
    }
    use.amount = absolute(use.amount);
    if (LimitUse stored = use; txn.load(stored)) {
        use.amount += stored.amount;
    }
    txn.put(use);
}

void uncount_payout(const Payout& payout, LedgerTxn& txn) {
    std::optional<LimitUse> found;
    txn.scan(LimitUse{payout.account,
                      LimitKind::kPayout,
                      payout.creator,
                      payout.currency,
                      payout.closed_at,
                      {},
                      {}},
             {kOfCreator, kSince}, [&](const LimitUse& use) {
                 if (use.id == payout.payout_id) {
                     found = use;
                 }
                 return !found;
             });
    if (found) {
        txn.erase(*found);
    }
}

}  // namespace sluice
