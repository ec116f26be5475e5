#include "core/lists/report.hpp"

#include "core/protocol/product_fields.hpp"

namespace sluice::lists {
namespace {

void write_products(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                    RowOutput& out) {
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        const std::string shop_id = json_quoted(shop.shop_id.view());
        ledger.scan_catalog(shop.account, shop.shop, [&](const CatalogRecord& record) {
            std::vector<JsonMember> members = json_members(record.json);
            members.insert(members.begin(), {"shop_id", shop_id});
            out.add_raw(members);
        });
    }
}

/// A field is what the shop sent.
ColumnType type_of(FieldType type) {
    switch (type) {
        case FieldType::kBoolean:
            return ColumnType::kFlag;
        case FieldType::kInteger:
        case FieldType::kNumber:
        case FieldType::kTextList:
        case FieldType::kObject:
        case FieldType::kObjectList:
            return ColumnType::kJson;
        default:
            return ColumnType::kText;
    }
}

}  // namespace

const std::vector<Column>& product_columns() {
    static const std::vector<Column> all = [] {
        std::vector<Column> columns{{"shop_id", ColumnType::kText, Scope::kEveryone}};
        for (const ProductField& field : product_table().fields) {
            const bool few = field.name == "platform_product_id" || field.name == "parent_id" ||
                             field.name == "title" || field.name == "language" ||
                             field.name == "country" || field.name == "list_price" ||
                             field.name == "sale_price" || field.name == "currency_code";
            columns.emplace_back(field.name, type_of(field.type), Scope::kEveryone,
                                 few ? Shown::kInTable : Shown::kInFilesOnly);
        }
        return columns;
    }();
    return all;
}

const std::vector<Column>& exported_product_columns() {
    static const std::vector<Column> all = [] {
        std::vector<Column> columns{{"account_id", ColumnType::kText, Scope::kEveryone}};
        columns.insert(columns.end(), product_columns().begin(), product_columns().end());
        columns.emplace_back("other_fields", ColumnType::kJson, Scope::kEveryone);
        return columns;
    }();
    return all;
}

std::vector<ShopRow> shops_of(LedgerReader& ledger, const ReportFilter& filter) {
    std::vector<ShopRow> shops;
    ledger.scan_shops([&](const ShopRow& shop) {
        if ((!filter.shop || *filter.shop == shop.shop_id) &&
            (!filter.account || *filter.account == shop.account_id)) {
            shops.push_back(shop);
        }
    });
    return shops;
}

const std::vector<Report>& reports() {
    static const std::vector<Report> all{
        {"orders", "List orders with creator and commission", order_list().columns(), write_orders,
         kByAccount | kByShop | kByCreator | kByTime | kAsOf},
        {"journal", "List postings between ledger accounts, and memo entries",
         journal_list().columns(), write_journal,
         kNeedsAccount | kByShop | kByCreator | kByTime | kByDate},
        {"balances", "List pending, blocked, payable, closed and paid amounts",
         balance_list().columns(), write_balances,
         kNeedsAccount | kByCreator | kAsOf | kAsOfPast | kNegative},
        {"payouts", "List payouts in the order of closing", payout_list().columns(), write_payouts,
         kNeedsAccount | kByCreator | kByPayout},
        {"anomalies", "List anomalies: events that a person should check", anomaly_list().columns(),
         write_anomalies, kByAccount | kByShop | kByCreator | kByTime},
        {"products", "List the merged catalog", product_columns(), write_products,
         kByAccount | kByShop}};
    return all;
}

}  // namespace sluice::lists
