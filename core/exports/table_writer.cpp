#include "core/exports/table_writer.hpp"

#include "core/exports/lists.hpp"
#include "core/json/slices.hpp"
#include "core/lists/clicks.hpp"
#include "core/lists/links.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/payouts.hpp"
#include "core/lists/periods.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/protocol/product_fields.hpp"
#include "core/rules/account.hpp"

namespace sluice::exports {

bool TableWriter::write_all(Timestamp now) {
    write_orders();
    write_journal();
    balances_at(ledger_, std::nullopt, now, [this](const BalanceAt& balance) {
        const auto account = accounts_.find(balance.key.account);
        return account == accounts_.end() ? wants_more_
                                          : add(kBalances, lists::exported_balance_list(),
                                                {account->second, balance.key.creator, balance});
    });
    write_payouts();
    ledger_.scan(PayoutItem{}, {}, [this](const PayoutItem& item) {
        return add(kPayoutItems, lists::exported_payout_item_list(), item);
    });
    write_anomalies();
    write_products();
    write_periods();
    ledger_.scan(LinkRow{}, {}, [this](const LinkRow& link) {
        return add(kLinks, lists::exported_link_list(),
                   {link, link.creator, {}, account_id(link.account)});
    });
    lists::scan_click_days(ledger_, [this](const ClickDay& day) {
        return add(kClickDays, lists::click_day_list(), {day, account_id(day.account)});
    });
    lists::scan_link_days(ledger_, [this](const LinkDay& day) {
        return add(kLinkDays, lists::link_day_list(), {day, account_id(day.account)});
    });
    return wants_more_;
}

void TableWriter::write_orders() {
    const NodeNames nodes(ledger_);
    for (const ShopRow& shop : shops_) {
        if (wants_more_) {
            ledger_.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
                add_order(shop, order, nodes);
                return wants_more_;
            });
        }
    }
}

void TableWriter::add_order(const ShopRow& shop, const OrderState& order, const NodeNames& nodes) {
    const Attribution* const given = order.live ? &order.position()->attribution : nullptr;
    add(kOrders, lists::exported_order_list(),
        {shop,
         order,
         given,
         given == nullptr ? std::string_view() : given->creator.view(),
         StandingRefunds(order.refunds),
         commission_amount(order),
         {},
         {},
         nodes.of(order.last_node)});
    for (std::size_t i = 0; i < order.positions.size(); ++i) {
        for (const LineAccrual& accrual : order.positions[i].accruals) {
            add(kPositions, position_list(), {shop, order, i, accrual});
        }
    }
    for (const OrderLine& sold : order.lines) {
        if (given != nullptr) {
            add(kCommissions, commission_list(), {shop, order, sold});
        }
    }
}

/// Reads the payouts in slices, because a scan allows no other read.
void TableWriter::write_payouts() {
    constexpr std::size_t kAtOnce = 4096;
    PayoutNodes nodes(ledger_);
    Payout first;
    for (bool all_read = false; !all_read && wants_more_;) {
        std::vector<Payout> payouts;
        ledger_.scan(first, {0, 1}, [&](const Payout& payout) {
            if (payout.payout_id != first.payout_id) {
                payouts.push_back(payout);
            }
            return payouts.size() < kAtOnce;
        });
        all_read = payouts.size() < kAtOnce;
        for (const Payout& payout : payouts) {
            add(kPayouts, lists::exported_payout_list(),
                {account_id(payout.account),
                 payout,
                 {},
                 lists::profile_of(ledger_, payout.account, payout.creator),
                 nodes.of(payout.payout_id)});
        }
        first.payout_id = payouts.empty() ? first.payout_id : payouts.back().payout_id;
    }
}

void TableWriter::write_anomalies() {
    for (const ShopRow& shop : shops_) {
        if (!wants_more_) {
            return;
        }
        const std::uint32_t blocking = account_settings(ledger_, shop.account).blocking;
        ledger_.scan_anomalies(shop.account, shop.shop, [&](const Anomaly& anomaly) {
            return add(kAnomalies, lists::exported_anomaly_list(), {shop, anomaly, blocking});
        });
    }
}

void TableWriter::write_products() {
    for (const ShopRow& shop : shops_) {
        if (wants_more_) {
            ledger_.scan_catalog(shop.account, shop.shop, [&](const CatalogRecord& record) {
                add_product(shop, record);
                return wants_more_;
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
        row.add_json(found == members.end() ? std::string_view("null") : found->second);
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
    for (const auto& each : accounts_) {
        if (!wants_more_) {
            return;
        }
        const AccountId& account = each.second;
        Period period;
        period.account = each.first;
        ledger_.scan(period, {1, 1}, [&](const Period& row) {
            return add(kPeriods, lists::period_list(), {account, &row});
        });
        PeriodSum sum;
        sum.account = each.first;
        ledger_.scan(sum, {1, 1}, [&](const PeriodSum& row) {
            return add(kPeriodSums, lists::period_sum_list(), {account, row.creator, row});
        });
    }
}

bool write_tables(LedgerReader& ledger, ExportFormat format, Timestamp now, ExportOutput& out) {
    return TableWriter(ledger, format, out).write_all(now);
}

}  // namespace sluice::exports
