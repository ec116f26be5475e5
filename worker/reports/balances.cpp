// report balances
#include <map>
#include <string>
#include <tuple>

#include "core/rules/balance.hpp"
#include "core/rules/creator_names.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

/// One balance, under the names that it is sorted by.
using BalanceName = std::tuple<std::string, ProgramId, CreatorId, std::string>;

}  // namespace

void write_balances(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out) {
    std::map<AccountNumber, std::string> accounts;
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        accounts[shop.account] = shop.account_id.str();
    }
    std::map<BalanceName, BalanceAt> balances;
    balances_at(ledger, std::nullopt, now, [&](const BalanceAt& balance) {
        const auto account = accounts.find(balance.key.account);
        if (account != accounts.end() && filter.covers(balance.key.creator)) {
            balances.emplace(BalanceName(account->second, balance.key.program, balance.key.creator,
                                         balance.key.currency.code()),
                             balance);
        }
        return true;
    });
    for (const auto& [name, balance] : balances) {
        out.add({{"account_id", std::get<0>(name)},
                 {"program_id", balance.key.program.str()},
                 {"creator_id", shown_id(ledger, balance.key.account, balance.key.creator).str()},
                 {"currency", balance.key.currency.code()},
                 {"pending", balance.pending.to_string()},
                 {"blocked", balance.blocked.to_string()},
                 {"payable", balance.payable.to_string()},
                 {"in_payout", balance.in_payout.to_string()},
                 {"paid", balance.paid.to_string()},
                 {"total", balance.total.to_string()}});
    }
}

}  // namespace sluice::cli
