// Scans.
#include <algorithm>
#include <string>
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

/// Rows whose ids the keys had to cut at the same place sort by digests. They are read together,
/// and sorted by their whole ids. Such a run is short, since its ids share hundreds of bytes.
template <class Row>
class CutRun {
public:
    explicit CutRun(bool back = false) : back_(back) {}

    /// @param whole_key  Sorts as the row does.
    /// @param beginning  The part that the keys of the run have in common.
    void add(Row row, std::string whole_key, std::string_view beginning) {
        beginning_ = beginning;
        rows_.emplace_back(std::move(whole_key), std::move(row));
    }
    /// Visits the run if `key` does not belong to it. Returns false if the visitor has seen enough.
    template <class Visit>
    bool pass(std::string_view key, Visit&& visit) {
        return rows_.empty() || key.starts_with(beginning_) || flush(visit);
    }
    template <class Visit>
    bool flush(Visit&& visit) {
        std::ranges::sort(rows_, [this](const auto& a, const auto& b) {
            return back_ ? b.first < a.first : a.first < b.first;
        });
        const bool more =
            std::ranges::all_of(rows_, [&](const auto& entry) { return visit(entry.second); });
        rows_.clear();
        return more;
    }

private:
    bool back_;
    std::string beginning_;
    std::vector<std::pair<std::string, Row>> rows_;
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
    RowCursor cursor(rows, table);
    for (bool found = cursor.seek(begin); found && cursor.key().starts_with(prefix);
         found = cursor.next()) {
        if (!run.pass(cursor.key(), visit)) {
            return;
        }
        const RowId id = decode(cursor.key(), cursor.value(), row);
        if (id.cut) {
            std::string whole_key = std::string(id.id) + '\0';
            whole_key += cursor.key();
            run.add(row, std::move(whole_key), cursor.key().substr(0, shared_bytes));
        } else if (!visit(row)) {
            return;
        }
    }
    (void)run.flush(visit);
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
        rows_.check(OrderValue::decode_key(key, value, state.key), Table::kOrders, key,
                    OrderKey{account, shop, {}});
        const std::string_view current = order_rows_.current(rows_, key, value, state.key);
        rows_.check(order_value_.decode(key, current, state), Table::kOrders, state.key);
        const std::string_view id = state.key.order_id.view();
        return RowId{id, id_is_cut(id, kIdBytesWhole)};
    };
    scan_by_id<OrderState>(
        rows_, Table::kOrders, prefix, begin_after(prefix, after.view()), decode,
        [&](const OrderState& order) { return !(after < order.key.order_id) || visit(order); });
}

/// The greatest id that comes before `id`. Keys that were cut at the same place sort by digests, so
/// all of such a run are read.
std::optional<OrderId> Reads::order_before(AccountNumber account, ShopNumber shop,
                                           const OrderId& id) {
    const LedgerKey shops = shop_prefix(account, shop);
    const std::string begin = begin_after(shops.view(), id.view());
    std::optional<OrderId> greatest;
    const auto take = [&](std::string_view key, std::string_view value) {
        OrderKey order;
        rows_.check(OrderValue::decode_key(key, value, order), Table::kOrders, key,
                    OrderKey{account, shop, {}});
        if (order.order_id < id && (!greatest || *greatest < order.order_id)) {
            greatest = order.order_id;
        }
    };
    RowCursor cursor(rows_, Table::kOrders);
    if (id.view().size() >= kIdBytesWhole) {
        for (bool found = cursor.seek(begin); found && cursor.key().starts_with(begin);
             found = cursor.next()) {
            take(cursor.key(), cursor.value());
        }
    }
    if (greatest || !cursor.seek_before(begin)) {
        return greatest;
    }
    const std::string run(cursor.key().substr(0, shops.view().size() + kIdBytesWhole));
    for (bool found = true;
         found && cursor.key().starts_with(shops.view()) && cursor.key().starts_with(run);
         found = cursor.previous()) {
        take(cursor.key(), cursor.value());
        if (run.size() < shops.view().size() + kIdBytesWhole) {
            break;  // a whole id
        }
    }
    return greatest;
}

std::vector<OrderNeighbours> Reads::neighbours(AccountNumber account,
                                               std::span<const ShopNumber> shops,
                                               const OrderId& id) {
    std::vector<OrderNeighbours> list;
    for (const ShopNumber shop : shops) {
        OrderNeighbours& one = list.emplace_back();
        one.shop = shop;
        one.before = order_before(account, shop, id);
        scan_orders_after(account, shop, id, [&one](const OrderState& order) {
            one.after = order.key.order_id;
            return false;
        });
    }
    return list;
}

std::vector<OrderKey> Reads::orders_beginning(AccountNumber account,
                                              std::span<const ShopNumber> shops,
                                              std::string_view beginning, std::size_t max) {
    std::vector<OrderKey> keys;
    OrderState order;
    for (const ShopNumber shop : shops) {
        const OrderKey exact{account, shop, OrderId(beginning)};
        if (keys.size() < max && load_order(exact, order)) {
            keys.push_back(exact);
        }
        scan_orders_after(account, shop, exact.order_id, [&](const OrderState& found) {
            if (keys.size() >= max || !found.key.order_id.view().starts_with(beginning)) {
                return false;
            }
            keys.push_back(found.key);
            return true;
        });
    }
    return keys;
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

std::map<std::string, DeadCount> Reads::dead_by_shop(AccountNumber account, Timestamp from,
                                                     Timestamp to) {
    std::map<std::string, DeadCount> counts;
    scan_dead([&](const DeadLetter& letter) {
        if (letter.account == account && from <= letter.received_at && letter.received_at < to) {
            DeadCount& count = counts[letter.shop_id];
            ++(letter.topic == Topic::kPrivacyRequest ? count.privacy_requests : count.others);
        }
    });
    return counts;
}

void Reads::scan_chains(const Visitor<NodeChain>& visit) {
    settle(Table::kChains);
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
    settle(Table::kHeads);
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
        std::ranges::sort(
            parts, [](const NodeBalance& a, const NodeBalance& b) { return a.node < b.node; });
        const bool more = std::ranges::all_of(parts, visit);
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

void Reads::scan_rows(RowView first, KeyRange range, const RowVisitor& visit) {
    settle(stored_in(first.table()));
    RowCursor cursor(rows_, stored_in(first.table()));
    if (cursor.seek(key_of(first, range.from).uncut())) {
        visit_rows(cursor, first, range, false, visit);
    }
}

void Reads::scan_rows_back(RowView before, KeyRange range, const RowVisitor& visit) {
    settle(stored_in(before.table()));
    const LedgerKey bound = key_of(before, range.from);
    RowCursor cursor(rows_, stored_in(before.table()));
    const bool is_cut = bound.uncut().size() != bound.size();
    if (range.from > range.same && !is_cut ? cursor.seek_before(bound.view())
                                           : seek_last(cursor, bound.uncut())) {
        visit_rows(cursor, before, range, true, visit);
    }
}

void Reads::visit_rows(RowCursor& cursor, RowView bound, KeyRange range, bool back,
                       const RowVisitor& visit) {
    const LedgerKey same = key_of(bound, range.same);
    bool found = cursor.key().starts_with(same.uncut());
    if (!found) {
        return;
    }
    AnyRow row(bound.table());
    CutRun<AnyRow> run(back);
    const auto visit_cut = [&visit](const AnyRow& cut) { return visit(cut.view()); };
    for (; found && cursor.key().starts_with(same.uncut());
         found = back ? cursor.previous() : cursor.next()) {
        if (!cursor.key().starts_with(same.view())) {
            continue;  // another id that was cut at the same place
        }
        if (!run.pass(cursor.key(), visit_cut)) {
            return;
        }
        const bool is_cut = decode_row(cursor.key(), cursor.value(), row.ref());
        follow_order(row.ref());
        if (is_cut) {
            std::string whole_key = sort_key(row.view());
            const bool is_below = whole_key < sort_key(bound, range.from);
            if (back ? range.from == range.same || is_below : !is_below) {
                run.add(row, std::move(whole_key), key_of(row.view()).uncut());
            }
        } else if (!visit(row.view())) {
            return;
        }
    }
    (void)run.flush(visit_cut);
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
