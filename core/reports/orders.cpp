// report orders, report anomalies
#include <set>

#include "core/journal/journal.hpp"
#include "core/ledger/rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/reports/report.hpp"
#include "core/rules/account.hpp"
#include "core/rules/order_book.hpp"

namespace sluice::reports {
namespace {

/// Returns all payouts that ever held items of the order, including void ones.
Json payouts_of(const OrderState& order) {
    std::set<std::string> ids;
    for (const Position& position : order.positions) {
        for (const PositionPayout& payout : position.payouts) {
            ids.insert(payout.payout_id);
        }
    }
    return std::vector<std::string>(ids.begin(), ids.end());
}

Json accrued_of(const OrderState& order, Currency currency) {
    const Position* position = order.position();
    return (position == nullptr ? zero_amount(currency) : accrued_in(*position, currency))
        .to_string();
}

bool belongs(const OrderState& order, const ReportFilter& filter, const CreatorNames& names) {
    return !filter.creator || (order.live && filter.covers(names, order.key.account,
                                                           order.position()->attribution.creator));
}

}  // namespace

Row OrderRows::row(const ShopRow& shop, const OrderState& order, Timestamp now) {
    const StandingRefunds refunds(order.refunds);
    const Attribution* given = order.live ? &order.position()->attribution : nullptr;
    const Money commission = commission_amount(order);
    return {order.key.order_id.str(),
            shop.shop_id.str(),
            shop.account_id.str(),
            given != nullptr ? Json(creators_.shown(shop.account, given->creator).str()) : Json(),
            given != nullptr ? Json(given->program.str()) : Json(),
            attribution_type_names(given != nullptr ? given->types : 0U),
            commission.amount.to_string(),
            accrued_of(order, commission.currency),
            commission.currency.code(),
            order.amount,
            order.tax,
            order.shipping,
            refunds.amount_sum().to_string(),
            refunds.tax_sum().to_string(),
            order.currency.code(),
            order.cancelled_at,
            order.ordered_at.to_string(),
            order.version.to_string(),
            judge_.status(order, now),
            judge_.blocked_by(order),
            payouts_of(order),
            text_or_null(nodes_.of(order.last_node))};
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

Row anomaly_row(const ShopRow& shop, const Anomaly& anomaly, std::uint32_t blocking) {
    const bool acknowledged = !anomaly.acknowledged_by.empty();
    return {anomaly.node,
            anomaly.first_seq.value == 0 ? Json() : Json(anomaly.first_seq.value),
            shop.account_id.str(),
            shop.shop_id.str(),
            anomaly.order.order_id.str(),
            to_string(anomaly.kind),
            anomaly.recorded_at.to_string(),
            anomaly.count,
            anomaly.message,
            anomaly.showing && !acknowledged && (blocking & bit(anomaly.kind)) != 0,
            text_or_null(anomaly.acknowledged_by),
            anomaly.acknowledged_at,
            text_or_null(anomaly.value),
            text_or_null(anomaly.acknowledged_value)};
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
            out.add(anomaly_row(shop, anomaly, blocking));
        });
    }
}

std::vector<Column> order_columns() {
    return {{"order_id"},
            {"shop_id"},
            {"account_id", Align::kLeft, false},
            {"creator_id"},
            {"program_id"},
            {"attribution_types"},
            {"commission_amount", Align::kRight},
            {"accrued", Align::kRight},
            {"commission_currency", Align::kLeft, false},
            {"amount", Align::kRight},
            {"tax", Align::kRight, false},
            {"shipping", Align::kRight, false},
            {"refund_amount", Align::kRight},
            {"refund_tax", Align::kRight, false},
            {"currency"},
            {"cancelled_at"},
            {"ordered_at"},
            {"last_updated_at", Align::kLeft, false},
            {"status"},
            {"blocked_by"},
            {"payouts", Align::kLeft, false},
            {"node", Align::kLeft, false}};
}

std::vector<Column> anomaly_columns() {
    return {{"node", Align::kLeft, false},
            {"event_seq", Align::kRight},
            {"account_id", Align::kLeft, false},
            {"shop_id"},
            {"order_id"},
            {"kind"},
            {"recorded_at", Align::kLeft, false},
            {"count", Align::kRight},
            {"message"},
            {"blocks"},
            {"acknowledged_by"},
            {"acknowledged_at", Align::kLeft, false},
            {"value"},
            {"acknowledged_value"}};
}

}  // namespace sluice::reports
