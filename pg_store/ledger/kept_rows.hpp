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
#include "pg_store/ledger/lease.hpp"
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
    if constexpr (TableOf<Row>::kMadeBy) {
        next().u4(node);
    }
}

template <class Row>
[[nodiscard]] std::vector<SqlColumn> all_columns() {
    std::vector<SqlColumn> all = table_text<Row>().key();
    all.insert(all.end(), table_text<Row>().rest().begin(), table_text<Row>().rest().end());
    return all;
}

/// The root that the tables are kept on top of.
class RowKeeps : private LeaseHolder, public Reads, public LedgerTxn {
protected:
    explicit RowKeeps(Lease lease) : LeaseHolder{std::move(lease)}, Reads(*lease_) {}

    using LedgerTxn::erase;
    using LedgerTxn::put;
    void know() {}
    void know_missing() {}
    void forget() {}
    void asks_for() {}
    void flush_table() {}
    void flush_tables() {}
};

template <class Row, class Base>
class KeepsTable : public Base {
public:
    using Base::erase;
    using Base::load;
    using Base::put;

    bool load(Row& row) override {
        const auto kept = kept_.find(sort_key(row));
        if (kept == kept_.end()) {
            const bool exists = Base::load(row);
            know(row, exists);
            return exists;
        }
        if (kept->second.row) {
            row = *kept->second.row;
        }
        return kept->second.row.has_value();
    }
    void put(const Row& row) override { change(row, row); }
    void erase(const Row& row) override { change(row, std::nullopt); }

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
    void flush_table(const Row* /*which*/) {
        static const Statement kErase = kept_statement(table_text<Row>().erase_many());
        if (!changed_) {
            return;
        }
        changed_ = false;
        RowArrays gone(table_text<Row>().key());
        std::vector<const Row*> put;
        for (auto& [key, kept] : kept_) {
            if (kept.changed && kept.row) {
                put.push_back(&*kept.row);
            }
            if (kept.changed && kept.erased && (!kept.row || TableOf<Row>::kWriteOnce)) {
                add_key(*kept.erased, this->node_.number,
                        [&gone]() -> RowWriter& { return gone.next(); });
            }
            kept.changed = false;
            kept.erased.reset();
        }
        if (!gone.empty()) {
            this->connection_.send(kErase, gone.parameters());
        }
        if (!put.empty()) {
            write(put);
        }
        if (kept_.size() > kRowsMax) {
            kept_.clear();
        }
    }
    void flush_tables() {
        Base::flush_tables();
        flush_table(static_cast<const Row*>(nullptr));
    }

private:
    /// What is more is written in pieces.
    static constexpr std::size_t kRowsMax = 5000;
    /// From so many rows on COPY is worth the end of the pipeline that it costs.
    static constexpr std::size_t kCopiedFrom = 256;

    struct Kept {
        std::optional<Row> row;     ///< Nothing: there is none.
        std::optional<Row> erased;  ///< Its key, if it is to be erased, and perhaps put again.
        bool changed = false;
    };

    void write(const std::vector<const Row*>& put) {
        static const Statement kInsert =
            kept_statement(table_text<Row>().insert_many(!TableOf<Row>::kWriteOnce));
        static const std::string kCopy = table_text<Row>().copy_in();
        const std::vector<SqlColumn> columns = all_columns<Row>();
        if (TableOf<Row>::kWriteOnce && put.size() >= kCopiedFrom) {
            RowWriter rows;
            for (const Row* row : put) {
                rows.begin_copy_row(static_cast<std::int16_t>(columns.size()));
                add_row(*row, this->node_.number, [&rows]() -> RowWriter& { return rows; });
            }
            this->connection_.copy_in(kCopy, rows.view());
            return;
        }
        RowArrays arrays(columns);
        for (const Row* row : put) {
            add_row(*row, this->node_.number, [&arrays]() -> RowWriter& { return arrays.next(); });
        }
        this->connection_.send(kInsert, arrays.parameters());
    }

    void change(const Row& row, std::optional<Row> value) {
        Kept& kept = kept_[sort_key(row)];
        if (!value) {
            kept.erased = row;
        }
        kept.row = std::move(value);
        kept.changed = changed_ = true;
        if (kept_.size() > kRowsMax) {
            flush_table(static_cast<const Row*>(nullptr));
        }
    }

    std::map<std::string, Kept> kept_;
    bool changed_ = false;
};
using TableKeeps = ForEachTable<KeepsTable, RowKeeps>;

}  // namespace sluice::pg
