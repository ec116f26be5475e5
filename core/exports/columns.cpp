// Columns of the export tables: those of the views in docs/postgresql.md, and what rules decide.
#include "core/exports/tables.hpp"
#include "core/protocol/product_fields.hpp"

namespace sluice::exports {
namespace {

using enum ColumnType;

ColumnType export_type(FieldType type) {
    switch (type) {
        case FieldType::kBoolean:
            return kFlag;
        case FieldType::kInteger:
        case FieldType::kNumber:
        case FieldType::kTextList:
        case FieldType::kObject:
        case FieldType::kObjectList:
            return kJson;
        default:
            return kText;
    }
}

std::vector<ExportColumn> product_export_columns() {
    std::vector<ExportColumn> columns{{"account_id"}, {"shop_id"}};
    for (const ProductField& field : product_table().fields) {
        columns.push_back({field.name, export_type(field.type)});
    }
    columns.push_back({"other_fields", kJson});
    return columns;
}

std::vector<ExportTable> make_tables() {
    return {
        {"orders",
         {{"account_id"},
          {"shop_id"},
          {"order_id"},
          {"creator_id"},
          {"program_id"},
          {"attribution_types", kTexts},
          {"amount", kAmount},
          {"tax", kAmount},
          {"shipping", kAmount},
          {"currency"},
          {"refund_amount", kAmount},
          {"refund_tax", kAmount},
          {"commission_amount", kAmount},
          {"commission_currency"},
          {"held", kFlag},
          {"rejected", kFlag},
          {"barred", kFlag},
          {"ordered_at", kTime},
          {"cancelled_at", kTime},
          {"last_updated_at", kTime},
          {"payouts", kTexts},
          {"node"}}},
        {"positions",
         {{"account_id"},
          {"shop_id"},
          {"order_id"},
          {"program_id"},
          {"creator_id"},
          {"live", kFlag},
          {"line_item_id"},
          {"currency"},
          {"accrued", kAmount},
          {"allocated", kAmount},
          {"open", kAmount},
          {"ordered_at", kTime}}},
        {"commissions",
         {{"account_id"},
          {"shop_id"},
          {"order_id"},
          {"line_item_id"},
          {"sku"},
          {"variant_sku"},
          {"creator_id"},
          {"program_id"},
          {"amount", kAmount},
          {"tax", kAmount},
          {"quantity", kInteger},
          {"present", kFlag},
          {"rate_kind"},
          {"rate", kAmount},
          {"commission_amount", kAmount},
          {"currency"},
          {"ordered_at", kTime}}},
        {"journal",
         {{"node"},
          {"entry", kInteger},
          {"event_seq", kInteger},
          {"command_id"},
          {"account_id"},
          {"shop_id"},
          {"order_id"},
          {"line_item_id"},
          {"creator_id"},
          {"program_id"},
          {"currency"},
          {"amount", kAmount},
          {"debit_account"},
          {"credit_account"},
          {"reason"},
          {"payout_id"},
          {"recorded_at", kTime},
          {"accounting_date", kTime},
          {"refers_to", kInteger},
          {"note"},
          {"actor"}}},
        {"journal_references",
         {{"node"}, {"entry", kInteger}, {"refers_to", kInteger}, {"refers_to_node"}}},
        {"balances",
         {{"account_id"},
          {"program_id"},
          {"creator_id"},
          {"currency"},
          {"pending", kAmount},
          {"blocked", kAmount},
          {"payable", kAmount},
          {"owed", kAmount},
          {"in_payout", kAmount},
          {"paid", kAmount},
          {"total", kAmount}}},
        {"payouts",
         {{"payout_id"},
          {"payout_run"},
          {"account_id"},
          {"creator_id"},
          {"name"},
          {"payee"},
          {"currency"},
          {"amount", kAmount},
          {"state"},
          {"until", kTime},
          {"closed_at", kTime},
          {"closed_by"},
          {"approved_by"},
          {"sent_at", kTime},
          {"ended_at", kTime},
          {"bank_ref"},
          {"paid_at", kTime},
          {"orders", kInteger},
          {"items", kInteger},
          {"node"}}},
        {"payout_items",
         {{"payout_id"},
          {"program_id"},
          {"shop_id"},
          {"order_id"},
          {"line_item_id"},
          {"kind"},
          {"amount", kAmount},
          {"ordered_at", kTime}}},
        {"anomalies",
         {{"node"},
          {"event_seq", kInteger},
          {"account_id"},
          {"shop_id"},
          {"order_id"},
          {"kind"},
          {"count", kInteger},
          {"message"},
          {"recorded_at", kTime},
          {"showing", kFlag},
          {"blocks", kFlag},
          {"acknowledged_by"},
          {"acknowledged_at", kTime},
          {"value"},
          {"acknowledged_value"}}},
        {"products", product_export_columns()},
        {"periods",
         {{"account_id"}, {"until", kTime}, {"closed_at", kTime}, {"closed_by"}, {"command_id"}}},
        {"period_sums",
         {{"account_id"},
          {"until", kTime},
          {"creator_id"},
          {"program_id"},
          {"currency"},
          {"opening_owed", kAmount},
          {"opening_in_payout", kAmount},
          {"opening_paid", kAmount},
          {"reasons"},
          {"closing_owed", kAmount},
          {"closing_in_payout", kAmount},
          {"closing_paid", kAmount},
          {"entries", kInteger},
          {"digest"}}},
        {"changes",
         {{"node"},
          {"first", kInteger},
          {"last", kInteger},
          {"type"},
          {"timestamp", kTime},
          {"previous_hash"},
          {"hash"},
          {"trace"},
          {"account_number", kInteger},
          {"shop_number", kInteger},
          {"order_change", kInteger},
          {"entries", kJson}}},
    };
}

}  // namespace

const std::vector<ExportTable>& export_tables() {
    static const std::vector<ExportTable> tables = make_tables();
    return tables;
}

const ExportTable& export_table(ExportTableId id) {
    return export_tables()[static_cast<std::size_t>(id)];
}

std::vector<ExportTableId> snapshot_tables() {
    std::vector<ExportTableId> ids;
    for (std::size_t i = 0; i < export_tables().size(); ++i) {
        if (const auto id = static_cast<ExportTableId>(i); id != ExportTableId::kChanges) {
            ids.push_back(id);
        }
    }
    return ids;
}

std::vector<ExportTableId> change_tables() {
    return {ExportTableId::kChanges, ExportTableId::kJournal, ExportTableId::kJournalReferences};
}

}  // namespace sluice::exports
