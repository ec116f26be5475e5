#include "core/copy/row_sink.hpp"

#include <algorithm>
#include <tuple>

namespace sluice {
namespace {

using Damaged = std::function<void(const std::string& table, const Error& error)>;

class Walk {
public:
    /// @param damaged  May be empty: then a damaged row ends the walk.
    Walk(WholeReader& from, RowSink& to, Damaged damaged = {})
        : from_(from), to_(to), damaged_(std::move(damaged)) {}

    void run() {
        guarded("heads", [this] { walk_heads(); });
        for (const DescribedTable& table : described_tables()) {
            guarded(table.name, [&] { walk_table(table); });
        }
        guarded("chains", [this] { walk_chains(); });
        guarded("balances", [this] { from_.scan_balance_parts(every<NodeBalance>()); });
        guarded("journal", [this] {
            from_.scan_journal(0, [this](const JournalGroup& group) {
                entries_ += group.entries.size();
                to_.add(group);
            });
        });
        walk_shops();
        if (!damaged_) {
            check_counts();
        }
    }

private:
    template <class Part>
    void guarded(const char* table, Part&& part) {
        try {
            part();
        } catch (const DamagedRow& row) {
            if (!damaged_) {
                throw;
            }
            damaged_(table, row.error());
        }
    }
    template <class Row>
    [[nodiscard]] Visitor<Row> every() {
        return [this](const Row& row) {
            to_.add(row);
            return true;
        };
    }
    void walk_heads() {
        heads_ = heads_of(from_);
        for (const LedgerHead& head : heads_) {
            to_.add(head);
        }
    }
    void walk_table(const DescribedTable& table) {
        const AnyRow first(table);
        const auto add = [this](RowView row) {
            to_.add_row(row);
            return true;
        };
        if (!table.per_node) {
            from_.scan_rows(first.view(), {}, add);
            return;
        }
        for (const LedgerHead& head : heads_) {
            from_.turn_to(head.node);
            to_.turn_to(head.node);
            from_.scan_rows(first.view(), {}, add);
        }
    }
    /// Sorts the chains, because ledgers have them in different orders.
    void walk_chains() {
        std::vector<NodeChain> chains;
        from_.scan_chains([&chains](const NodeChain& chain) { chains.push_back(chain); });
        std::ranges::sort(chains, [](const NodeChain& a, const NodeChain& b) {
            return std::tie(a.account, a.node) < std::tie(b.account, b.node);
        });
        for (const NodeChain& chain : chains) {
            to_.add(chain);
        }
    }
    void walk_shops() {
        std::vector<ShopRow> shops;
        guarded("shops", [&] {
            from_.scan_shops([&shops](const ShopRow& shop) { shops.push_back(shop); });
        });
        std::ranges::sort(shops, [](const ShopRow& a, const ShopRow& b) {
            return std::tie(a.account, a.shop) < std::tie(b.account, b.shop);
        });
        for (const ShopRow& shop : shops) {
            guarded("orders", [&] {
                from_.scan_orders(shop.account, shop.shop,
                                  [this](const OrderState& order) { walk_order(order); });
            });
            guarded("catalog",
                    [&] { from_.scan_catalog(shop.account, shop.shop, every<CatalogRecord>()); });
        }
    }
    void walk_order(const OrderState& order) {
        ++orders_;
        to_.add(order);
        std::uint64_t events = order.events.size();
        if (order.events_count > events) {
            from_.scan_events(order.key, [&](const EventTrace& event) {
                ++events;
                to_.add(order.key, event);
            });
        }
        if (events != order.events_count && !damaged_) {
            throw DamagedRow(row_name("orders", order.key),
                             "it counts " + std::to_string(order.events_count) + " events, " +
                                 std::to_string(events) + " are there",
                             order.key);
        }
    }
    /// The walk finds orders through their shops, so it would miss an order whose shop row is gone.
    void check_counts() const {
        std::uint64_t orders = 0;
        std::uint64_t entries = 0;
        for (const LedgerHead& head : heads_) {
            orders += head.totals.orders;
            entries += head.totals.journal_entries;
        }
        if (orders != orders_ || entries != entries_) {
            throw DamagedRow("table heads",
                             "they count " + std::to_string(orders) + " orders and " +
                                 std::to_string(entries) + " journal entries; " +
                                 std::to_string(orders_) + " and " + std::to_string(entries_) +
                                 " are there",
                             std::nullopt);
        }
    }

    WholeReader& from_;
    RowSink& to_;
    Damaged damaged_;
    std::vector<LedgerHead> heads_;
    std::uint64_t orders_ = 0;
    std::uint64_t entries_ = 0;
};

class Tee final : public RowSink {
public:
    Tee(RowSink& one, RowSink& other) : one_(one), other_(other) {}

    void add_row(RowView row) override {
        one_.add_row(row);
        other_.add_row(row);
    }
    void turn_to(std::string_view node) override {
        one_.turn_to(node);
        other_.turn_to(node);
    }
    void add(const LedgerHead& row) override { both(row); }
    void add(const NodeChain& row) override { both(row); }
    void add(const NodeBalance& row) override { both(row); }
    void add(const JournalGroup& row) override { both(row); }
    void add(const OrderState& row) override { both(row); }
    void add(const OrderKey& order, const EventTrace& event) override { both(order, event); }
    void add(const CatalogRecord& row) override { both(row); }

private:
    void both(const auto&... row) {
        one_.add(row...);
        other_.add(row...);
    }

    RowSink& one_;
    RowSink& other_;
};

}  // namespace

std::vector<LedgerHead> heads_of(LedgerReader& ledger) {
    std::vector<LedgerHead> heads;
    ledger.scan_heads([&heads](const LedgerHead& head) { heads.push_back(head); });
    return heads;
}

void walk_ledger(WholeReader& from, RowSink& to) {
    Walk(from, to).run();
}

void walk_damaged_ledger(WholeReader& from, RowSink& to, const Damaged& damaged) {
    Walk(from, to, damaged).run();
}

void walk_ledger(WholeReader& from, RowSink& to, RowSink& also) {
    Tee tee(to, also);
    walk_ledger(from, tee);
}

}  // namespace sluice
