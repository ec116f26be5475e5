// report balances
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/lists/report.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {
namespace {

/// One balance, under the names that it is sorted by.
using BalanceName = std::tuple<AccountId, ProgramId, CreatorId, std::string>;

/// Returns since when, by accounting date, the creator's `owed` has been below 0.
Timestamp negative_since(LedgerReader& ledger, const BalanceKey& key, Timestamp now) {
    Decimal owed = zero_amount(key.currency);
    Timestamp since = now;
    ledger.scan_creator_journal(
        key.account, key.creator, kFirstInstant, now, [&](const JournalGroup& group) {
            if (group.program != key.program) {
                return;
            }
            const bool was_negative = owed.is_negative();
            for (const JournalEntry& entry : group.entries) {
                if (!is_memo(entry.reason) && entry.currency == key.currency) {
                    owed += change_by(entry).owed;
                }
            }
            since = owed.is_negative() && !was_negative ? group.accounting_date : since;
        });
    return since;
}

/// Returns at most `max` stored balances of a program, by key: those that come first after `after`
/// under the names that their creators have now.
/// @param first    Account and program.
/// @param creator  If given, of this creator alone, whose first id this is.
std::vector<Balance> stored_after(LedgerReader& ledger, const CreatorNames& names, BalanceKey first,
                                  const std::optional<BalancePlace>& after,
                                  const std::optional<CreatorId>& creator, std::size_t max) {
    std::map<std::pair<CreatorId, std::string>, Balance> found;  // by name and currency
    const auto add = [&](const Balance& row) {
        std::pair place(names.shown(first.account, row.key.creator),
                        std::string(row.key.currency.code()));
        if (!after || std::pair(after->creator, after->currency) < place) {
            found.emplace(std::move(place), row);
        }
    };
    const auto add_creator = [&](const CreatorId& of) {
        std::ranges::for_each(stored_balances(ledger, first.account, first.program, of), add);
    };
    if (creator) {
        add_creator(*creator);
    } else {
        // Creators who were renamed have another place in the list than in the table.
        const std::vector<CreatorId> renamed = names.renamed(first.account);
        first.creator = after ? after->creator : CreatorId();
        ledger.scan_balances_from(first, [&](const Balance& row) {
            if (row.key.account != first.account || row.key.program != first.program) {
                return false;
            }
            if (!std::binary_search(renamed.begin(), renamed.end(), row.key.creator)) {
                add(row);
            }
            return found.size() < max;
        });
        std::ranges::for_each(renamed, add_creator);
    }
    std::vector<Balance> rows;
    for (auto at = found.begin(); at != found.end() && rows.size() < max; ++at) {
        rows.push_back(std::move(at->second));
    }
    std::ranges::sort(rows, [](const Balance& a, const Balance& b) { return a.key < b.key; });
    return rows;
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
    };
    if (filter.as_of) {
        balances_as_of(ledger, only, now, add);
    } else {
        balances_at(ledger, only, now, add);
    }
    for (const auto& [name, balance] : balances) {
        Row row =
            balance_list().row({std::get<AccountId>(name), std::get<CreatorId>(name), balance});
        if (filter.negative) {
            const Timestamp since = negative_since(ledger, balance.key, now);
            for (Json& cell : negative_list().row({since, now})) {
                row.push_back(std::move(cell));
            }
        }
        out.add(row);
    }
}

std::vector<Row> balances_after(LedgerReader& ledger, const BalanceListing& listing, Timestamp now,
                                const std::optional<BalancePlace>& after, std::size_t max) {
    const CreatorNames names(ledger, listing.account);
    std::map<BalanceName, BalanceAt> balances;
    for (const ProgramRow& program : ledger.programs(listing.account)) {
        const ProgramId& id = program.program.id;
        if ((listing.program && *listing.program != id) || (after && id < after->program)) {
            continue;
        }
        const std::size_t found = balances.size();
        const bool was_begun = after && after->program == id;
        std::vector<Balance> stored =
            stored_after(ledger, names, {listing.account, id, {}, {}},
                         was_begun ? after : std::nullopt, listing.creator, max - found);
        for (BalanceAt& balance : balances_at(ledger, listing.account, now, stored)) {
            const BalanceKey key = balance.key;
            balances.emplace(
                BalanceName(listing.account_id, id, names.shown(listing.account, key.creator),
                            key.currency.code()),
                std::move(balance));
        }
        if (balances.size() >= max) {
            break;
        }
    }
    return mapped(balances, [&listing](const auto& entry) {
        const auto& [name, balance] = entry;
        return balance_list().row({listing.account_id, std::get<CreatorId>(name), balance});
    });
}

const List<BalanceOf>& balance_list() {
    using Of = const BalanceOf&;
    static const List<BalanceOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
        {"program_id", kText, kLedger, [](Of of) -> Value { return of.balance.key.program; }},
        {"creator_id", kText, kLedger, [](Of of) -> Value { return of.creator; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.balance.key.currency.code(); }},
        {"pending", kAmount, kLedger, [](Of of) -> Value { return of.balance.pending; }},
        {"blocked", kAmount, kLedger, [](Of of) -> Value { return of.balance.blocked; }},
        {"payable", kAmount, kLedger, [](Of of) -> Value { return of.balance.payable; }},
        {"in_payout", kAmount, kLedger, [](Of of) -> Value { return of.balance.in_payout; }},
        {"paid", kAmount, kLedger, [](Of of) -> Value { return of.balance.paid; }},
        {"total", kAmount, kLedger, [](Of of) -> Value { return of.balance.total; }}};
    return list;
}

const List<BalanceOf>& exported_balance_list() {
    static const List<BalanceOf> list =
        balance_list()
            .only("account_id program_id creator_id currency pending blocked payable")
            .then({{"owed", kAmount, kLedger,
                    [](const BalanceOf& of) -> Value { return of.balance.owed; }}})
            .then(balance_list().only("in_payout paid total"));
    return list;
}

const List<NegativeOf>& negative_list() {
    using Of = const NegativeOf&;
    static const List<NegativeOf> list{
        {"negative_since", kTime, kLedger, [](Of of) -> Value { return of.since; }},
        {"days", kInteger, kLedger, [](Of of) -> Value { return of.days(); }}};
    return list;
}

}  // namespace sluice::lists
