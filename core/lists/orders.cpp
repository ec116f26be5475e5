// report orders, report anomalies
#include <set>

#include "core/journal/journal.hpp"
#include "core/ledger/rows.hpp"
#include "core/lists/report.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/rules/order_book.hpp"

namespace sluice::lists {
namespace {

/// Returns all payouts that ever held items of the order, including void ones.
std::vector<std::string> payouts_of(const OrderState& order) {
    std::set<std::string> ids;
    for (const Position& position : order.positions) {
        for (const PositionPayout& payout : position.payouts) {
            ids.insert(payout.payout_id);
        }
    }
    return {ids.begin(), ids.end()};
}

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

Decimal accrued_of(const OrderState& order, Currency currency) {
    const Position* const position = order.position();
    return position == nullptr ? zero_amount(currency) : accrued_in(*position, currency);
}

bool belongs(const OrderState& order, const ReportFilter& filter, const CreatorNames& names) {
    return !filter.creator || (order.live && filter.covers(names, order.key.account,
                                                           order.position()->attribution.creator));
}

}  // namespace

Row OrderRows::row(const ShopRow& shop, const OrderState& order, Timestamp now) {
    const Attribution* const given = order.live ? &order.position()->attribution : nullptr;
    return order_list().row(
        {shop, order, given,
         given == nullptr ? std::string_view()
                          : creators_.shown(shop.account, given->creator).view(),
         EffectiveRefunds(order.refunds), commission_amount(order), judge_.status(order, now),
         judge_.blocked_by(order), nodes_.of(order.last_node)});
}

void write_orders(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, RowOutput& out) {
    OrderRows rows(ledger);
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        ledger.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
            if (belongs(order, filter, rows.creators()) && filter.covers(order.ordered_at)) {
                out.add(rows.row(shop, order, now));
            }
        });
    }
}

void write_anomalies(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                     RowOutput& out) {
    const CreatorNames names(ledger);
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        const std::uint32_t blocking = account_settings(ledger, shop.account).blocking;
        OrderState order;
        ledger.scan_anomalies(shop.account, shop.shop, [&](const Anomaly& anomaly) {
            if (!filter.covers(anomaly.recorded_at) ||
                (filter.creator &&
                 !(ledger.load_order(anomaly.order, order) && belongs(order, filter, names)))) {
                return;
            }
            out.add(anomaly_list().row({shop, anomaly, blocking}));
        });
    }
}

const List<OrderOf>& order_list() {
    using Of = const OrderOf&;
    static const List<OrderOf> list{
        {"order_id", kText, kEveryone, [](Of of) -> Value { return of.order.key.order_id; }},
        {"shop_id", kText, kEveryone, [](Of of) -> Value { return of.shop.shop_id; }},
        {"account_id", kText, kEveryone, [](Of of) -> Value { return of.shop.account_id; },
         kInFilesOnly},
        {"creator_id", kText, kEveryone, [](Of of) { return or_null(of.creator); }},
        {"program_id", kText, kEveryone,
         [](Of of) -> Value { return of.given == nullptr ? Value() : Value(of.given->program); }},
        {"attribution_types", kTexts, kEveryone,
         [](Of of) -> Value {
             return attribution_type_names(of.given == nullptr ? 0U : of.given->types);
         }},
        {"commission_amount", kAmount, kEveryone,
         [](Of of) -> Value { return of.commission.amount; }},
        {"accrued", kAmount, kEveryone,
         [](Of of) -> Value { return accrued_of(of.order, of.commission.currency); }},
        {"commission_currency", kText, kEveryone,
         [](Of of) -> Value { return of.commission.currency.code(); }, kInFilesOnly},
        {"amount", kAmount, kEveryone, [](Of of) -> Value { return of.order.amount; }},
        {"tax", kAmount, kEveryone, [](Of of) -> Value { return of.order.tax; }, kInFilesOnly},
        {"shipping", kAmount, kEveryone, [](Of of) -> Value { return of.order.shipping; },
         kInFilesOnly},
        {"refund_amount", kAmount, kEveryone,
         [](Of of) -> Value { return of.refunds.amount_sum(); }},
        {"refund_tax", kAmount, kEveryone, [](Of of) -> Value { return of.refunds.tax_sum(); },
         kInFilesOnly},
        {"currency", kText, kEveryone, [](Of of) -> Value { return of.order.currency.code(); }},
        {"cancelled_at", kTime, kEveryone, [](Of of) -> Value { return of.order.cancelled_at; }},
        {"ordered_at", kTime, kEveryone, [](Of of) -> Value { return of.order.ordered_at; }},
        {"last_updated_at", kTime, kEveryone, [](Of of) -> Value { return of.order.version; },
         kInFilesOnly},
        {"status", kText, kEveryone, [](Of of) -> Value { return of.status; }},
        {"blocked_by", kTexts, kEveryone, [](Of of) -> Value { return of.blocked_by; }},
        {"payouts", kTexts, kEveryone, [](Of of) -> Value { return payouts_of(of.order); },
         kInFilesOnly},
        {"node", kText, kEveryone, [](Of of) { return or_null(of.node); }, kInFilesOnly}};
    return list;
}

const List<OrderOf>& exported_order_list() {
    using Of = const OrderOf&;
    static const List<OrderOf> list =
        order_list()
            .only(
                "account_id shop_id order_id creator_id program_id attribution_types amount tax "
                "shipping currency refund_amount refund_tax commission_amount commission_currency")
            .then({{"held", kFlag, kEveryone,
                    [](Of of) -> Value { return of.order.has(kOrderHeld); }},
                   {"rejected", kFlag, kEveryone,
                    [](Of of) -> Value { return of.order.has(kOrderRejected); }},
                   {"barred", kFlag, kEveryone,
                    [](Of of) -> Value { return of.order.has(kOrderBarred); }}})
            .then(order_list().only("ordered_at cancelled_at last_updated_at"))
            .then({{"payouts", kTexts, kEveryone,
                    [](Of of) -> Value {
                        return commission_payouts(of.order, of.commission.currency);
                    }}})
            .then(order_list().only("node"));
    return list;
}

const List<AnomalyOf>& anomaly_list() {
    using Of = const AnomalyOf&;
    static const List<AnomalyOf> list{
        {"node", kText, kEveryone, [](Of of) -> Value { return of.anomaly.node; }, kInFilesOnly},
        {"event_seq", kInteger, kEveryone,
         [](Of of) {
             return of.anomaly.first_seq.value == 0 ? Value() : Value(of.anomaly.first_seq.value);
         }},
        {"account_id", kText, kEveryone, [](Of of) -> Value { return of.shop.account_id; },
         kInFilesOnly},
        {"shop_id", kText, kEveryone, [](Of of) -> Value { return of.shop.shop_id; }},
        {"order_id", kText, kEveryone, [](Of of) -> Value { return of.anomaly.order.order_id; }},
        {"kind", kText, kEveryone, [](Of of) -> Value { return to_string(of.anomaly.kind); }},
        {"recorded_at", kTime, kEveryone, [](Of of) -> Value { return of.anomaly.recorded_at; },
         kInFilesOnly},
        {"count", kInteger, kEveryone, [](Of of) -> Value { return of.anomaly.count; }},
        {"message", kText, kEveryone, [](Of of) -> Value { return of.anomaly.message; }},
        {"blocks", kFlag, kEveryone, [](Of of) -> Value { return of.blocks(); }},
        {"acknowledged_by", kText, kLedger,
         [](Of of) { return or_null(of.anomaly.acknowledged_by); }},
        {"acknowledged_at", kTime, kEveryone,
         [](Of of) -> Value { return of.anomaly.acknowledged_at; }, kInFilesOnly},
        {"value", kText, kEveryone, [](Of of) { return or_null(of.anomaly.value); }},
        {"acknowledged_value", kText, kEveryone,
         [](Of of) { return or_null(of.anomaly.acknowledged_value); }}};
    return list;
}

const List<AnomalyOf>& exported_anomaly_list() {
    using Of = const AnomalyOf&;
    static const List<AnomalyOf> list =
        anomaly_list()
            .only("node")
            .then({{"event_seq", kInteger, kEveryone,
                    [](Of of) -> Value { return of.anomaly.first_seq.value; }}})
            .then(anomaly_list().only("account_id shop_id order_id kind count message recorded_at"))
            .then(
                {{"showing", kFlag, kEveryone, [](Of of) -> Value { return of.anomaly.showing; }}})
            .then(anomaly_list().only(
                "blocks acknowledged_by acknowledged_at value acknowledged_value"));
    return list;
}

}  // namespace sluice::lists
