#include "worker/reports/report.hpp"

#include <set>
#include <unordered_map>

#include "core/protocol/product_fields.hpp"
#include "core/rules/covering.hpp"
#include "core/rules/creator_names.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/open_amounts.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/order_status.hpp"
#include "worker/reports/payouts.hpp"

namespace sluice::cli {
namespace {

Json time_or_null(const std::optional<Timestamp>& time) {
    return time ? Json(time->to_string()) : Json();
}

Json attribution_types(const OrderState& order) {
    Json types = Json::array();
    const unsigned bits = order.live ? order.position()->attribution.types : 0;
    for (const auto type :
         {AttributionType::kAffiliateCode, AttributionType::kLanded, AttributionType::kManual}) {
        if ((bits & static_cast<unsigned>(type)) != 0) {
            types.push_back(to_string(type));
        }
    }
    return types;
}

Json payouts_of(const OrderState& order) {
    Json payouts = Json::array();
    for (const Position& position : order.positions) {
        for (const PositionPayout& payout : position.payouts) {
            if (payout.standing) {
                payouts.push_back(payout.payout_id);
            }
        }
    }
    return payouts;
}

Json order_row(LedgerReader& ledger, const ShopRow& shop, const OrderState& order, Timestamp now) {
    const StandingRefunds refunds(order.refunds);
    const Attribution* attribution = order.live ? &order.position()->attribution : nullptr;
    const CommissionAmount commission = commission_amount(order);
    return {
        {"order_id", order.key.order_id.str()},
        {"shop_id", shop.shop_id.str()},
        {"account_id", shop.account_id.str()},
        {"creator_id", attribution != nullptr
                           ? Json(shown_id(ledger, order.key.account, attribution->creator).str())
                           : Json()},
        {"program_id", attribution != nullptr ? Json(attribution->program.str()) : Json()},
        {"attribution_types", attribution_types(order)},
        {"commission_amount", commission.amount.to_string()},
        {"commission_currency", commission.currency.code()},
        {"amount", order.amount},
        {"tax", order.tax},
        {"shipping", order.shipping},
        {"refund_amount", refunds.amount_sum().to_string()},
        {"refund_tax", refunds.tax_sum().to_string()},
        {"currency", order.currency.code()},
        {"cancelled_at", time_or_null(order.cancelled_at)},
        {"ordered_at", order.ordered_at.to_string()},
        {"last_updated_at", order.version.to_string()},
        {"status", order_status(order, now, ledger)},
        {"blocked_by", blocked_by(order, ledger)},
        {"payouts", payouts_of(order)}};
}

void write_orders(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out) {
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        ledger.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
            const bool creator_fits =
                !filter.creator ||
                (order.live && filter.covers(order.position()->attribution.creator));
            if (creator_fits && filter.covers(order.ordered_at)) {
                out.add(order_row(ledger, shop, order, now));
            }
            return true;
        });
    }
}

Json text_or_null(std::string_view text) {
    return text.empty() ? Json() : Json(text);
}

Json journal_row(const JournalGroup& group, std::size_t index, const std::string& account_id,
                 const std::string& shop_id) {
    const JournalEntry& entry = group.entries[index];
    const BooksOf books = books_of(entry.reason);
    const bool mark = is_mark(entry.reason);
    return {{"node", group.node},
            {"entry", group.first_entry + index},
            {"event_seq", group.event_seq.value},
            {"command_id", text_or_null(group.command_id)},
            {"account_id", account_id},
            {"program_id", text_or_null(group.program.view())},
            {"creator_id", text_or_null(group.creator.view())},
            {"shop_id", text_or_null(shop_id)},
            {"order_id", text_or_null(group.order_id.view())},
            {"line_item_id", text_or_null(entry.line.view())},
            {"currency", mark ? Json() : Json(entry.currency.code())},
            {"amount", mark ? Json() : Json(entry.amount.to_string())},
            {"from", text_or_null(book_name(books.from, group.payout_id))},
            {"to", text_or_null(book_name(books.to, group.payout_id))},
            {"reason", to_string(entry.reason)},
            {"payout_id", text_or_null(group.payout_id)},
            {"recorded_at", group.recorded_at.to_string()},
            {"accounting_date", group.accounting_date.to_string()},
            {"refers_to", entry.refers_to == 0 ? Json() : Json(entry.refers_to)},
            {"note", text_or_null(group.note)},
            {"actor", text_or_null(group.actor)}};
}

/// Groups that name no shop (payouts, credits, periods) are their account's.
void write_journal(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                   Listing& out) {
    std::unordered_map<std::uint32_t, ShopRow> shops;
    std::unordered_map<std::uint32_t, std::string> accounts;
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        shops.emplace(shop.shop.value, shop);
        accounts.emplace(shop.account.value, shop.account_id.str());
    }
    ledger.scan_journal(1, [&](const JournalGroup& group) {
        const auto shop = shops.find(group.shop.value);
        const auto account = accounts.find(group.account.value);
        const bool wanted =
            group.shop.value == 0 ? !filter.shop && account != accounts.end() : shop != shops.end();
        if (wanted && filter.covers(group.creator) && filter.covers(group.recorded_at)) {
            for (std::size_t i = 0; i < group.entries.size(); ++i) {
                out.add(journal_row(group, i, account->second,
                                    shop == shops.end() ? "" : shop->second.shop_id.str()));
            }
        }
        return true;
    });
}

bool creator_of_order_fits(LedgerReader& ledger, const OrderKey& key, const ReportFilter& filter) {
    if (!filter.creator) {
        return true;
    }
    OrderState order;
    return ledger.load_order(key, order) && order.live &&
           filter.covers(order.position()->attribution.creator);
}

void write_anomalies(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                     Listing& out) {
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        const std::uint32_t blocking = account_settings(ledger, shop.account).blocking;
        ledger.scan_anomalies(shop.account, shop.shop, [&](const Anomaly& anomaly) {
            if (filter.covers(anomaly.recorded_at) &&
                creator_of_order_fits(ledger, anomaly.order, filter)) {
                out.add({{"event_seq", anomaly.first_seq.value},
                         {"shop_id", shop.shop_id.str()},
                         {"order_id", anomaly.order.order_id.str()},
                         {"kind", to_string(anomaly.kind)},
                         {"count", anomaly.count},
                         {"message", anomaly.message},
                         {"blocks", anomaly.showing && anomaly.acknowledged_by.empty() &&
                                        (blocking & bit(anomaly.kind)) != 0},
                         {"acknowledged_by",
                          anomaly.acknowledged_by.empty() ? Json() : Json(anomaly.acknowledged_by)},
                         {"acknowledged_at", time_or_null(anomaly.acknowledged_at)}});
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
    PayoutFilter payouts;
    payouts.account = filter.account;
    write_payout_rows(ledger, payouts, out);
}

std::vector<Column> order_columns() {
    return {{"order_id"},
            {"shop_id"},
            {"account_id", Align::kLeft, false},
            {"creator_id"},
            {"program_id"},
            {"attribution_types"},
            {"commission_amount", Align::kRight},
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
            {"blocked_by", Align::kLeft, false},
            {"payouts", Align::kLeft, false}};
}

std::vector<Column> journal_columns() {
    return {{"node", Align::kLeft, false},
            {"entry", Align::kRight},
            {"event_seq", Align::kRight},
            {"command_id", Align::kLeft, false},
            {"account_id", Align::kLeft, false},
            {"program_id"},
            {"creator_id"},
            {"shop_id"},
            {"order_id"},
            {"line_item_id"},
            {"currency"},
            {"amount", Align::kRight},
            {"from", Align::kLeft, false},
            {"to", Align::kLeft, false},
            {"reason"},
            {"payout_id"},
            {"recorded_at"},
            {"accounting_date", Align::kLeft, false},
            {"refers_to", Align::kRight, false},
            {"note", Align::kLeft, false},
            {"actor", Align::kLeft, false}};
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

std::vector<Column> anomaly_columns() {
    return {{"event_seq", Align::kRight},
            {"shop_id"},
            {"order_id"},
            {"kind"},
            {"count", Align::kRight},
            {"message"},
            {"blocks"},
            {"acknowledged_by"},
            {"acknowledged_at", Align::kLeft, false}};
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
        if ((!filter.shop || *filter.shop == shop.shop_id) &&
            (!filter.account || *filter.account == shop.account_id)) {
            shops.push_back(shop);
        }
        return true;
    });
    return shops;
}

const std::vector<Report>& reports() {
    static const std::vector<Report> all{
        {"orders", "Orders with their creator and commission", order_columns(), write_orders, true,
         true, true, false},
        {"journal", "Every transfer between the books, and every mark", journal_columns(),
         write_journal, true, true, true, true},
        {"balances", "What is pending, blocked, payable, in payouts and paid", balance_columns(),
         write_balances, false, true, false, true},
        {"anomalies", "Events that a person should look at", anomaly_columns(), write_anomalies,
         true, true, true, false},
        {"products", "The catalog, as merged", product_columns(), write_products, true, false,
         false, false},
        {"payouts", "Payouts in the order of closing", payout_columns(), write_payouts, false,
         false, false, true}};
    return all;
}

}  // namespace sluice::cli
