// report balances
#include <map>
#include <string>
#include <tuple>

#include "core/journal/journal.hpp"
#include "core/reports/report.hpp"
#include "core/statements/statements.hpp"

namespace sluice::reports {
namespace {

/// One balance, under the names that it is sorted by.
using BalanceName = std::tuple<AccountId, ProgramId, CreatorId, std::string>;

Row balance_row(const BalanceName& name, const BalanceAt& balance) {
    return {std::get<AccountId>(name).str(), std::get<ProgramId>(name).str(),
            std::get<CreatorId>(name).str(), balance.key.currency.code(),
            balance.pending.to_string(),     balance.blocked.to_string(),
            balance.payable.to_string(),     balance.in_payout.to_string(),
            balance.paid.to_string(),        balance.total.to_string()};
}

/// Returns since when, by accounting date, the creator's `owed` has been below 0.
Timestamp negative_since(LedgerReader& ledger, const BalanceKey& key, Timestamp now) {
    Decimal owed = zero_amount(key.currency);
    Timestamp since = now;
    ledger.scan_creator_journal(
        key.account, key.creator, kFirstInstant, now, [&](const JournalGroup& group) {
            if (group.program != key.program) {
                return true;
            }
            const bool was_negative = owed.is_negative();
            for (const JournalEntry& entry : group.entries) {
                if (!is_memo(entry.reason) && entry.currency == key.currency) {
                    owed += change_by(entry).owed;
                }
            }
            since = owed.is_negative() && !was_negative ? group.accounting_date : since;
            return true;
        });
    return since;
}

bool is_negative(const BalanceAt& balance) {
    return (balance.pending + balance.blocked + balance.payable).is_negative();
}

}  // namespace

void write_balances(LedgerReader& ledger, const ReportFilter& filter, Timestamp now,
                    RowOutput& out) {
    const CreatorNames names(ledger);
    const auto accounts = account_ids(ledger);
    std::optional<AccountNumber> only;
    for (const auto& [number, id] : accounts) {
        only = filter.account && *filter.account == id ? std::optional(number) : only;
    }
    if (filter.account && !only) {
        return;  // the account is in the registry, but not in the ledger yet
    }
    std::map<BalanceName, BalanceAt> balances;
    const auto add = [&](const BalanceAt& balance) {
        const BalanceKey& key = balance.key;
        const auto account = accounts.find(key.account);
        if (account != accounts.end() && filter.covers(names, key.account, key.creator) &&
            (!filter.negative || is_negative(balance))) {
            balances.emplace(
                BalanceName(account->second, key.program, names.shown(key.account, key.creator),
                            key.currency.code()),
                balance);
        }
        return true;
    };
    if (filter.as_of) {
        balances_as_of(ledger, only, now, add);
    } else {
        balances_at(ledger, only, now, add);
    }
    for (const auto& [name, balance] : balances) {
        Row row = balance_row(name, balance);
        if (filter.negative) {
            const Timestamp since = negative_since(ledger, balance.key, now);
            row.push_back(since.to_string());
            row.push_back((now.seconds - since.seconds) / kSecondsPerDay);
        }
        out.add(row);
    }
}

std::vector<Column> negative_columns() {
    return {{"negative_since"}, {"days", Align::kRight}};
}

std::vector<Column> balance_columns() {
    return {{"account_id"},
            {"program_id"},
            {"creator_id"},
            {"currency"},
            {"pending", Align::kRight},
            {"blocked", Align::kRight},
            {"payable", Align::kRight},
            {"in_payout", Align::kRight},
            {"paid", Align::kRight},
            {"total", Align::kRight}};
}

}  // namespace sluice::reports
