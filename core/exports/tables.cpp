#include "core/exports/tables.hpp"

#include "core/exports/lists.hpp"
#include "core/lists/clicks.hpp"
#include "core/lists/links.hpp"
#include "core/lists/payouts.hpp"
#include "core/lists/periods.hpp"

namespace sluice::exports {

const std::vector<ExportTable>& export_tables() {
    static const std::vector<ExportTable> tables{
        {"orders", lists::exported_order_list().columns()},
        {"positions", position_list().columns()},
        {"commissions", commission_list().columns()},
        {"journal", lists::exported_journal_list().columns()},
        {"journal_references", reference_list().columns()},
        {"balances", lists::exported_balance_list().columns()},
        {"payouts", lists::exported_payout_list().columns()},
        {"payout_items", lists::exported_payout_item_list().columns()},
        {"anomalies", lists::exported_anomaly_list().columns()},
        {"products", lists::exported_product_columns()},
        {"periods", lists::period_list().columns()},
        {"period_sums", lists::period_sum_list().columns()},
        {"links", lists::exported_link_list().columns()},
        {"click_days", lists::click_day_list().columns()},
        {"link_days", lists::link_day_list().columns()},
        {"changes", lists::change_columns()}};
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
