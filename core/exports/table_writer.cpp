#include "core/exports/table_writer.hpp"

#include "core/exports/lists.hpp"
#include "core/json/slices.hpp"
#include "core/lists/periods.hpp"
#include "core/protocol/product_fields.hpp"
#include "core/rules/account.hpp"
#include "core/rules/order_book.hpp"

namespace sluice::exports {
void TableWriter::write_orders() {
    const NodeNames nodes(ledger_);
    for (const ShopRow& shop : shops_) {
        if (goes_on_) {
            ledger_.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
                add_order(shop, order, nodes);
                add_positions(shop, order);
                add_commissions(shop, order);
                return goes_on_;
            });
        }
    }
}

void TableWriter::add_order(const ShopRow& shop, const OrderState& order, const NodeNames& nodes) {
    line(kOrders).add(
        order_list(),
        {shop, order, order.live ? &order.position()->attribution : nullptr,
         StandingRefunds(order.refunds), commission_amount(order), nodes.of(order.last_node)});
    add(kOrders);
}

void TableWriter::add_positions(const ShopRow& shop, const OrderState& order) {
    for (std::size_t i = 0; i < order.positions.size(); ++i) {
        for (const LineAccrual& accrual : order.positions[i].accruals) {
            line(kPositions).add(position_list(), {shop, order, i, accrual});
            add(kPositions);
        }
    }
}

void TableWriter::add_commissions(const ShopRow& shop, const OrderState& order) {
    for (const OrderLine& sold : order.lines) {
        if (order.position() != nullptr) {
            line(kCommissions).add(commission_list(), {shop, order, sold});
            add(kCommissions);
        }
    }
}

void TableWriter::write_balances(Timestamp now) {
    if (!goes_on_) {
        return;
    }
    balances_at(ledger_, std::nullopt, now, [this](const BalanceAt& balance) {
        const auto account = accounts_.find(balance.key.account);
        if (account == accounts_.end()) {
            return true;
        }
        line(kBalances).add(balance_list(), {account->second.view(), balance});
        return add(kBalances);
    });
}

/// Reads the payouts in slices, because a scan allows no other read.
void TableWriter::write_payouts() {
    constexpr std::size_t kAtOnce = 4096;
    PayoutNodes nodes(ledger_);
    Payout first;
    for (bool all_read = false; !all_read && goes_on_;) {
        std::vector<Payout> payouts;
        ledger_.scan(first, {0, 1}, [&](const Payout& payout) {
            if (payout.payout_id != first.payout_id) {
                payouts.push_back(payout);
            }
            return payouts.size() < kAtOnce;
        });
        all_read = payouts.size() < kAtOnce;
        for (const Payout& payout : payouts) {
            add_payout(payout, nodes.of(payout.payout_id));
        }
        first.payout_id = payouts.empty() ? first.payout_id : payouts.back().payout_id;
    }
}

void TableWriter::add_payout(const Payout& payout, const std::string& node) {
    const auto account = accounts_.find(payout.account);
    const CreatorRow profile = lists::profile_of(ledger_, payout.account, payout.creator);
    line(kPayouts).add(
        payout_list(),
        {payout, account == accounts_.end() ? std::string_view() : account->second.view(),
         profile.name, node});
    add(kPayouts);
}

void TableWriter::write_payout_items() {
    if (!goes_on_) {
        return;
    }
    ledger_.scan(PayoutItem{}, {}, [this](const PayoutItem& item) {
        line(kPayoutItems).add(payout_item_list(), item);
        return add(kPayoutItems);
    });
}

void TableWriter::write_anomalies() {
    for (const ShopRow& shop : shops_) {
        if (!goes_on_) {
            return;
        }
        const std::uint32_t blocking = account_settings(ledger_, shop.account).blocking;
        ledger_.scan_anomalies(shop.account, shop.shop, [&](const Anomaly& anomaly) {
            line(kAnomalies).add(anomaly_list(), {shop, anomaly, blocking});
            return add(kAnomalies);
        });
    }
}

void TableWriter::write_products() {
    for (const ShopRow& shop : shops_) {
        if (goes_on_) {
            ledger_.scan_catalog(shop.account, shop.shop, [&](const CatalogRecord& record) {
                add_product(shop, record);
                return goes_on_;
            });
        }
    }
}

/// Fields that the protocol does not know become members of `other_fields`.
void TableWriter::add_product(const ShopRow& shop, const CatalogRecord& record) {
    std::map<std::string, std::string_view, std::less<>> members;
    for (const JsonMember& member : json_members(record.json)) {
        members.emplace(member.key, member.value);
    }
    ExportLine& row = line(kProducts);
    row.add(shop.account_id);
    row.add(shop.shop_id);
    for (const ProductField& field : product_table().fields) {
        const auto found = members.find(field.name);
        const std::string_view value =
            found == members.end() ? std::string_view("null") : found->second;
        row.add_json(value);
        if (found != members.end()) {
            members.erase(found);
        }
    }
    std::string other;
    for (const auto& [name, value] : members) {
        other += (other.empty() ? "{" : ",") + json_quoted(name) + ":" + std::string(value);
    }
    row.add_json(other.empty() ? "null" : other + "}");
    add(kProducts);
}

void TableWriter::write_periods() {
    for (const auto& [number, id] : accounts_) {
        if (!goes_on_) {
            return;
        }
        Period period;
        period.account = number;
        const AccountId& account = id;
        ledger_.scan(period, {1, 1}, [&](const Period& row) {
            line(kPeriods).add(lists::period_list(), {account, &row});
            return add(kPeriods);
        });
        PeriodSum sum;
        sum.account = number;
        ledger_.scan(sum, {1, 1}, [&](const PeriodSum& row) {
            line(kPeriodSums).add(lists::period_sum_list(), {account, row.creator, row});
            return add(kPeriodSums);
        });
    }
}

void TableWriter::write_links() {
    if (!goes_on_) {
        return;
    }
    ledger_.scan(LinkRow{}, {}, [this](const LinkRow& link) {
        line(kLinks).add(exports::link_list(), {link, account_id(link.account)});
        return add(kLinks);
    });
}

bool write_tables(LedgerReader& ledger, ExportFormat format, Timestamp now, ExportOutput& out) {
    return TableWriter(ledger, format, out).write_all(now);
}

}  // namespace sluice::exports
