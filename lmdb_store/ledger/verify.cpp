// The check of the tables themselves: every row is what was written, and every index leads to all
// of its rows. core/audit judges what the rows say.
#include <utility>

#include "lmdb_store/ledger/txn.hpp"

namespace sluice::store {
namespace {

/// One snapshot, so that every table is compared with the same state of the others.
class Verifier : public EmbeddedSnapshot {
public:
    Verifier(const LedgerTables& tables, ReadTxn txn, std::string_view node,
             std::size_t problems_max)
        : EmbeddedSnapshot(tables, std::move(txn), node), problems_max_(problems_max) {}

    std::vector<std::string> run() {
        for (const DescribedTable& table : described_tables()) {
            check_table(table);
        }
        check_shops();
        check_orders();
        check_events();
        check_journal();
        check_catalog();
        guarded([this] { scan_chains([](const NodeChain&) { return true; }); });
        guarded([this] { scan_balances([](const Balance&) { return true; }); });
        return std::move(problems_);
    }

private:
    void problem(std::string text) {
        if (problems_.size() < problems_max_) {
            problems_.push_back(std::move(text));
        }
    }
    template <class Check>
    void guarded(Check&& check) {
        try {
            check();
        } catch (const DamagedRow& damage) {
            problem(damage.error().message);
        }
    }
    /// Calls `check(key, value)` for every row of a table. Reports a damaged row and goes to the
    /// next.
    template <class Check>
    void each(Table table, Check&& check) {
        visit_prefix(rows_, table, {}, [&](std::string_view key, std::string_view value) {
            guarded([&] { check(key, value); });
            return problems_.size() < problems_max_;
        });
    }
    void check_table(const DescribedTable& table) {
        AnyRow row(table);
        each(stored_in(table), [&](std::string_view key, std::string_view value) {
            (void)decode_row(key, value, row.ref());
            follow_order(row.ref());
        });
    }
    void expect(Table table, std::uint64_t expected, const char* of) {
        const std::uint64_t stored = rows_.count(table);
        if (stored != expected) {
            problem(std::string("table ") + name_of(table) + " has " + std::to_string(stored) +
                    " rows, the " + of + " account for " + std::to_string(expected));
        }
    }
    /// Reports a row of an index that is missing.
    void expect_row(Table table, std::string_view key, const std::string& of) {
        if (!rows_.has(table, key)) {
            problem(of + " is not in table " + name_of(table) + ", where it is looked for");
        }
    }
    void check_shops();
    void check_orders();
    void check_events();
    void check_journal();
    void check_catalog();

    std::size_t problems_max_;
    std::vector<std::string> problems_;
};

void Verifier::check_shops() {
    std::uint64_t shops = 0;
    each(stored_in(table_of<ShopRow>()), [&](std::string_view key, std::string_view value) {
        ShopRow row;
        ++shops;
        (void)decode_row(key, value, row);
        expect_row(Table::kShopIds, shop_id_key(row).view(), "shop " + row.shop_id.str());
    });
    expect(Table::kShopIds, shops, "shops");
}

void Verifier::check_orders() {
    OrderState state;
    each(Table::kOrders, [&](std::string_view key, std::string_view value) {
        rows_.check(OrderValue::decode_key(key, value, state.key), Table::kOrders, key);
        rows_.check(order_value_.decode(key, value, state), Table::kOrders, state.key);
        const std::string_view current = order_rows_.current(rows_, key, value, state.key);
        rows_.check(order_value_.decode(key, current, state), Table::kOrders, state.key);
    });
    verify_order_changes(rows_, [this](std::string text) { problem(std::move(text)); });
}

void Verifier::check_events() {
    std::uint64_t digests = 0;
    each(Table::kEvents, [&](std::string_view key, std::string_view value) {
        OrderKey order;
        EventTrace event;
        std::uint64_t seq = 0;
        std::uint32_t node = 0;
        rows_.check(parse_event_key(key, order, seq, node) &&
                        RowValue::decode_event(key, value, order, event) &&
                        event.seq.value == seq && event.node == node,
                    Table::kEvents, key);
        if (event.digest != EventDigest{}) {
            ++digests;
            expect_row(Table::kEventDigests,
                       event_digest_key(order, event.topic, event.digest).view(),
                       "event " + std::to_string(seq) + " of order " + order.order_id.str());
        }
    });
    expect(Table::kEventDigests, digests, "events");
}

void Verifier::check_journal() {
    std::uint64_t dated = 0;
    JournalGroup group;
    each(Table::kJournal, [&](std::string_view key, std::string_view value) {
        decode_group(key, value, group);
        if (!group.creator.empty()) {
            ++dated;
            expect_row(Table::kCreatorJournal, dated_key(group, LedgerKeyParser(key).u32()).view(),
                       "journal entry " + std::to_string(group.first_entry));
        }
    });
    expect(Table::kCreatorJournal, dated, "journal's groups");
}

void Verifier::check_catalog() {
    std::uint64_t variants = 0;
    each(Table::kCatalog, [&](std::string_view key, std::string_view value) {
        CatalogRecord record;
        rows_.check(parse_catalog_key(key, record.key) && RowValue::decode(key, value, record),
                    Table::kCatalog, key);
        for (const std::string& variant : record.variant_skus) {
            ++variants;
            expect_row(Table::kVariants, variant_key(record.key, variant).view(),
                       "variant " + variant);
        }
    });
    each(Table::kVariants, [&](std::string_view key, std::string_view value) {
        LedgerKeyParser parser(key);
        (void)parser.u64();
        (void)parser.id(kIdBytesWholeVariant);
        (void)parser.code2();
        (void)parser.code2();
        ProductId product(parser.id(kIdBytesWholeVariant).value_or(std::string_view{}));
        rows_.check(parser.complete() && RowValue::decode_variant(key, value, product),
                    Table::kVariants, key);
    });
    expect(Table::kVariants, variants, "products");
}

}  // namespace

std::vector<std::string> verify_ledger(const LedgerTables& tables, ReadTxn txn,
                                       std::string_view node, std::size_t problems_max) {
    return Verifier(tables, std::move(txn), node, problems_max).run();
}

}  // namespace sluice::store
