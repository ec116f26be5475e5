// Table writer: fills the tables of one export.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/explain/node_names.hpp"
#include "core/exports/tables.hpp"
#include "core/lists/changes.hpp"
#include "core/lists/report.hpp"

namespace sluice::exports {

class TableWriter {
public:
    using enum ExportTableId;

    TableWriter(LedgerReader& ledger, ExportFormat format, ExportOutput& out)
        : ledger_(ledger),
          out_(out),
          accounts_(lists::account_ids(ledger)),
          shops_(lists::shops_of(ledger, {})) {
        for (const ExportTable& table : export_tables()) {
            lines_.emplace_back(format, table.columns);
        }
        for (const ShopRow& shop : shops_) {
            shop_ids_.emplace(shop.shop, shop.shop_id);
        }
    }

    bool write_all(Timestamp now);
    bool write_changes(const ChangesSince& since);

private:
    /// Passes the line on. Requires: the output wants more. Every scan ends with the export.
    bool add(ExportTableId table) { return wants_more_ = out_.add(table, line(table).end()); }
    /// Adds a row of the table's list, unless the export has ended.
    template <class Of>
    bool add(ExportTableId table, const lists::List<Of>& list, const Of& of) {
        if (wants_more_) {
            line(table).add(list, of);
            add(table);
        }
        return wants_more_;
    }
    ExportLine& line(ExportTableId table) { return lines_[static_cast<std::size_t>(table)]; }

    void write_orders();
    void add_order(const ShopRow& shop, const OrderState& order, const NodeNames& nodes);
    void write_journal();
    template <class NodeOf>
    void add_group(const JournalGroup& group, NodeOf&& node_of);
    void add_entry(const JournalGroup& group, std::size_t index, const std::string& node);
    void add_change(const lists::Change& change, lists::ChangeRows& rows);
    void write_payouts();
    void write_anomalies();
    void write_products();
    void add_product(const ShopRow& shop, const CatalogRecord& record);
    void write_periods();
    /// Returns an empty text if the ledger does not know the account.
    [[nodiscard]] std::string_view account_id(AccountNumber account) const {
        const auto found = accounts_.find(account);
        return found == accounts_.end() ? std::string_view() : found->second.view();
    }

    LedgerReader& ledger_;
    ExportOutput& out_;
    std::map<AccountNumber, AccountId> accounts_;
    std::vector<ShopRow> shops_;
    std::map<ShopNumber, ShopId> shop_ids_;
    std::vector<ExportLine> lines_;  ///< One for each of export_tables().
    bool wants_more_ = true;
};

}  // namespace sluice::exports
