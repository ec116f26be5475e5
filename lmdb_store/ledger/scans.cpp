// Scans.
#include <algorithm>
#include <string>
#include <utility>

#include "lmdb_store/ledger/keys.hpp"
#include "lmdb_store/ledger/reads.hpp"

namespace sluice::store {
namespace {

/// Rows whose ids the keys had to cut at the same place: read together, sorted by the whole id.
/// Such a run is short, since its ids share their first 390 bytes.
template <class Row>
class CutRun {
public:
    void add(Row row, std::string_view id, std::string_view key) {
        rows_.push_back({std::string(id), std::string(key), std::move(row)});
    }
    /// False: the visitor has seen enough.
    bool flush(const Visitor<Row>& visit) {
        std::sort(rows_.begin(), rows_.end(), [](const Entry& a, const Entry& b) {
            return std::tie(a.id, a.key) < std::tie(b.id, b.key);
        });
        const bool more = std::all_of(rows_.begin(), rows_.end(),
                                      [&](const Entry& entry) { return visit(entry.row); });
        rows_.clear();
        return more;
    }
    /// Does `key` share the cut beginning of the run?
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

/// What `decode` found in a row: its id, and whether the key had to cut it.
struct RowId {
    std::string_view id;
    bool cut = false;
};

/// Visits the rows below a shop in the order of their ids.
/// @param decode  (key behind the prefix, value, row) -> RowId
template <class Row, class Decode>
void scan_by_id(const RowAccess& rows, Table table, std::string_view prefix, Decode&& decode,
                const Visitor<Row>& visit) {
    const std::size_t shared_bytes = prefix.size() + kIdBytesWhole + 1;
    CutRun<Row> run;
    Row row{};
    bool more = true;
    visit_prefix(rows, table, prefix, [&](std::string_view key, std::string_view value) {
        if (!run.empty() && !run.holds(key, shared_bytes)) {
            more = run.flush(visit);
        }
        if (!more) {
            return false;
        }
        const RowId found = decode(key.substr(prefix.size()), value, row);
        if (found.cut) {
            run.add(row, found.id, key);
        } else {
            more = visit(row);
        }
        return more;
    });
    if (more) {
        run.flush(visit);
    }
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
    const auto decode = [&](std::string_view key, std::string_view value, OrderState& state) {
        const auto whole = LedgerKeyParser(key).id(kIdBytesWhole);
        const auto id = whole ? whole : order_value_.order_id(value);
        rows_.check(id.has_value(), Table::kOrders, key, OrderKey{account, shop, {}});
        state.key = {account, shop, OrderId(*id)};
        rows_.check(order_value_.decode(value, state), Table::kOrders, state.key);
        return RowId{state.key.order_id.view(), !whole};
    };
    scan_by_id<OrderState>(rows_, Table::kOrders, shop_prefix(account, shop).view(), decode, visit);
}

void Reads::scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) {
    LedgerKey prefix = order_key(key);
    prefix.end();
    EventTrace event;
    visit_prefix(
        rows_, Table::kEvents, prefix.view(), [&](std::string_view place, std::string_view value) {
            OrderKey order = key;
            rows_.check(row_value_.decode_event(value, order, event), Table::kEvents, place, key);
            return visit(event);
        });
}

void Reads::scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) {
    RowCursor cursor(rows_, Table::kJournal);
    StoredGroup stored;
    for (bool found = cursor.seek(number_key(from_entry).view()); found; found = cursor.next()) {
        LedgerKeyParser parser(cursor.key());
        stored.group.first_entry = parser.u64();
        rows_.check(parser.complete() && row_value_.decode(cursor.value(), stored), Table::kJournal,
                    cursor.key());
        if (!visit(stored.group)) {
            return;
        }
    }
}

void Reads::scan_balances(const Visitor<Balance>& visit) {
    visit_prefix(rows_, Table::kBalances, {}, [&](std::string_view key, std::string_view value) {
        LedgerKeyParser parser(key);
        Balance row;
        row.key.account = {parser.u32()};
        row.key.program = ProgramId(parser.text());
        row.key.creator = CreatorId(parser.text());
        const auto currency = Currency::parse(parser.bytes(3));
        rows_.check(parser.complete() && currency && row_value_.decode(value, row),
                    Table::kBalances, key);
        row.key.currency = *currency;
        return visit(row);
    });
}

void Reads::scan_catalog(AccountNumber account, ShopNumber shop,
                         const Visitor<CatalogRecord>& visit) {
    const auto decode = [&](std::string_view key, std::string_view value, CatalogRecord& row) {
        LedgerKeyParser parser(key);
        const auto whole = parser.id(kIdBytesWhole);
        row.key = {account, shop, ProductId(whole.value_or(std::string_view{})),
                   std::string(parser.code2()), std::string(parser.code2())};
        rows_.check(parser.complete() && row_value_.decode(value, row), Table::kCatalog, key);
        return RowId{row.key.product_id.view(), !whole};
    };
    scan_by_id<CatalogRecord>(rows_, Table::kCatalog, shop_prefix(account, shop).view(), decode,
                              visit);
}

void Reads::scan_payouts(const Visitor<Payout>& visit) {
    Payout row;
    visit_prefix(rows_, Table::kPayouts, {}, [&](std::string_view key, std::string_view value) {
        rows_.check(row_value_.decode(value, row), Table::kPayouts, key);
        return visit(row);
    });
}

void Reads::scan_programs(const Visitor<ProgramRow>& visit) {
    visit_prefix(rows_, Table::kPrograms, {}, [&](std::string_view key, std::string_view value) {
        ProgramRow row;
        row.program.id = ProgramId(key);
        rows_.check(row_value_.decode(value, row), Table::kPrograms, key);
        return visit(row);
    });
}

}  // namespace sluice::store
