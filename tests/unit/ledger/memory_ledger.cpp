#include "unit/ledger/memory_ledger.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/ledger/table.hpp"

namespace sluice::test {
namespace {

template <class Map, class Key>
auto find_in(const Map& map, const Key& key) -> std::optional<typename Map::mapped_type> {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
}

template <class Map, class Row>
void scan_map(const Map& map, const Visitor<Row>& visit) {
    for (const auto& [key, row] : map) {
        if (!visit(row)) {
            return;
        }
    }
}

class MemoryTxn final : public LedgerTxn {
public:
    /// `home` receives the tables at commit; nullptr makes a snapshot.
    MemoryTxn(std::shared_ptr<MemoryTables>* home, const MemoryTables& tables,
              std::string_view node)
        : t_(std::make_shared<MemoryTables>(tables)),
          home_(home),
          head_(t_->heads[std::string(node)]) {
        head_.node = node;
        if (head_.number == 0) {
            head_.number = static_cast<std::uint32_t>(t_->heads.size());
        }
        head_.programs_revision = t_->programs_revision;
    }

    bool load_row(RowRef row) override {
        const auto found = rows(row).find(sort_key(row));
        if (found != rows(row).end()) {
            row.assign(found->second.view());
        }
        return found != rows(row).end();
    }
    void scan_rows(RowView first, KeyRange range, const RowVisitor& visit) override {
        const std::string same = sort_key(first, range.same);
        for (auto at = rows(first).lower_bound(sort_key(first, range.from));
             at != rows(first).end() && at->first.starts_with(same) && visit(at->second.view());
             ++at) {
        }
    }
    void put_row(RowView row) override { rows(row).insert_or_assign(sort_key(row), AnyRow(row)); }
    void erase_row(RowView row) override { rows(row).erase(sort_key(row)); }

    bool load_order(const OrderKey& key, OrderState& state) override {
        const auto found = t_->orders.find(key);
        if (found != t_->orders.end()) {
            state = found->second;
        }
        return found != t_->orders.end();
    }
    bool has_event(const OrderKey& key, Topic topic, const EventDigest& digest) override {
        const std::vector<EventTrace>& events = t_->events[key];
        return std::any_of(events.begin(), events.end(), [&](const EventTrace& event) {
            return event.topic == topic && event.digest == digest;
        });
    }
    void visit_clicks(AccountNumber account, const Digest256& anon, const ProgramId& program,
                      Timestamp upto, const Visitor<Click>& visit) override {
        std::vector<Click> clicks;
        Click first;
        first.account = account;
        first.anon = anon;
        first.program = program;
        scan(first, {3, 3}, [&](const Click& click) {
            if (click.occurred_at <= upto) {
                clicks.push_back(click);
            }
            return true;
        });
        for (auto at = clicks.rbegin(); at != clicks.rend() && visit(*at); ++at) {
        }
    }
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override {
        const auto at = t_->variants.lower_bound(
            {account, shop, std::string(variant_sku), {}, {}, ProductId()});
        if (at == t_->variants.end() || std::get<0>(at->first) != account ||
            std::get<1>(at->first) != shop || std::get<2>(at->first) != variant_sku) {
            return std::nullopt;
        }
        return at->second;
    }
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override {
        std::vector<CatalogKey> keys;
        for (const auto& [key, record] : t_->catalog) {
            if (key.account == account && key.shop == shop && key.product_id == product) {
                keys.push_back(key);
            }
        }
        return keys;
    }
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override {
        return find_in(t_->catalog, key);
    }

    const LedgerHead& head() const override { return head_; }
    ChainHead chain(AccountNumber account) override { return mutable_chain(account); }
    std::optional<Balance> balance(const BalanceKey& key) override {
        return find_in(t_->balances, key);
    }
    std::optional<JournalGroup> journal_group(std::string_view node,
                                              std::uint64_t first_entry) override {
        return find_in(t_->journal, std::pair(std::string(node), first_entry));
    }
    std::vector<JournalGroup> order_journal(const OrderState& state) override {
        std::vector<JournalGroup> groups;
        for (const auto& [key, group] : t_->journal) {
            const bool of_order = group.account == state.key.account &&
                                  group.shop == state.key.shop &&
                                  group.order_id == state.key.order_id;
            if (of_order && !is_of_credit(group)) {
                groups.push_back(group);
            }
        }
        return groups;
    }

    void scan_shops(const Visitor<ShopRow>& visit) override {
        std::map<ShopId, ShopRow> by_id;
        scan(ShopRow{}, {}, [&](const ShopRow& row) {
            by_id[row.shop_id] = row;
            return true;
        });
        scan_map(by_id, visit);
    }
    void scan_orders(AccountNumber account, ShopNumber shop,
                     const Visitor<OrderState>& visit) override {
        for (const auto& [key, state] : t_->orders) {
            if (key.account == account && key.shop == shop && !visit(state)) {
                return;
            }
        }
    }
    void scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) override {
        for (const EventTrace& event : t_->events[key]) {
            if (!visit(event)) {
                return;
            }
        }
    }
    void scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) override {
        for (const auto& [key, group] : t_->journal) {
            if (key.second >= from_entry && !visit(group)) {
                return;
            }
        }
    }
    void scan_creator_journal(AccountNumber account, const CreatorId& creator, Timestamp from,
                              Timestamp to, const Visitor<JournalGroup>& visit) override {
        scan_dated(from, to, visit, [&](const JournalGroup& group) {
            return group.account == account && group.creator == creator;
        });
    }
    void scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                              const Visitor<JournalGroup>& visit) override {
        scan_dated(from, to, visit, [&](const JournalGroup& group) {
            return group.account == account && !group.creator.empty();
        });
    }
    void scan_heads(const Visitor<LedgerHead>& visit) override { scan_map(t_->heads, visit); }
    void scan_chains(const Visitor<NodeChain>& visit) override {
        for (const auto& [key, head] : t_->chains) {
            if (head.entries != 0 && !visit({key.second, key.first, head})) {
                return;
            }
        }
    }
    void scan_balances_from(const BalanceKey& from, const Visitor<Balance>& visit) override {
        for (auto at = t_->balances.lower_bound(from); at != t_->balances.end(); ++at) {
            if (!visit(at->second)) {
                return;
            }
        }
    }
    void scan_catalog(AccountNumber account, ShopNumber shop,
                      const Visitor<CatalogRecord>& visit) override {
        for (const auto& [key, row] : t_->catalog) {
            if (key.account == account && key.shop == shop && !visit(row)) {
                return;
            }
        }
    }
    LedgerHead& mutable_head() override { return head_; }
    ChainHead& mutable_chain(AccountNumber account) override {
        return t_->chains[{account, head_.node}];
    }
    void put_order(const OrderState& state) override { t_->orders[state.key] = state; }
    void put_event(const OrderKey& key, const EventTrace& event) override {
        std::vector<EventTrace>& events = t_->events[key];
        const auto same = std::find_if(events.begin(), events.end(),
                                       [&](const EventTrace& old) { return old.seq == event.seq; });
        same == events.end() ? events.push_back(event) : static_cast<void>(*same = event);
    }
    void append_journal(const JournalGroup& group) override {
        if (!t_->journal.emplace(std::pair(group.node, group.first_entry), group).second) {
            throw std::logic_error("a journal entry was written twice");
        }
    }
    void add_to_balance(const Balance& change) override {
        Balance& row = t_->balances[change.key];
        row.key = change.key;
        row += change;
    }
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override {
        if (old != nullptr) {
            delete_catalog(*old);
        }
        t_->catalog[record.key] = record;
        for (const std::string& sku : record.variant_skus) {
            t_->variants[variant_key(record.key, sku)] = record.key;
        }
    }
    void delete_catalog(const CatalogRecord& old) override {
        for (const std::string& sku : old.variant_skus) {
            t_->variants.erase(variant_key(old.key, sku));
        }
        t_->catalog.erase(old.key);
    }
    void commit() override {
        t_->programs_revision = head_.programs_revision;
        *home_ = t_;
    }

private:
    std::map<std::string, AnyRow>& rows(RowView row) { return t_->rows.at(row.table().number); }
    static MemoryTables::VariantKey variant_key(const CatalogKey& key, const std::string& sku) {
        return {key.account, key.shop, sku, key.language, key.country, key.product_id};
    }

    /// A credit, or the reversal of one.
    bool is_of_credit(const JournalGroup& group) {
        MoneyCommand row;
        row.command_id = group.command_id;
        if (group.entries.front().reason == JournalReason::kReversal && load(row)) {
            const std::string of = row.reverses;
            row = MoneyCommand{};
            row.command_id = of;
            return load(row) && row.topic == Topic::kCredit;
        }
        return group.entries.front().reason == JournalReason::kCredit;
    }

    template <class Wanted>
    void scan_dated(Timestamp from, Timestamp to, const Visitor<JournalGroup>& visit,
                    Wanted wanted) {
        using Key = std::tuple<CreatorId, Timestamp, std::string, std::uint64_t>;
        std::map<Key, const JournalGroup*> groups;
        for (const auto& [key, group] : t_->journal) {
            if (group.accounting_date >= from && group.accounting_date < to && wanted(group)) {
                groups.emplace(
                    Key(group.creator, group.accounting_date, group.node, group.first_entry),
                    &group);
            }
        }
        for (const auto& [key, group] : groups) {
            if (!visit(*group)) {
                return;
            }
        }
    }

    std::shared_ptr<MemoryTables> t_;
    std::shared_ptr<MemoryTables>* home_;
    LedgerHead& head_;
};

}  // namespace

MemoryLedger::MemoryLedger() : tables_(std::make_shared<MemoryTables>()) {}

std::unique_ptr<LedgerTxn> MemoryLedger::begin(std::string_view node) {
    return std::make_unique<MemoryTxn>(&tables_, *tables_, node);
}

std::unique_ptr<LedgerReader> MemoryLedger::snapshot(std::string_view node) {
    return std::make_unique<MemoryTxn>(nullptr, *tables_, node);
}

}  // namespace sluice::test
