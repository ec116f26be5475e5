// Table writer: fills the tables of one export.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/explain/node_names.hpp"
#include "core/exports/lists.hpp"
#include "core/exports/tables.hpp"
#include "core/lists/overview.hpp"
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

    bool write_all(Timestamp now) {
        write_orders();
        write_journal();
        write_balances(now);
        write_payouts();
        write_payout_items();
        write_anomalies();
        write_products();
        write_periods();
        write_links();
        write_days<ClickDay>(kClickDays, click_day_list(), lists::scan_click_days);
        write_days<LinkDay>(kLinkDays, link_day_list(), lists::scan_link_days);
        return goes_on_;
    }
    bool write_changes(const ChangesSince& since);

private:
    ExportLine& line(ExportTableId table) { return lines_[static_cast<std::size_t>(table)]; }
    /// Passes the line on. Every scan ends with the export.
    bool add(ExportTableId table) {
        goes_on_ = goes_on_ && out_.add(table, line(table).end());
        return goes_on_;
    }

    void write_orders();
    void add_order(const ShopRow& shop, const OrderState& order, const NodeNames& nodes);
    void add_positions(const ShopRow& shop, const OrderState& order);
    void add_commissions(const ShopRow& shop, const OrderState& order);
    void write_journal();
    template <class NodeOf>
    void add_group(const JournalGroup& group, NodeOf&& node_of);
    [[nodiscard]] EntryOf entry_of(const JournalGroup& group, std::size_t index) const;
    void add_entry(const JournalGroup& group, std::size_t index);
    void add_reference(const JournalGroup& group, std::size_t index, const std::string& node);
    void add_change(const lists::Change& change, Json json);
    void write_balances(Timestamp now);
    void write_payouts();
    void add_payout(const Payout& payout, const std::string& node);
    void write_payout_items();
    void write_anomalies();
    void write_products();
    void add_product(const ShopRow& shop, const CatalogRecord& record);
    void write_periods();
    void write_links();
    template <class Day>
    void write_days(ExportTableId table, const List<DayOf<Day>>& list,
                    void (*scan)(LedgerReader&, const Visitor<Day>&)) {
        if (goes_on_) {
            scan(ledger_, [&](const Day& row) {
                line(table).add(list, {row, account_id(row.account)});
                return add(table);
            });
        }
    }
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
    bool goes_on_ = true;
};

}  // namespace sluice::exports
