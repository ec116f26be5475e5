#include "core/exports/tables.hpp"

#include "core/exports/lists.hpp"
#include "core/lists/periods.hpp"

namespace sluice::exports {
namespace {

std::vector<ExportTable> make_tables() {
    return {{"orders", order_list().columns()},
            {"positions", position_list().columns()},
            {"commissions", commission_list().columns()},
            {"journal", journal_list().columns()},
            {"journal_references", reference_list().columns()},
            {"balances", balance_list().columns()},
            {"payouts", payout_list().columns()},
            {"payout_items", payout_item_list().columns()},
            {"anomalies", anomaly_list().columns()},
            {"products", product_columns()},
            {"periods", lists::period_list().columns()},
            {"period_sums", lists::period_sum_list().columns()},
            {"links", exports::link_list().columns()},
            {"click_days", click_day_list().columns()},
            {"link_days", link_day_list().columns()},
            {"changes", change_columns()}};
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
