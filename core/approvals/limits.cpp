#include "core/approvals/limits.hpp"

#include <algorithm>
#include <string_view>

#include "core/commands/ids.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/programs/policy.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

// Columns of the key that a scan compares.
constexpr unsigned kOfKind = 2;  // account, kind
constexpr unsigned kSince = 3;   // and the instant

Digest256 digest_of(const std::string& payee) {
    return payee.empty() ? Digest256{} : payee_digest(payee);
}

/// Adds the absolute value of an amount. Zeros name no payee.
template <class Of>
void add(std::map<std::pair<Of, Currency>, Decimal>& sums, const std::pair<Of, Currency>& key,
         const Decimal& amount) {
    if (key.first != Of{}) {
        add_to(sums, key, {key.second, amount.absolute()});
    }
}

}  // namespace

Digest256 payee_of(LedgerReader& ledger, AccountNumber account, const CreatorId& creator) {
    CreatorRow profile{account, creator, {}, {}, {}};
    return ledger.load(profile) ? digest_of(profile.payee) : Digest256{};
}

/// A use counts for the payee of its time and for the one that its creator has now: else a payee
/// could be set after the amounts.
LimitSums::LimitSums(LedgerReader& ledger, AccountNumber account, LimitKind kind, Timestamp at,
                     LedgerReader& profiles) {
    const std::vector<LimitUse> uses = ledger.rows(
        LimitUse{account, kind, at.plus_days(-kLimitDays), {}, {}, {}, {}, {}}, {kOfKind, kSince});
    const Timestamp run_from = at.plus_seconds(-kRunHours * kSecondsPerHour);
    std::map<CreatorId, Digest256> paid_as;
    for (const LimitUse& use : uses) {
        const auto [now, added] = paid_as.try_emplace(use.creator);
        if (added) {
            now->second = payee_of(profiles, account, use.creator);
        }
        add(creators_, {use.creator, use.currency}, use.amount);
        add(payees_, {use.payee, use.currency}, use.amount);
        if (now->second != use.payee) {
            add(payees_, {now->second, use.currency}, use.amount);
        }
        if (use.at >= run_from) {
            add_to(run_, use.currency, {use.currency, use.amount});
        }
    }
}

std::vector<std::string> LimitSums::excesses(const std::optional<std::vector<Money>>& above,
                                             std::span<const LimitAmount> amounts) const {
    std::vector<std::string> words(amounts.size());
    if (!above || amounts.empty()) {
        return words;
    }
    auto creators = creators_;
    auto payees = payees_;
    for (const LimitAmount& one : amounts) {
        add(creators, {one.creator, one.money.currency}, one.money.amount);
        add(payees, {one.payee, one.money.currency}, one.money.amount);
    }
    const auto is_above = [&above](Currency currency, const Decimal& sum) {
        return !sum.is_zero() && needs_approval(above, {currency, sum});
    };
    for (std::size_t i = 0; i < amounts.size(); ++i) {
        const LimitAmount& one = amounts[i];
        const Currency currency = one.money.currency;
        const Decimal of_creator =
            value_or(creators, {one.creator, currency}, zero_amount(currency));
        const Decimal of_payee = value_or(payees, {one.payee, currency}, zero_amount(currency));
        if (is_above(currency, of_creator)) {
            words[i] = to_string(Money{currency, of_creator}) + " of creator " + one.creator.str() +
                       " in 31 days";
        } else if (is_above(currency, of_payee)) {
            words[i] = to_string(Money{currency, of_payee}) + " of the payee of creator " +
                       one.creator.str() + " in 31 days";
        }
    }
    return words;
}

std::set<Currency> LimitSums::currencies() const {
    std::set<Currency> all;
    for (const auto& [key, sum] : creators_) {
        all.insert(key.second);
    }
    return all;
}

Decimal LimitSums::of_run(Currency currency) const {
    return value_or(run_, currency, zero_amount(currency));
}

void count_use(LimitUse use, LedgerTxn& txn) {
    PendingApproval approved{.account = use.account, .command_id = command_of(use.id)};
    if (use.amount.is_zero() || txn.load(approved)) {
        return;
    }
    use.amount = use.amount.absolute();
    if (LimitUse stored = use; txn.load(stored)) {
        use.amount += stored.amount;
    }
    use.payee = payee_of(txn, use.account, use.creator);
    txn.put(use);
}

void count_payout(const Payout& payout, Timestamp at, LedgerTxn& txn) {
    txn.put(LimitUse{payout.account, LimitKind::kPayout, at, payout.payout_id, payout.creator,
                     payout.currency, digest_of(payout.payee), payout.amount});
}

/// Nothing is dated before its receipt.
void uncount_payouts(std::span<const Payout> payouts, LedgerTxn& txn) {
    if (payouts.empty()) {
        return;
    }
    std::set<std::string_view> ids;
    Timestamp first = payouts.front().closed_at;
    for (const Payout& payout : payouts) {
        ids.insert(payout.payout_id);
        first = std::min(first, payout.closed_at);
    }
    std::vector<LimitUse> found;
    txn.scan(LimitUse{payouts.front().account, LimitKind::kPayout, first, {}, {}, {}, {}, {}},
             {kOfKind, kSince}, [&](const LimitUse& use) {
                 if (ids.contains(use.id)) {
                     found.push_back(use);
                 }
                 return found.size() < ids.size();
             });
    for (const LimitUse& use : found) {
        txn.erase(use);
    }
}

}  // namespace sluice
