#include "worker/reports/report.hpp"

#include <set>
#include <unordered_map>

#include "core/protocol/product_fields.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/posting.hpp"

namespace sluice::cli {
namespace {

Json time_or_null(const std::optional<Timestamp>& time) {
    return time ? Json(time->to_string()) : Json();
}

Json attribution_types(const OrderState& order) {
    Json types = Json::array();
    for (const auto type : {AttributionType::kAffiliateCode, AttributionType::kLanded}) {
        if (order.attribution && (order.attribution->types & static_cast<unsigned>(type)) != 0) {
            types.push_back(to_string(type));
        }
    }
    return types;
}

Json order_row(const ShopRow& shop, const OrderState& order) {
    const StandingRefunds refunds(order.refunds);
    const auto& attribution = order.attribution;
    return {{"order_id", order.key.order_id.str()},
            {"shop_id", shop.shop_id.str()},
            {"account_id", shop.account_id.str()},
            {"creator_id", attribution ? Json(attribution->creator.str()) : Json()},
            {"program_id", attribution ? Json(attribution->program.str()) : Json()},
            {"attribution_types", attribution_types(order)},
            {"commission_amount", commission_amount(order).amount.to_string()},
            {"amount", order.amount},
            {"tax", order.tax},
            {"shipping", order.shipping},
            {"refund_amount", refunds.amount_sum().to_string()},
            {"refund_tax", refunds.tax_sum().to_string()},
            {"currency", order.currency.code()},
            {"cancelled_at", time_or_null(order.cancelled_at)},
            {"ordered_at", order.ordered_at.to_string()},
            {"last_updated_at", order.version.to_string()}};
}

void write_orders(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                  Listing& out) {
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        ledger.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
            const bool creator_fits =
                !filter.creator || (order.attribution && filter.covers(order.attribution->creator));
            if (creator_fits && filter.covers(order.ordered_at)) {
                out.add(order_row(shop, order));
            }
            return true;
        });
    }
}

void add_journal_rows(const ShopRow& shop, const JournalGroup& group, Listing& out) {
    std::uint64_t entry = group.first_entry;
    for (const JournalLine& line : group.lines) {
        out.add({{"entry", entry++},
                 {"event_seq", group.event_seq.value},
                 {"shop_id", shop.shop_id.str()},
                 {"order_id", group.order.order_id.str()},
                 {"line_item_id", line.line.empty() ? Json() : Json(line.line.str())},
                 {"creator_id", group.creator.str()},
                 {"program_id", group.program.str()},
                 {"currency", line.currency.code()},
                 {"amount", line.amount.to_string()},
                 {"reason", to_string(line.reason)},
                 {"recorded_at", group.recorded_at.to_string()}});
    }
}

void write_journal(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                   Listing& out) {
    std::unordered_map<std::uint32_t, ShopRow> shops;
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        shops.emplace(shop.shop.value, shop);
    }
    ledger.scan_journal(1, [&](const JournalGroup& group) {
        const auto shop = shops.find(group.order.shop.value);
        if (shop != shops.end() && filter.covers(group.creator) &&
            filter.covers(group.recorded_at)) {
            add_journal_rows(shop->second, group, out);
        }
        return true;
    });
}

bool creator_of_order_fits(LedgerReader& ledger, const OrderKey& key, const ReportFilter& filter) {
    if (!filter.creator) {
        return true;
    }
    OrderState order;
    return ledger.load_order(key, order) && order.attribution &&
           filter.covers(order.attribution->creator);
}

void write_anomalies(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                     Listing& out) {
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        ledger.scan_anomalies(shop.account, shop.shop, [&](const Anomaly& anomaly) {
            if (filter.covers(anomaly.recorded_at) &&
                creator_of_order_fits(ledger, anomaly.order, filter)) {
                out.add({{"event_seq", anomaly.first_seq.value},
                         {"shop_id", shop.shop_id.str()},
                         {"order_id", anomaly.order.order_id.str()},
                         {"kind", to_string(anomaly.kind)},
                         {"count", anomaly.count},
                         {"message", anomaly.message}});
            }
            return true;
        });
    }
}

void write_products(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                    Listing& out) {
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        const std::string shop_id = to_text(Json(shop.shop_id.str()));
        ledger.scan_catalog(shop.account, shop.shop, [&](const CatalogRecord& record) {
            std::vector<JsonMember> members = json_members(record.json);
            members.insert(members.begin(), {"shop_id", shop_id});
            out.add_raw(members);
            return true;
        });
    }
}

void write_payouts(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                   Listing& out) {
    // A payout has no shop; asked for one, it is about the account that the shop belongs to.
    std::set<AccountNumber> accounts;
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        accounts.insert(shop.account);
    }
    ledger.scan_payouts([&](const Payout& payout) {
        if ((!filter.shop || accounts.contains(payout.account)) && filter.covers(payout.creator) &&
            filter.covers(payout.closed_at)) {
            out.add(payout_row(payout));
        }
        return true;
    });
}

std::vector<Column> order_columns() {
    return {{"order_id"},
            {"shop_id"},
            {"account_id", Align::kLeft, false},
            {"creator_id"},
            {"program_id"},
            {"attribution_types"},
            {"commission_amount", Align::kRight},
            {"amount", Align::kRight},
            {"tax", Align::kRight, false},
            {"shipping", Align::kRight, false},
            {"refund_amount", Align::kRight},
            {"refund_tax", Align::kRight, false},
            {"currency"},
            {"cancelled_at"},
            {"ordered_at"},
            {"last_updated_at", Align::kLeft, false}};
}

std::vector<Column> journal_columns() {
    return {{"entry", Align::kRight},
            {"event_seq", Align::kRight},
            {"shop_id"},
            {"order_id"},
            {"line_item_id"},
            {"creator_id"},
            {"program_id"},
            {"currency"},
            {"amount", Align::kRight},
            {"reason"},
            {"recorded_at"}};
}

std::vector<Column> balance_columns() {
    return {{"account_id"},
            {"program_id"},
            {"creator_id"},
            {"currency"},
            {"pending", Align::kRight},
            {"payable", Align::kRight},
            {"paid", Align::kRight},
            {"total", Align::kRight}};
}

std::vector<Column> anomaly_columns() {
    return {{"event_seq", Align::kRight}, {"shop_id"}, {"order_id"}, {"kind"},
            {"count", Align::kRight},     {"message"}};
}

/// The fields of a product record; a table has room for the first few.
std::vector<Column> product_columns() {
    std::vector<Column> columns{{"shop_id"}};
    for (const ProductField& field : product_table().fields) {
        const bool few = field.name == "platform_product_id" || field.name == "parent_id" ||
                         field.name == "title" || field.name == "language" ||
                         field.name == "country" || field.name == "list_price" ||
                         field.name == "sale_price" || field.name == "currency_code";
        columns.push_back({field.name, Align::kLeft, few});
    }
    return columns;
}

}  // namespace

std::vector<ShopRow> shops_of(LedgerReader& ledger, const ReportFilter& filter) {
    std::vector<ShopRow> shops;
    ledger.scan_shops([&](const ShopRow& shop) {
        if (!filter.shop || *filter.shop == shop.shop_id) {
            shops.push_back(shop);
        }
        return true;
    });
    return shops;
}

std::vector<Column> payout_columns() {
    return {{"payout_id"},
            {"program_id"},
            {"creator_id"},
            {"currency"},
            {"amount", Align::kRight},
            {"until"},
            {"closed_at"},
            {"orders", Align::kRight}};
}

Json payout_row(const Payout& payout) {
    return {{"payout_id", payout.payout_id},
            {"program_id", payout.program.str()},
            {"creator_id", payout.creator.str()},
            {"currency", payout.currency.code()},
            {"amount", payout.amount.to_string()},
            {"until", payout.until.to_string()},
            {"closed_at", payout.closed_at.to_string()},
            {"orders", payout.orders_count}};
}

const std::vector<Report>& reports() {
    static const std::vector<Report> all{
        {"orders", "Orders with their creator and commission", order_columns(), write_orders, true,
         true, true},
        {"journal", "Every change of a commission", journal_columns(), write_journal, true, true,
         true},
        {"balances", "What is pending, payable and paid", balance_columns(), write_balances, true,
         true, false},
        {"anomalies", "Events that a person should look at", anomaly_columns(), write_anomalies,
         true, true, true},
        {"products", "The catalog, as merged", product_columns(), write_products, true, false,
         false},
        {"payouts", "Payouts that were closed", payout_columns(), write_payouts, true, true, true}};
    return all;
}

}  // namespace sluice::cli
