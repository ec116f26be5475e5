// Kept rows: what a transaction knows of the tables that core/ledger/tables.hpp describes, in front
// of the server. Changed rows are written together, each table in the order of its keys. Internal
// to this room.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/ledger/sort_key.hpp"
#include "pg_store/ledger/borrowed_connection.hpp"
#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {

/// Columns of a statement over many rows: an array for each.
class RowArrays {
public:
    explicit RowArrays(const std::vector<SqlColumn>& columns) {
        for (const SqlColumn& column : columns) {
            arrays_.emplace_back(column.type);
        }
    }
    /// Where the next field goes; behind the last column comes the first one of the next row.
    [[nodiscard]] RowWriter& next() {
        RowWriter& field = arrays_[at_].add();
        at_ = at_ + 1 == arrays_.size() ? 0 : at_ + 1;
        return field;
    }
    [[nodiscard]] bool empty() const { return arrays_.front().count() == 0; }
    [[nodiscard]] RowWriter parameters() const {
        RowWriter row;
        for (const Column& array : arrays_) {
            array.write_to(row);
        }
        return row;
    }

private:
    std::vector<Column> arrays_;
    std::size_t at_ = 0;
};

/// Writes a row's key, each field to the writer that `next` gives.
template <class Row, class Next>
void add_key(const Row& row, std::uint32_t node, Next next) {
    if constexpr (TableOf<Row>::kPerNode) {
        next().u4(node);
    }
    TableOf<Row>::key(row, FieldWriter(next));
}

template <class Row, class Next>
void add_row(const Row& row, std::uint32_t node, Next next) {
    add_key(row, node, next);
    TableOf<Row>::rest(row, FieldWriter(next));
}

template <class Row>
[[nodiscard]] std::vector<SqlColumn> all_columns() {
    std::vector<SqlColumn> all = table_text<Row>().key();
    all.insert(all.end(), table_text<Row>().rest().begin(), table_text<Row>().rest().end());
    return all;
}

template <class Row>
[[nodiscard]] std::size_t all_columns_count() {
    static const std::size_t count = all_columns<Row>().size();
    return count;
}

/// The root that the tables are kept on top of.
class RowKeeps : private ConnectionHolder, public Reads, public LedgerTxn {
protected:
    explicit RowKeeps(BorrowedConnection connection)
        : ConnectionHolder{std::move(connection)}, Reads(*borrowed_) {}

    using LedgerTxn::erase;
    using LedgerTxn::put;
    void know() {}
    void know_missing() {}
    void forget() {}
    void asks_for() {}
    void flush_table() {}
    void flush_all() {}
};

/// Defined in kept_tables.cpp, which makes it for every row: only there is that to be compiled.
template <class Row, class Base>
class KeepsTable : public Base {
public:
    using Base::erase;
    using Base::load;
    using Base::put;

    bool load(Row& row) override;
    void put(const Row& row) override;
    void erase(const Row& row) override;

protected:
    using Base::asks_for;
    using Base::Base;
    using Base::flush_table;
    using Base::forget;
    using Base::know;
    using Base::know_missing;

    /// What was read ahead. @param row  Its key, and the rest if `exists`.
    void know(const Row& row, bool exists) {
        const auto [kept, added] = kept_.try_emplace(sort_key(row));
        if (!kept->second.changed) {
            kept->second.row = exists ? std::optional(row) : std::nullopt;
        }
        if (kept_.size() > kRowsMax && !changed_) {
            kept_.clear();
        }
    }
    /// Asks the server again.
    void forget(const Row& key) { kept_.erase(sort_key(key)); }
    void know_missing(const Row& key) { (void)asks_for(key); }
    /// True if it was not known: now it counts as missing, until know() says that it exists.
    [[nodiscard]] bool asks_for(const Row& row) { return kept_.try_emplace(sort_key(row)).second; }

    /// Writes what changed in this table.
    void flush_table(const Row* which);
    /// ... and in those below.
    void flush_all();

private:
    /// What is more is written in pieces.
    static constexpr std::size_t kRowsMax = 5000;
    static constexpr std::size_t kBulkBytesMax = 4U << 20;
    /// From so many rows on COPY is worth the end of the pipeline that it costs.
    static constexpr std::size_t kCopiedFrom = 256;

    struct Kept {
        std::optional<Row> row;     ///< Nothing: there is none.
        std::optional<Row> erased;  ///< Its key, if it is to be erased, and perhaps put again.
        bool changed = false;
    };

    void write(const std::vector<const Row*>& put);
    void change(const Row& row, std::optional<Row> value);
    void write_bulk();

    std::map<std::string, Kept> kept_;
    bool changed_ = false;
    /// Rows of a table that is written in bulk, for COPY. Only while none of the table is kept, so
    /// that what comes later finds them written.
    RowWriter bulk_;
};
using TableKeeps = ForEachTable<KeepsTable, RowKeeps>;

class KeptTables : public TableKeeps {
protected:
    explicit KeptTables(BorrowedConnection connection);
    ~KeptTables() override;

    void flush_tables();
    void flush_dead();  ///< Dead letters alone.
};

}  // namespace sluice::pg
