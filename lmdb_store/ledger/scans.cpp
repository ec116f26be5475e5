// Scans.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "lmdb_store/ledger/txn.hpp"
#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {
namespace {

/// Moves to the last row whose key begins with `prefix`, or that comes before such keys.
bool seek_last(RowCursor& cursor, std::string_view prefix) {
    std::string behind(prefix);
    while (!behind.empty() && static_cast<unsigned char>(behind.back()) == 0xFF) {
        behind.pop_back();
    }
    if (behind.empty()) {
        return cursor.last();
    }
    ++behind.back();
    return cursor.seek_before(behind);
}

/// Rows whose ids the keys had to cut at the same place: read together, sorted by the whole id.
/// Such a run is short, since its ids share their first 390 bytes.
template <class Row>
class CutRun {
public:
    void add(Row row, std::string_view id, std::string_view key) {
        rows_.push_back({std::string(id), std::string(key), std::move(row)});
    }
    /// Returns false if the visitor has seen enough.
    bool flush(const Visitor<Row>& visit) {
        std::sort(rows_.begin(), rows_.end(), [](const Entry& a, const Entry& b) {
            return std::tie(a.id, a.key) < std::tie(b.id, b.key);
        });
        const bool more = std::all_of(rows_.begin(), rows_.end(),
                                      [&](const Entry& entry) { return visit(entry.row); });
        rows_.clear();
        return more;
    }
    /// Returns whether `key` shares the cut beginning of the run.
    [[nodiscard]] bool holds(std::string_view key, std::size_t shared_bytes) const {
        return !rows_.empty() && key.substr(0, shared_bytes) ==
                                     std::string_view(rows_.front().key).substr(0, shared_bytes);
    }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

private:
    struct Entry {
        std::string id, key;
        Row row;
    };
    std::vector<Entry> rows_;
};

/// The id of a row, and whether the key had to cut it.
struct RowId {
    std::string_view id;
    bool cut = false;
};

/// Visits the rows below a shop in the order of their ids, from the first key that is not below
/// `begin`, which holds no part of an id beyond the place where keys are cut.
/// @param decode  (key, value, row) -> RowId
template <class Row, class Decode>
void scan_by_id(const RowAccess& rows, Table table, std::string_view prefix, std::string_view begin,
                Decode&& decode, const Visitor<Row>& visit) {
    const std::size_t shared_bytes = prefix.size() + kIdBytesWhole + 1;
    CutRun<Row> run;
    Row row{};
    bool more = true;
    RowCursor cursor(rows, table);
    for (bool found = cursor.seek(begin); found && more && cursor.key().starts_with(prefix);
         found = cursor.next()) {
        if (!run.empty() && !run.holds(cursor.key(), shared_bytes)) {
            more = run.flush(visit);
        }
        if (!more) {
            return;
        }
        const RowId id = decode(cursor.key(), cursor.value(), row);
        if (id.cut) {
            run.add(row, id.id, cursor.key());
        } else {
            more = visit(row);
        }
    }
    if (more) {
        run.flush(visit);
    }
}

/// Returns the first key that an id after `after` can have.
std::string begin_after(std::string_view prefix, std::string_view after) {
    return std::string(prefix) + std::string(after.substr(0, kIdBytesWhole));
}

}  // namespace

void Reads::scan_shops(const Visitor<ShopRow>& visit) {
    visit_prefix(rows_, Table::kShopIds, {}, [&](std::string_view key, std::string_view) {
        LedgerKeyParser parser(key);
        (void)parser.text();
        const auto row = shop({parser.u32()});
        rows_.check(parser.complete() && row, Table::kShopIds, key);
        return visit(*row);
    });
}

void Reads::scan_orders(AccountNumber account, ShopNumber shop, const Visitor<OrderState>& visit) {
    scan_orders_after(account, shop, {}, visit);
}

void Reads::scan_orders_after(AccountNumber account, ShopNumber shop, const OrderId& after,
                              const Visitor<OrderState>& visit) {
    const LedgerKey shops = shop_prefix(account, shop);
    const std::string_view prefix = shops.view();
    const auto decode = [&](std::string_view key, std::string_view value, OrderState& state) {
        const auto whole = LedgerKeyParser(key.substr(prefix.size())).id(kIdBytesWhole);
        const auto id = whole ? whole : OrderValue::cut_order_id(key, value);
        rows_.check(id.has_value(), Table::kOrders, key, OrderKey{account, shop, {}});
        state.key.account = account;
        state.key.shop = shop;
        state.key.order_id.assign(*id);
        rows_.check(order_value_.decode(key, value, state), Table::kOrders, state.key);
        return RowId{state.key.order_id.view(), !whole};
    };
    scan_by_id<OrderState>(
        rows_, Table::kOrders, prefix, begin_after(prefix, after.view()), decode,
        [&](const OrderState& order) { return !(after < order.key.order_id) || visit(order); });
}

void Reads::scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) {
    LedgerKey prefix = order_key(key);
    prefix.end();
    EventTrace event;
    visit_prefix(rows_, Table::kEvents, prefix.view(),
                 [&](std::string_view place, std::string_view value) {
                     OrderKey order = key;
                     rows_.check(RowValue::decode_event(place, value, order, event), Table::kEvents,
                                 place, key);
                     return visit(event);
                 });
}

void Reads::scan_catalog(AccountNumber account, ShopNumber shop,
                         const Visitor<CatalogRecord>& visit) {
    scan_catalog_after({account, shop, {}, {}, {}}, visit);
}

void Reads::scan_catalog_after(const CatalogKey& after, const Visitor<CatalogRecord>& visit) {
    const AccountNumber account = after.account;
    const ShopNumber shop = after.shop;
    const LedgerKey prefix = shop_prefix(account, shop);
    const auto decode = [&](std::string_view key, std::string_view value, CatalogRecord& row) {
        LedgerKeyParser parser(key.substr(prefix.view().size()));
        const auto whole = parser.id(kIdBytesWhole);
        row.key = {account, shop, ProductId(whole.value_or(std::string_view{})),
                   std::string(parser.code2()), std::string(parser.code2())};
        rows_.check(parser.complete() && RowValue::decode(key, value, row), Table::kCatalog, key);
        return RowId{row.key.product_id.view(), !whole};
    };
    scan_by_id<CatalogRecord>(
        rows_, Table::kCatalog, prefix.view(), begin_after(prefix.view(), after.product_id.view()),
        decode,
        [&](const CatalogRecord& record) { return !(after < record.key) || visit(record); });
}

std::map<std::string, std::uint64_t> Reads::dead_by_shop(AccountNumber account, Timestamp from,
                                                         Timestamp to) {
    std::map<std::string, std::uint64_t> counts;
    scan_dead([&](const DeadLetter& letter) {
        if (letter.account == account && from <= letter.received_at && letter.received_at < to) {
            ++counts[letter.shop_id];
        }
        return true;
    });
    return counts;
}

void Reads::scan_chains(const Visitor<NodeChain>& visit) {
    NodeChain row;
    visit_prefix(rows_, Table::kChains, {}, [&](std::string_view key, std::string_view value) {
        LedgerKeyParser parser(key);
        const auto node = nodes_.find(parser.u32());
        row.account = {parser.u32()};
        rows_.check(
            parser.complete() && node != nodes_.end() && RowValue::decode(key, value, row.head),
            Table::kChains, key);
        row.node = node->second;
        return row.head.entries == 0 || visit(row);
    });
}

void Reads::scan_heads(const Visitor<LedgerHead>& visit) {
    NodeHead row;
    visit_prefix(rows_, Table::kHeads, {}, [&](std::string_view key, std::string_view value) {
        rows_.check(RowValue::decode(key, value, row), Table::kHeads, key);
        row.head.programs_revision = node_.head.programs_revision;
        return visit(row.head);
    });
}

void EmbeddedWhole::turn_to(std::string_view node) {
    node_ = {};
    nodes_.clear();
    load_head(node);
}

/// The parts of one balance follow one another, by the numbers of their nodes.
void EmbeddedWhole::scan_balance_parts(const Visitor<NodeBalance>& visit) {
    std::vector<NodeBalance> parts;
    const auto visit_parts = [&] {
        std::sort(parts.begin(), parts.end(),
                  [](const NodeBalance& a, const NodeBalance& b) { return a.node < b.node; });
        const bool more = std::all_of(parts.begin(), parts.end(), visit);
        parts.clear();
        return more;
    };
    bool more = true;
    visit_prefix(rows_, Table::kBalances, {}, [&](std::string_view place, std::string_view value) {
        NodeBalance row;
        LedgerKeyParser parser(place);
        row.part.key.account = {parser.u32()};
        row.part.key.program.assign(parser.text());
        row.part.key.creator.assign(parser.text());
        const auto currency = Currency::parse(parser.bytes(3));
        const auto node = nodes_.find(parser.u32());
        rows_.check(parser.complete() && currency && node != nodes_.end() &&
                        RowValue::decode(place, value, row.part),
                    Table::kBalances, place);
        row.part.key.currency = *currency;
        row.node = node->second;
        if (!parts.empty() && !(parts.front().part.key == row.part.key)) {
            more = visit_parts();
        }
        parts.push_back(std::move(row));
        return more;
    });
    if (more) {
        (void)visit_parts();
    }
}

/// Rows whose ids the keys had to cut are sorted as scan_rows() sorts them.
void Reads::scan_rows_back(RowView before, KeyRange range, const RowVisitor& visit) {
    const LedgerKey same = key_of(before, range.same);
    const LedgerKey bound = key_of(before, range.from);
    const bool is_bounded = range.from > range.same;
    const std::string limit = is_bounded ? sort_key(before, range.from) : std::string();
    RowCursor cursor(rows_, stored_in(before.table()));
    const bool is_cut = bound.uncut().size() != bound.size();
    bool found =
        is_bounded && !is_cut ? cursor.seek_before(bound.view()) : seek_last(cursor, bound.uncut());
    std::vector<std::pair<std::string, AnyRow>> run;
    std::string run_begins;
    const auto visit_run = [&] {
        std::sort(run.begin(), run.end(),
                  [](const auto& a, const auto& b) { return b.first < a.first; });
        const bool more = std::all_of(run.begin(), run.end(), [&](const auto& entry) {
            return (is_bounded && entry.first >= limit) || visit(entry.second.view());
        });
        run.clear();
        return more;
    };
    AnyRow row(before.table());
    bool more = true;
    for (; found && more && cursor.key().starts_with(same.uncut()); found = cursor.previous()) {
        if (!cursor.key().starts_with(same.view())) {
            continue;  // another id that was cut at the same place
        }
        if (!run.empty() && !cursor.key().starts_with(run_begins)) {
            more = visit_run();
        }
        if (more && !decode_row(cursor.key(), cursor.value(), row.ref())) {
            more = visit(row.view());
        } else if (more) {
            run_begins = key_of(row.view()).uncut();
            run.emplace_back(sort_key(row.view()), row);
        }
    }
    if (more) {
        (void)visit_run();
    }
}

std::optional<AppliedBatch> Reads::latest_batch() {
    RowCursor cursor(rows_, stored_in(table_of<AppliedBatch>()));
    if (!cursor.last()) {
        return std::nullopt;
    }
    AppliedBatch row;
    (void)decode_row(cursor.key(), cursor.value(), row);
    return row;
}

}  // namespace sluice::store
