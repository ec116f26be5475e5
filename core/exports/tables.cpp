#include "core/exports/tables.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/explain/node_names.hpp"
#include "core/exports/lists.hpp"
#include "core/json/slices.hpp"
#include "core/lists/clicks.hpp"
#include "core/lists/links.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/payouts.hpp"
#include "core/lists/plain_lists.hpp"
#include "core/lists/referred_nodes.hpp"
#include "core/lists/report.hpp"
#include "core/lists/statement.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/protocol/product_fields.hpp"
#include "core/rules/account.hpp"
#include "core/values/lookup.hpp"

namespace sluice::exports {
namespace {

/// Index in export_tables(). Tables of further plain lists come behind these, and `changes` last.
enum Table : std::size_t {
    kOrders,
    kPositions,
    kCommissions,
    kJournal,
    kJournalReferences,
    kBalances,
    kPayouts,
    kPayoutItems,
    kAnomalies,
    kProducts,
    kPeriods,
    kPeriodSums,
    kLinks,
    kClickDays,
    kLinkDays,
};

constexpr std::string_view kChanges = "changes";

std::size_t table_named(std::string_view name) {
    const auto found = std::ranges::find(export_tables(), name, &ExportTable::name);
    return static_cast<std::size_t>(found - export_tables().begin());
}

ExportTable plain_table(const lists::PlainList& list) {
    return {list.exported_as, list.exported().columns()};
}

/// Fills the tables of one export.
class TableWriter {
public:
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
    bool add(std::size_t table) {
        return wants_more_ = out_.add(export_tables()[table], line(table).end());
    }
    /// Adds a row of the table's list, unless the export has ended.
    template <class Of>
    bool add(std::size_t table, const lists::List<Of>& list, const Of& of) {
        if (wants_more_) {
            line(table).add(list, of);
            add(table);
        }
        return wants_more_;
    }
    ExportLine& line(std::size_t table) { return lines_[table]; }

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
    void write_plain(const lists::PlainList& list);
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

bool TableWriter::write_all(Timestamp now) {
    write_orders();
    write_journal();
    balances_at(ledger_, std::nullopt, now, [this](const BalanceAt& balance) {
        const auto account = accounts_.find(balance.key.account);
        return account == accounts_.end() ? wants_more_
                                          : add(kBalances, lists::exported_balance_list(),
                                                {account->second, balance.key.creator, balance});
    });
    write_payouts();
    write_anomalies();
    write_products();
    write_periods();
    ledger_.scan(LinkRow{}, {}, [this](const LinkRow& link) {
        return add(kLinks, lists::exported_link_list(),
                   {link, link.creator, {}, account_id(link.account)});
    });
    lists::scan_click_days(ledger_, [this](const ClickDay& day) {
        return add(kClickDays, lists::click_day_list(), {day, account_id(day.account)});
    });
    lists::scan_link_days(ledger_, [this](const LinkDay& day) {
        return add(kLinkDays, lists::link_day_list(), {day, account_id(day.account)});
    });
    for (const lists::PlainList* const list : lists::plain_lists()) {
        if (wants_more_ && !list->exported_as.empty()) {
            write_plain(*list);
        }
    }
    return wants_more_;
}

void TableWriter::write_orders() {
    const NodeNames nodes(ledger_);
    for (const ShopRow& shop : shops_) {
        if (wants_more_) {
            ledger_.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
                add_order(shop, order, nodes);
                return wants_more_;
            });
        }
    }
}

void TableWriter::add_order(const ShopRow& shop, const OrderState& order, const NodeNames& nodes) {
    const Attribution* const given = order.live ? &order.position()->attribution : nullptr;
    add(kOrders, lists::exported_order_list(),
        {.shop = shop,
         .order = order,
         .given = given,
         .creator = given == nullptr ? std::string_view() : given->creator.view(),
         .refunds = EffectiveRefunds(order.refunds),
         .commission = commission_amount(order),
         .node = nodes.of(order.last_node)});
    for (std::size_t i = 0; i < order.positions.size(); ++i) {
        for (const LineAccrual& accrual : order.positions[i].accruals) {
            add(kPositions, position_list(), {shop, order, i, accrual});
        }
    }
    for (const OrderLine& sold : order.lines) {
        if (given != nullptr) {
            add(kCommissions, commission_list(), {shop, order, sold});
        }
    }
}

/// Reads the payouts in slices, because a scan allows no other read.
void TableWriter::write_payouts() {
    constexpr std::size_t kAtOnce = 4096;
    PayoutNodes nodes(ledger_);
    Payout first;
    for (bool all_read = false; !all_read && wants_more_;) {
        std::vector<Payout> payouts;
        ledger_.scan(first, {0, 1}, [&](const Payout& payout) {
            if (payout.payout_id != first.payout_id) {
                payouts.push_back(payout);
            }
            return payouts.size() < kAtOnce;
        });
        all_read = payouts.size() < kAtOnce;
        for (const Payout& payout : payouts) {
            add(kPayouts, lists::exported_payout_list(),
                {account_id(payout.account),
                 payout,
                 {},
                 lists::profile_of(ledger_, payout.account, payout.creator),
                 nodes.of(payout.payout_id)});
        }
        first.payout_id = payouts.empty() ? first.payout_id : payouts.back().payout_id;
    }
}

void TableWriter::write_anomalies() {
    for (const ShopRow& shop : shops_) {
        if (!wants_more_) {
            return;
        }
        const std::uint32_t blocking = account_settings(ledger_, shop.account).blocking;
        ledger_.scan_anomalies(shop.account, shop.shop, [&](const Anomaly& anomaly) {
            return add(kAnomalies, lists::exported_anomaly_list(), {shop, anomaly, blocking});
        });
    }
}

void TableWriter::write_products() {
    for (const ShopRow& shop : shops_) {
        if (wants_more_) {
            ledger_.scan_catalog(shop.account, shop.shop, [&](const CatalogRecord& record) {
                add_product(shop, record);
                return wants_more_;
            });
        }
    }
}

/// Fields that the protocol does not know become members of `other_fields`.
void TableWriter::add_product(const ShopRow& shop, const CatalogRecord& record) {
    std::map<std::string, std::string_view, std::less<>> members;
    for (const JsonMember& member : json_members(record.json)) {
        members.emplace(member.key, member.value);
    }
    ExportLine& row = line(kProducts);
    row.add(shop.account_id);
    row.add(shop.shop_id);
    for (const ProductField& field : product_table().fields) {
        const auto found = members.find(field.name);
        row.add_json(found == members.end() ? std::string_view("null") : found->second);
        if (found != members.end()) {
            members.erase(found);
        }
    }
    std::string other;
    for (const auto& [name, value] : members) {
        other += (other.empty() ? "{" : ",") + json_quoted(name) + ":" + std::string(value);
    }
    row.add_json(other.empty() ? "null" : other + "}");
    add(kProducts);
}

void TableWriter::write_periods() {
    for (const auto& each : accounts_) {
        if (!wants_more_) {
            return;
        }
        const AccountId& account = each.second;
        Period period{.account = each.first};
        ledger_.scan(period, {1, 1}, [&](const Period& row) {
            return add(kPeriods, lists::period_list(), {account, &row});
        });
    }
}

void TableWriter::write_plain(const lists::PlainList& list) {
    const std::size_t table = table_named(list.exported_as);
    ledger_.scan_rows(AnyRow(*list.table).view(), {}, [&](RowView row) {
        return add(table, list.exported(),
                   {row, account_id(lists::account_of(row)), nullptr, ledger_});
    });
}

/// @param node_of  Returns the node that wrote what the entry with this index refers to.
template <class NodeOf>
void TableWriter::add_group(const JournalGroup& group, NodeOf&& node_of) {
    for (std::size_t i = 0; i < group.entries.size(); ++i) {
        add_entry(group, i, node_of(i));
    }
}

void TableWriter::add_entry(const JournalGroup& group, std::size_t index, const std::string& node) {
    const auto shop = shop_ids_.find(group.shop);
    const lists::JournalOf of{group,
                              index,
                              account_id(group.account),
                              shop == shop_ids_.end() ? std::string_view() : shop->second.view(),
                              group.entries[index].line.view(),
                              node};
    if (of.entry().refers_to != 0) {
        add(kJournalReferences, reference_list(), of);
    }
    add(kJournal, lists::exported_journal_list(), of);
}

void TableWriter::write_journal() {
    const lists::ReferredNodes referred(ledger_);
    ledger_.scan_journal(1, [&](const JournalGroup& group) {
        add_group(group, [&](std::size_t index) { return referred.of(group, index); });
        return wants_more_;
    });
}

bool TableWriter::write_changes(const ChangesSince& since) {
    constexpr std::size_t kAtOnce = 1000;
    constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20U;
    const std::size_t nodes = NodeNames(ledger_).count();
    lists::ChangeRows rows(ledger_, since.account, since.show_payee);
    lists::FeedPlace place = since.after;
    for (bool more = true; more && wants_more_;) {
        lists::Changes read =
            lists::changes_after(ledger_, since.account, place, kAtOnce, kBytesAtOnce);
        if (read.diverged || (read.more && read.changes.empty())) {
            throw LedgerFailure(
                {ErrorCode::kCorrupt, "ledger: a journal group of the account's chain is missing"});
        }
        for (const lists::Change& change : read.changes) {
            if (!wants_more_) {
                return false;
            }
            add_change(change, rows);
            add_group(change.group, [&](std::size_t index) {
                return lists::referred_node(ledger_, change.group, index, nodes);
            });
        }
        more = read.more;
        place = std::move(read.next);
    }
    return wants_more_;
}

void TableWriter::add_change(const lists::Change& change, lists::ChangeRows& rows) {
    Json json = rows.json(change);
    ExportLine& row = line(table_named(kChanges));
    for (const Column& column : lists::change_columns()) {
        if (column.type == ColumnType::kTime) {
            row.add(change.group.recorded_at);  // CSV has no quotes around a time
        } else {
            row.add_json(json[column.name].compact());
        }
    }
    add(table_named(kChanges));
}

}  // namespace

const std::vector<ExportTable>& export_tables() {
    static const std::vector<ExportTable> tables = [] {
        std::vector<ExportTable> all{{"orders", lists::exported_order_list().columns()},
                                     {"positions", position_list().columns()},
                                     {"commissions", commission_list().columns()},
                                     {"journal", lists::exported_journal_list().columns()},
                                     {"journal_references", reference_list().columns()},
                                     {"balances", lists::exported_balance_list().columns()},
                                     {"payouts", lists::exported_payout_list().columns()},
                                     plain_table(lists::payout_item_list()),
                                     {"anomalies", lists::exported_anomaly_list().columns()},
                                     {"products", lists::exported_product_columns()},
                                     {"periods", lists::period_list().columns()},
                                     plain_table(lists::period_sum_list()),
                                     {"links", lists::exported_link_list().columns()},
                                     {"click_days", lists::click_day_list().columns()},
                                     {"link_days", lists::link_day_list().columns()}};
        for (const lists::PlainList* const list : lists::plain_lists()) {
            const std::string_view name = list->exported_as;
            if (!name.empty() && std::ranges::find(all, name, &ExportTable::name) == all.end()) {
                all.push_back(plain_table(*list));
            }
        }
        all.push_back({kChanges, lists::change_columns()});
        return all;
    }();
    return tables;
}

std::vector<const ExportTable*> snapshot_tables() {
    auto tables = mapped(export_tables(), [](const ExportTable& table) { return &table; });
    tables.pop_back();  // changes
    return tables;
}

std::vector<const ExportTable*> change_tables() {
    return {&export_tables().back(), &export_tables()[kJournal],
            &export_tables()[kJournalReferences]};
}

bool write_tables(LedgerReader& ledger, ExportFormat format, Timestamp now, ExportOutput& out) {
    return TableWriter(ledger, format, out).write_all(now);
}

bool write_changes(LedgerReader& ledger, ExportFormat format, const ChangesSince& since,
                   ExportOutput& out) {
    return TableWriter(ledger, format, out).write_changes(since);
}

}  // namespace sluice::exports
