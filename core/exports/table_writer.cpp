#include "core/exports/table_writer.hpp"

#include <algorithm>

#include "core/commands/ids.hpp"
#include "core/json/slices.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/protocol/product_fields.hpp"
#include "core/rules/account.hpp"
#include "core/rules/order_book.hpp"

namespace sluice::exports {
namespace {

/// Returns the active payouts whose COMMISSION items are the order's commission (P2).
std::vector<std::string> commission_payouts(const OrderState& order, Currency currency) {
    std::vector<std::string> ids;
    const Position* const position = order.position();
    if (position == nullptr) {
        return ids;
    }
    bool has_commission = false;
    for (const PositionPayout& payout : position->payouts) {
        if (payout.active && payout.currency == currency) {
            has_commission = has_commission || payout.has_commission;
            ids.push_back(payout.payout_id);
        }
    }
    return has_commission ? ids : std::vector<std::string>();
}

std::string_view rate_kind_name(RateKind kind) {
    return kind == RateKind::kPercent ? "PERCENT"
           : kind == RateKind::kFixed ? "FIXED"
                                      : "PER_ORDER";
}

const LineAccrual* accrual_of(const Position& position, const LineItemId& line, Currency currency) {
    const auto found = std::find_if(position.accruals.begin(), position.accruals.end(),
                                    [&](const LineAccrual& accrual) {
                                        return accrual.line == line && accrual.currency == currency;
                                    });
    return found == position.accruals.end() ? nullptr : &*found;
}

}  // namespace

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
    const StandingRefunds refunds(order.refunds);
    const Attribution* const given = order.live ? &order.position()->attribution : nullptr;
    const Money commission = commission_amount(order);
    line(kOrders)
        .text(shop.account_id.view())
        .text(shop.shop_id.view())
        .text(order.key.order_id.view())
        .text_or_null(given == nullptr ? std::string_view() : given->creator.view())
        .text_or_null(given == nullptr ? std::string_view() : given->program.view())
        .texts(attribution_type_names(given == nullptr ? 0U : given->types))
        .amount(order.amount)
        .amount(order.tax)
        .amount(order.shipping)
        .text(order.currency.code())
        .amount(refunds.amount_sum())
        .amount(refunds.tax_sum())
        .amount(commission.amount)
        .text(commission.currency.code())
        .flag(order.has(kOrderHeld))
        .flag(order.has(kOrderRejected))
        .flag(order.has(kOrderBarred))
        .time(order.ordered_at)
        .time(order.cancelled_at)
        .time(order.version)
        .texts(commission_payouts(order, commission.currency))
        .text_or_null(nodes.of(order.last_node));
    add(kOrders);
}

void TableWriter::add_positions(const ShopRow& shop, const OrderState& order) {
    for (std::size_t i = 0; i < order.positions.size(); ++i) {
        const Position& position = order.positions[i];
        for (const LineAccrual& accrual : position.accruals) {
            line(kPositions)
                .text(shop.account_id.view())
                .text(shop.shop_id.view())
                .text(order.key.order_id.view())
                .text(position.attribution.program.view())
                .text(position.attribution.creator.view())
                .flag(order.live && *order.live == i)
                .text_or_null(accrual.line.view())
                .text(accrual.currency.code())
                .amount(accrual.accrued)
                .amount(accrual.allocated)
                .amount(accrual.accrued - accrual.allocated)
                .time(order.ordered_at);
            add(kPositions);
        }
    }
}

void TableWriter::add_commissions(const ShopRow& shop, const OrderState& order) {
    const Position* const position = order.position();
    for (std::size_t i = 0; position != nullptr && i < order.lines.size(); ++i) {
        const OrderLine& sold = order.lines[i];
        const auto frozen =
            std::find_if(position->frozen.begin(), position->frozen.end(),
                         [&sold](const FrozenLine& one) { return one.line == sold.id; });
        const bool has_rate =
            frozen != position->frozen.end() && frozen->rate.rate.kind != RateKind::kNone;
        const LineAccrual* const accrual = accrual_of(*position, sold.id, order.currency);
        ExportLine& row = line(kCommissions)
                              .text(shop.account_id.view())
                              .text(shop.shop_id.view())
                              .text(order.key.order_id.view())
                              .text(sold.id.view())
                              .text(sold.sku.view());
        (sold.variant_sku ? row.text(sold.variant_sku->view()) : row.null())
            .text(position->attribution.creator.view())
            .text(position->attribution.program.view())
            .amount(sold.amount)
            .amount(sold.tax)
            .integer(sold.quantity)
            .flag(sold.present)
            .text_or_null(has_rate ? rate_kind_name(frozen->rate.rate.kind) : std::string_view());
        (has_rate ? row.amount(frozen->rate.rate.value) : row.null())
            .amount(accrual == nullptr ? zero_amount(order.currency) : accrual->accrued)
            .text(order.currency.code())
            .time(order.ordered_at);
        add(kCommissions);
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
        line(kBalances)
            .text(account->second.view())
            .text(balance.key.program.view())
            .text(balance.key.creator.view())
            .text(balance.key.currency.code())
            .amount(balance.pending)
            .amount(balance.blocked)
            .amount(balance.payable)
            .amount(balance.owed)
            .amount(balance.in_payout)
            .amount(balance.paid)
            .amount(balance.total);
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
    line(kPayouts)
        .text(payout.payout_id)
        .text(payout_run_of(payout.payout_id))
        .text_or_null(account == accounts_.end() ? std::string_view() : account->second.view())
        .text(payout.creator.view())
        .text_or_null(reports::profile_of(ledger_, payout.account, payout.creator).name)
        .text_or_null(payout.payee)
        .text(payout.currency.code())
        .amount(payout.amount)
        .text(to_string(payout.state))
        .time(payout.until)
        .time(payout.closed_at)
        .text(payout.closed_by)
        .text_or_null(payout.approved_by)
        .time(payout.sent_at)
        .time(payout.ended_at)
        .text_or_null(payout.bank_ref)
        .time(payout.paid_at)
        .integer(payout.orders_count)
        .integer(payout.items_count)
        .text_or_null(node);
    add(kPayouts);
}

void TableWriter::write_payout_items() {
    if (!goes_on_) {
        return;
    }
    ledger_.scan(PayoutItem{}, {}, [this](const PayoutItem& item) {
        line(kPayoutItems)
            .text(item.payout_id)
            .text(item.program.view())
            .text_or_null(item.shop_id.view())
            .text_or_null(item.order_id.view())
            .text_or_null(item.line.view())
            .text(to_string(item.kind))
            .amount(item.amount)
            .time(item.sold_at);
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
            const bool acknowledged = !anomaly.acknowledged_by.empty();
            line(kAnomalies)
                .text(anomaly.node)
                .integer(anomaly.first_seq.value)
                .text(shop.account_id.view())
                .text(shop.shop_id.view())
                .text(anomaly.order.order_id.view())
                .text(to_string(anomaly.kind))
                .integer(anomaly.count)
                .text(anomaly.message)
                .time(anomaly.recorded_at)
                .flag(anomaly.showing)
                .flag(anomaly.showing && !acknowledged && (blocking & bit(anomaly.kind)) != 0)
                .text_or_null(anomaly.acknowledged_by)
                .time(anomaly.acknowledged_at)
                .text_or_null(anomaly.value)
                .text_or_null(anomaly.acknowledged_value);
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
    ExportLine& row = line(kProducts).text(shop.account_id.view()).text(shop.shop_id.view());
    for (const ProductField& field : product_table().fields) {
        const auto found = members.find(field.name);
        const std::string_view value =
            found == members.end() ? std::string_view("null") : found->second;
        value == "null" ? row.null() : row.from_json(value);
        if (found != members.end()) {
            members.erase(found);
        }
    }
    std::string other;
    for (const auto& [name, value] : members) {
        other +=
            (other.empty() ? "{" : ",") + reports::json_quoted(name) + ":" + std::string(value);
    }
    other.empty() ? row.null() : row.from_json(other + "}");
    add(kProducts);
}

void TableWriter::write_periods() {
    for (const auto& [number, id] : accounts_) {
        if (!goes_on_) {
            return;
        }
        Period period;
        period.account = number;
        ledger_.scan(period, {1, 1}, [&, account = id.view()](const Period& row) {
            line(kPeriods)
                .text(account)
                .time(row.until)
                .time(row.closed_at)
                .text(row.closed_by)
                .text(row.command_id);
            return add(kPeriods);
        });
        PeriodSum sum;
        sum.account = number;
        ledger_.scan(sum, {1, 1}, [&, account = id.view()](const PeriodSum& row) {
            line(kPeriodSums)
                .text(account)
                .time(row.until)
                .text(row.creator.view())
                .text(row.program.view())
                .text(row.currency.code())
                .amount(row.opening_owed)
                .amount(row.opening_in_payout)
                .amount(row.opening_paid)
                .text(row.reasons)
                .amount(row.closing_owed)
                .amount(row.closing_in_payout)
                .amount(row.closing_paid)
                .integer(row.entries)
                .text(to_hex(row.digest));
            return add(kPeriodSums);
        });
    }
}

bool write_tables(LedgerReader& ledger, ExportFormat format, Timestamp now, ExportOutput& out) {
    return TableWriter(ledger, format, out).write_all(now);
}

}  // namespace sluice::exports
