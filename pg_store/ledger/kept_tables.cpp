// The kept rows of every described table.
#include "pg_store/ledger/kept_rows.hpp"

namespace sluice::pg {

template <class Row, class Base>
bool KeepsTable<Row, Base>::load(Row& row) {
    write_bulk();
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

template <class Row, class Base>
void KeepsTable<Row, Base>::put(const Row& row) {
    if (TableOf<Row>::kInBulk && kept_.empty()) {
        bulk_.begin_copy_row(static_cast<std::int16_t>(all_columns_count<Row>()));
        add_row(row, this->node_.number, [this]() -> RowWriter& { return bulk_; });
        if (bulk_.view().size() > kBulkBytesMax) {
            write_bulk();
        }
    } else {
        change(row, row);
    }
}

template <class Row, class Base>
void KeepsTable<Row, Base>::write_bulk() {
    if constexpr (TableOf<Row>::kInBulk) {
        static const std::string kCopy = table_text<Row>().copy_in();
        if (!bulk_.empty()) {
            this->connection_.copy_in(kCopy, bulk_.view());
            bulk_.clear();
        }
    }
}

template <class Row, class Base>
void KeepsTable<Row, Base>::erase(const Row& row) {
    write_bulk();
    change(row, std::nullopt);
}

template <class Row, class Base>
void KeepsTable<Row, Base>::change(const Row& row, std::optional<Row> value) {
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

template <class Row, class Base>
void KeepsTable<Row, Base>::flush_all() {
    Base::flush_all();
    flush_table(static_cast<const Row*>(nullptr));
}

template <class Row, class Base>
void KeepsTable<Row, Base>::flush_table(const Row* /*which*/) {
    static const Statement kErase = kept_statement(table_text<Row>().erase_many());
    write_bulk();
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

template <class Row, class Base>
void KeepsTable<Row, Base>::write(const std::vector<const Row*>& put) {
    static const Statement kInsert =
        kept_statement(table_text<Row>().insert_many(!TableOf<Row>::kWriteOnce));
    static const std::string kCopy = table_text<Row>().copy_in();
    const std::vector<SqlColumn> columns = all_columns<Row>();
    // Citus would make a COPY of such an INSERT itself.
    if (TableOf<Row>::kWriteOnce && (put.size() >= kCopiedFrom || this->connection_.is_spread())) {
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

KeptTables::KeptTables(BorrowedConnection connection) : TableKeeps(std::move(connection)) {}
KeptTables::~KeptTables() = default;

void KeptTables::flush_tables() {
    flush_all();
}

void KeptTables::flush_dead() {
    flush_table(static_cast<const DeadLetter*>(nullptr));
}

}  // namespace sluice::pg
