// report balances
#include <map>
#include <string>
#include <tuple>

#include "core/rules/balance.hpp"
#include "core/rules/posting.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

/// One balance, under the names that it is sorted by.
using BalanceName = std::tuple<std::string, ProgramId, CreatorId, std::string>;
using Balances = std::map<BalanceName, BalanceAt>;

/// Names and holds of programs, each looked up once.
class ProgramNames {
public:
    explicit ProgramNames(LedgerReader& ledger) : ledger_(ledger) {}

    const Program& of(const ProgramId& id) {
        auto found = programs_.find(id);
        if (found == programs_.end()) {
            const auto row = ledger_.program(id);
            found = programs_.emplace(id, row ? row->program : Program()).first;
        }
        return found->second;
    }
    BalanceName name(const BalanceKey& key) {
        return {of(key.program).account_id.str(), key.program, key.creator,
                std::string(key.currency.code())};
    }

private:
    LedgerReader& ledger_;
    std::map<ProgramId, Program> programs_;
};

/// An order's part of its creator's balances.
void add_order(const OrderState& order, Timestamp now, ProgramNames& programs, Balances& balances) {
    if (!order.attribution) {
        return;
    }
    const auto slot = [&](Currency currency) -> BalanceAt& {
        const BalanceKey key{order.key.account, order.attribution->program,
                             order.attribution->creator, currency};
        const Decimal zero(0, currency.minor_units());
        return balances.try_emplace(programs.name(key), BalanceAt{key, zero, zero, zero, zero})
            .first->second;
    };
    for (const OrderDue& due : order.dues) {
        BalanceAt& balance = slot(due.currency);
        balance.total = balance.total + due.due;
        balance.paid = balance.paid + due.settled;
    }
    const Timestamp hold_end = programs.of(order.attribution->program).hold_end(order.ordered_at);
    for (const OpenAmount& open : open_amounts(order)) {
        BalanceAt& balance = slot(open.currency);
        const bool held = !open.adjustment && hold_end > now;
        Decimal& part = held ? balance.pending : balance.payable;
        part = part + open.amount;
    }
}

Balances collect_balances(LedgerReader& ledger, const ReportFilter& filter, Timestamp now) {
    ProgramNames programs(ledger);
    Balances balances;
    if (!filter.shop) {
        balances_at(ledger, now, [&](const BalanceAt& balance) {
            balances.emplace(programs.name(balance.key), balance);
            return true;
        });
        return balances;
    }
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        ledger.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
            add_order(order, now, programs, balances);
            return true;
        });
    }
    return balances;
}

}  // namespace

void write_balances(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out) {
    for (const auto& [name, balance] : collect_balances(ledger, filter, now)) {
        if (filter.covers(balance.key.creator)) {
            out.add({{"account_id", std::get<0>(name)},
                     {"program_id", balance.key.program.str()},
                     {"creator_id", balance.key.creator.str()},
                     {"currency", balance.key.currency.code()},
                     {"pending", balance.pending.to_string()},
                     {"payable", balance.payable.to_string()},
                     {"paid", balance.paid.to_string()},
                     {"total", balance.total.to_string()}});
        }
    }
}

}  // namespace sluice::cli
