#include "lmdb_store/ledger/dump.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "lmdb_store/ledger/table_hash.hpp"
#include "lmdb_store/ledger/txn.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace sluice::store {

struct LedgerRows::State {
    State(const LedgerTables& ledger, ReadTxn read_txn, std::string_view node)
        : txn(std::move(read_txn)), rows(ledger, txn) {
        head.head.node = node;
        const auto value = node.empty() ? std::nullopt : rows.get(Table::kHeads, node);
        if (value) {
            rows.check(RowValue::decode(node, *value, head), Table::kHeads, node);
        }
    }

    ReadTxn txn;
    RowAccess rows;
    NodeHead head;
    std::vector<Table> tables = tables_by_name();
    std::size_t next_table = 0;
    Table table = Table::kHeads;
    std::optional<RowCursor> cursor;  ///< Destroyed before its transaction.
    std::string_view current;         ///< The value of its row.
    OrderRows order_rows;
    OpenRows open_rows;
    bool entered = false;
    bool one_table = false;  ///< next() ends with the table.
    bool as_stored = false;
};

namespace {

/// Returns no bytes for a row whose order's change is damaged: no sound row has such a value.
std::string_view value_at(LedgerRows::State& at) {
    const std::string_view stored = at.cursor->value();
    if (at.as_stored || (at.table != Table::kOrders && at.table != kOpenRows)) {
        return stored;
    }
    try {
        return at.table == kOpenRows ? at.open_rows.current(at.rows, at.cursor->key(), stored)
                                     : at.order_rows.current(at.rows, at.cursor->key(), stored);
    } catch (const DamagedRow&) {
        return {};
    }
}

}  // namespace

LedgerRows::LedgerRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
LedgerRows::~LedgerRows() = default;

bool LedgerRows::next() {
    State& at = *state_;
    for (;;) {
        const bool found = at.cursor && (at.entered ? at.cursor->next() : at.cursor->first());
        at.entered = true;
        if (found) {
            at.current = value_at(at);
            return true;
        }
        const bool ends = at.cursor && at.one_table;
        at.cursor.reset();
        if (ends || at.next_table == at.tables.size()) {
            return false;
        }
        at.table = at.tables[at.next_table++];
        at.cursor.emplace(at.rows, at.table);
        at.entered = false;
    }
}

void LedgerRows::enter(std::string_view table) {
    State& at = *state_;
    const auto found =
        std::ranges::find_if(at.tables, [table](Table other) { return table == name_of(other); });
    at.next_table = static_cast<std::size_t>(found - at.tables.begin());
    at.cursor.reset();
    at.one_table = true;
}

void LedgerRows::restart(bool as_stored) {
    State& at = *state_;
    at.next_table = 0;
    at.cursor.reset();
    at.one_table = false;
    at.as_stored = as_stored;
}

Digest256 LedgerRows::digest_of_changes() {
    TableHash hash;
    for (const Table table : {Table::kChangedOrders, Table::kOrderChanges}) {
        RowCursor cursor(state_->rows, table);
        for (bool found = cursor.first(); found; found = cursor.next()) {
            hash.add(cursor.key());
            hash.add(cursor.value());
        }
        hash.add({});  // ends the table
    }
    return hash.take();
}

bool restart_without_changes(LedgerRows& a, LedgerRows& b) {
    const bool are_same = a.digest_of_changes() == b.digest_of_changes();
    a.restart(are_same);
    b.restart(are_same);
    return are_same;
}

std::string_view LedgerRows::table() const noexcept {
    return name_of(state_->table);
}

std::string_view LedgerRows::key() const noexcept {
    return state_->cursor->key();
}

std::string_view LedgerRows::value() const noexcept {
    return state_->current;
}

const LedgerHead& LedgerRows::head() const noexcept {
    return state_->head.head;
}

std::unique_ptr<LedgerRows> make_rows(const LedgerTables& tables, ReadTxn txn,
                                      std::string_view node) {
    return std::make_unique<LedgerRows>(
        std::make_unique<LedgerRows::State>(tables, std::move(txn), node));
}

namespace {

std::optional<LedgerDifference> next_difference(LedgerRows& a, LedgerRows& b) {
    for (;;) {
        const bool in_a = a.next();
        const bool in_b = b.next();
        if (!in_a && !in_b) {
            return std::nullopt;
        }
        const auto place = [](const LedgerRows& rows) {
            return LedgerDifference{
                std::string(rows.table()),
                to_hex(
                    {reinterpret_cast<const std::uint8_t*>(rows.key().data()), rows.key().size()})};
        };
        if (!in_a || !in_b) {
            return place(in_a ? a : b);
        }
        if (a.table() != b.table() || a.key() != b.key()) {
            const bool a_first = std::pair(a.table(), a.key()) < std::pair(b.table(), b.key());
            return place(a_first ? a : b);
        }
        if (a.value() != b.value()) {
            return place(a);
        }
    }
}

}  // namespace

std::optional<LedgerDifference> first_difference(LedgerRows& a, LedgerRows& b) {
    if (restart_without_changes(a, b)) {
        if (!next_difference(a, b)) {
            return std::nullopt;
        }
        a.restart(false);
        b.restart(false);
    }
    return next_difference(a, b);
}

}  // namespace sluice::store
