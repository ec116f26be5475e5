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

LedgerKey number_prefix(std::uint32_t number) {
    LedgerKey key;
    key.u32(number);
    return key;
}

}  // namespace

template <class Base>
void LedgerReads<Base>::scan_shops(const Visitor<ShopRow>& visit) {
    visit_prefix(rows_, Table::kShopIds, {}, [&](std::string_view key, std::string_view) {
        LedgerKeyParser parser(key);
        (void)parser.text();
        const auto row = this->shop({parser.u32()});
        rows_.check(parser.complete() && row, Table::kShopIds);
        return visit(*row);
    });
}

template <class Base>
void LedgerReads<Base>::scan_orders(AccountNumber account, ShopNumber shop,
                                    const Visitor<OrderState>& visit) {
    const auto decode = [&](std::string_view key, std::string_view value, OrderState& state) {
        const auto whole = LedgerKeyParser(key).id(kIdBytesWhole);
        const auto id = whole ? whole : order_value_.order_id(value);
        rows_.check(id.has_value(), Table::kOrders);
        state.key = {account, shop, OrderId(*id)};
        rows_.check(order_value_.decode(value, state), Table::kOrders);
        return RowId{state.key.order_id.view(), !whole};
    };
    scan_by_id<OrderState>(rows_, Table::kOrders, shop_prefix(account, shop).view(), decode, visit);
}

template <class Base>
void LedgerReads<Base>::scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) {
    LedgerKey prefix = order_key(key);
    prefix.end();
    EventTrace event;
    visit_prefix(rows_, Table::kEvents, prefix.view(),
                 [&](std::string_view, std::string_view value) {
                     OrderKey order = key;
                     rows_.check(row_value_.decode_event(value, order, event), Table::kEvents);
                     return visit(event);
                 });
}

template <class Base>
void LedgerReads<Base>::scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) {
    RowCursor cursor(rows_, Table::kJournal);
    StoredGroup stored;
    for (bool found = cursor.seek(number_key(from_entry).view()); found; found = cursor.next()) {
        LedgerKeyParser parser(cursor.key());
        stored.group.first_entry = parser.u64();
        rows_.check(parser.complete() && row_value_.decode(cursor.value(), stored),
                    Table::kJournal);
        if (!visit(stored.group)) {
            return;
        }
    }
}

template <class Base>
void LedgerReads<Base>::scan_balances(const Visitor<Balance>& visit) {
    visit_prefix(rows_, Table::kBalances, {}, [&](std::string_view key, std::string_view value) {
        LedgerKeyParser parser(key);
        Balance row;
        row.key.account = {parser.u32()};
        row.key.program = ProgramId(parser.text());
        row.key.creator = CreatorId(parser.text());
        const auto currency = Currency::parse(parser.bytes(3));
        rows_.check(parser.complete() && currency && row_value_.decode(value, row),
                    Table::kBalances);
        row.key.currency = *currency;
        return visit(row);
    });
}

/// What the order says of the row: whom, and how much.
template <class Base>
void LedgerReads<Base>::load_open(OpenAmount& row) {
    const auto value =
        rows_.get(Table::kOrders, order_key({row.account, row.shop, row.order_id}).view());
    rows_.check(value && order_value_.decode_open(*value, row), Table::kOpen);
}

template <class Base>
void LedgerReads<Base>::scan_open(AccountNumber account, const ProgramId& program, bool adjustment,
                                  Timestamp from, Timestamp to, const Visitor<OpenAmount>& visit) {
    const LedgerKey prefix = open_prefix(account, program, adjustment);
    LedgerKey start = prefix;
    start.instant(from);
    RowCursor cursor(rows_, Table::kOpen);
    for (bool found = cursor.seek(start.view()); found && cursor.key().starts_with(prefix.view());
         found = cursor.next()) {
        LedgerKeyParser parser(cursor.key().substr(prefix.view().size()));
        OpenAmount row;
        row.account = account;
        row.program = program;
        row.adjustment = adjustment;
        row.ordered_at = parser.instant();
        if (row.ordered_at > to) {
            return;
        }
        row.shop = {parser.u32()};
        if (const auto whole = parser.id(kIdBytesWholeOpen)) {
            row.order_id = OrderId(*whole);
        }
        const auto currency = Currency::parse(parser.bytes(3));
        rows_.check(
            parser.complete() && currency && row_value_.decode_open(cursor.value(), row.order_id),
            Table::kOpen);
        row.currency = *currency;
        load_open(row);
        if (!visit(row)) {
            return;
        }
    }
}

template <class Base>
void LedgerReads<Base>::scan_anomalies(AccountNumber account, ShopNumber shop,
                                       const Visitor<Anomaly>& visit) {
    const auto decode = [&](std::string_view key, std::string_view value, Anomaly& row) {
        LedgerKeyParser parser(key);
        const auto whole = parser.id(kIdBytesWhole);
        row.order = {account, shop, OrderId(whole.value_or(std::string_view{}))};
        row.kind = static_cast<AnomalyKind>(parser.u8());
        rows_.check(parser.complete() && row_value_.decode(value, row) &&
                        static_cast<std::size_t>(row.kind) < kAnomalyKinds,
                    Table::kAnomalies);
        return RowId{row.order.order_id.view(), !whole};
    };
    scan_by_id<Anomaly>(rows_, Table::kAnomalies, shop_prefix(account, shop).view(), decode, visit);
}

template <class Base>
void LedgerReads<Base>::scan_catalog(AccountNumber account, ShopNumber shop,
                                     const Visitor<CatalogRecord>& visit) {
    const auto decode = [&](std::string_view key, std::string_view value, CatalogRecord& row) {
        LedgerKeyParser parser(key);
        const auto whole = parser.id(kIdBytesWhole);
        row.key = {account, shop, ProductId(whole.value_or(std::string_view{})),
                   std::string(parser.code2()), std::string(parser.code2())};
        rows_.check(parser.complete() && row_value_.decode(value, row), Table::kCatalog);
        return RowId{row.key.product_id.view(), !whole};
    };
    scan_by_id<CatalogRecord>(rows_, Table::kCatalog, shop_prefix(account, shop).view(), decode,
                              visit);
}

template <class Base>
void LedgerReads<Base>::scan_payouts(const Visitor<Payout>& visit) {
    Payout row;
    visit_prefix(rows_, Table::kPayouts, {}, [&](std::string_view, std::string_view value) {
        rows_.check(row_value_.decode(value, row), Table::kPayouts);
        return visit(row);
    });
}

template <class Base>
void LedgerReads<Base>::scan_programs(const Visitor<ProgramRow>& visit) {
    visit_prefix(rows_, Table::kPrograms, {}, [&](std::string_view key, std::string_view value) {
        ProgramRow row;
        row.program.id = ProgramId(key);
        rows_.check(row_value_.decode(value, row), Table::kPrograms);
        return visit(row);
    });
}

template <class Base>
void LedgerReads<Base>::scan_memberships(AccountNumber account, const ProgramId& program,
                                         const Visitor<Membership>& visit) {
    const LedgerKey prefix = program_prefix(account, program);
    visit_prefix(rows_, Table::kMemberships, prefix.view(),
                 [&](std::string_view key, std::string_view value) {
                     Membership row;
                     row.account = account;
                     row.program = program;
                     row.creator = CreatorId(key.substr(prefix.view().size()));
                     rows_.check(row_value_.decode(value, row), Table::kMemberships);
                     return visit(row);
                 });
}

template <class Base>
void LedgerReads<Base>::scan_codes(AccountNumber account, const ProgramId& program,
                                   const Visitor<CodeRow>& visit) {
    const LedgerKey prefix = number_prefix(account.value);
    visit_prefix(rows_, Table::kCodes, prefix.view(),
                 [&](std::string_view key, std::string_view value) {
                     LedgerKeyParser parser(key.substr(prefix.view().size()));
                     CodeRow row;
                     row.account = account;
                     row.digest = parser.digest();
                     rows_.check(parser.ok(), Table::kCodes);
                     row.program = ProgramId(key.substr(prefix.view().size() + row.digest.size()));
                     if (row.program != program) {
                         return true;
                     }
                     rows_.check(row_value_.decode(value, row), Table::kCodes);
                     return visit(row);
                 });
}

template <class Base>
void LedgerReads<Base>::scan_commands(const Visitor<CommandRow>& visit) {
    visit_prefix(rows_, Table::kCommands, {}, [&](std::string_view key, std::string_view value) {
        LedgerKeyParser parser(key);
        CommandRow row;
        (void)parser.u32();
        row.seq = {parser.u64()};
        rows_.check(parser.complete() && row_value_.decode(value, row), Table::kCommands);
        return visit(row);
    });
}

template <class Base>
void LedgerReads<Base>::scan_dead(const Visitor<DeadLetter>& visit) {
    const LedgerKey prefix = number_prefix(node_.node);
    visit_prefix(rows_, Table::kDead, prefix.view(),
                 [&](std::string_view key, std::string_view value) {
                     LedgerKeyParser parser(key.substr(prefix.view().size()));
                     DeadLetter row;
                     row.seq = {parser.u64()};
                     rows_.check(parser.complete() && row_value_.decode(value, row), Table::kDead);
                     return visit(row);
                 });
}

template <class Base>
std::optional<Work> LedgerReads<Base>::first_work() {
    std::optional<Work> first;
    const LedgerKey prefix = number_prefix(node_.node);
    visit_prefix(
        rows_, Table::kWork, prefix.view(), [&](std::string_view key, std::string_view value) {
            LedgerKeyParser parser(key.substr(prefix.view().size()));
            first.emplace().number = parser.u64();
            rows_.check(parser.complete() && row_value_.decode(value, *first), Table::kWork);
            return false;
        });
    return first;
}

template class LedgerReads<LedgerReader>;
template class LedgerReads<LedgerTxn>;

}  // namespace sluice::store
