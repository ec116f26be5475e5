#include "core/statements/next_close.hpp"

#include <algorithm>
#include <iterator>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/values/lookup.hpp"

namespace sluice {

std::optional<Timestamp> cooled_at(const Policy& policy, const CreatorRow& profile) {
    if (policy.payee_cooling_days == 0 || !profile.payee_changed || !profile.payee_since) {
        return std::nullopt;
    }
    return profile.payee_since->plus_days(policy.payee_cooling_days);
}

std::optional<SkipReason> skip_reason(const Policy& policy, const CreatorRow& profile,
                                      Currency currency, const Decimal& amount, Timestamp now,
                                      bool ignore_minimum) {
    if (amount <= Decimal()) {
        return SkipReason::kNotPositive;
    }
    if (policy.require_payee && profile.payee.empty()) {
        return SkipReason::kNoPayee;
    }
    if (const auto cooled = cooled_at(policy, profile); cooled && *cooled > now) {
        return SkipReason::kPayeeChanged;
    }
    const Decimal* minimum = amount_in(policy.min_payout, currency);
    return !ignore_minimum && minimum != nullptr && amount < *minimum
               ? std::optional(SkipReason::kBelowMinimum)
               : std::nullopt;
}

std::optional<Timestamp> payout_day_from(const Policy& policy, Timestamp at) {
    if (policy.payout_day == 0) {
        return std::nullopt;
    }
    // A month has at most 31 days.
    constexpr int kDays = 31;
    Timestamp day = start_of_day(at);
    if (day < at) {
        day = day.plus_days(1);
    }
    for (int passed = 0; passed < kDays && day_of(day) % 100 != policy.payout_day; ++passed) {
        day = day.plus_days(1);
    }
    return day;
}

void NextClose::add(const BalanceAt& balance) {
    const Currency currency = balance.key.currency;
    add_to(payable_, {balance.key.creator, currency}, {currency, balance.payable});
}

/// Reads a few profiles together, and many in one scan.
std::map<CreatorId, CreatorRow> NextClose::profiles() const {
    constexpr std::size_t kTogether = 1000;
    std::map<CreatorId, CreatorRow> rows;
    if (!policy_.require_payee && policy_.payee_cooling_days == 0) {
        return rows;
    }
    for (const auto& [key, amount] : payable_) {
        CreatorRow& row = rows.try_emplace(key.first).first->second;
        row.account = account_;
        row.creator = key.first;
    }
    if (rows.size() > kTogether) {
        ledger_.scan(CreatorRow{account_, {}, {}, {}, {}}, {1, 1}, [&rows](const CreatorRow& row) {
            if (const auto wanted = rows.find(row.creator); wanted != rows.end()) {
                wanted->second = row;
            }
        });
        return rows;
    }
    std::vector<CreatorRow> few = mapped(rows, [](const auto& entry) { return entry.second; });
    load_all(ledger_, few);
    for (CreatorRow& row : few) {
        rows[row.creator] = std::move(row);
    }
    return rows;
}

std::vector<CreatorClose> NextClose::decide(Timestamp now) const {
    const std::map<CreatorId, CreatorRow> rows = profiles();
    const CreatorRow unread;
    std::vector<CreatorClose> creators;
    for (const auto& [key, amount] : payable_) {
        if (amount.is_zero()) {
            continue;
        }
        const auto profile = rows.find(key.first);
        creators.push_back({key.first, key.second, amount,
                            skip_reason(policy_, profile == rows.end() ? unread : profile->second,
                                        key.second, amount, now)});
    }
    return creators;
}

std::vector<CreatorClose> next_close_of(LedgerReader& ledger, AccountNumber account,
                                        const CreatorId& creator, const Policy& policy,
                                        Timestamp now, OpenTotals* totals) {
    std::vector<Balance> stored;
    for (const ProgramRow& row : ledger.programs(account)) {
        std::ranges::move(stored_balances(ledger, account, row.program.id, creator),
                          std::back_inserter(stored));
    }
    NextClose close(ledger, account, policy);
    for (const BalanceAt& row : balances_at(ledger, account, now, stored, totals)) {
        close.add(row);
    }
    return close.decide(now);
}

}  // namespace sluice
