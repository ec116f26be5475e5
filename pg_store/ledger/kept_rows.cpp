#include "pg_store/ledger/kept_rows.hpp"

#include <utility>

namespace sluice::pg {
namespace {

/// Rows of one table that are kept at most. Beyond it, changes are written and others are dropped.
constexpr std::size_t kRowsMax = 5000;
constexpr std::size_t kBulkBytesMax = 4U << 20;
/// From this number of rows on, COPY saves more time than the end of the pipeline costs.
constexpr std::size_t kCopiedFrom = 256;
/// New rows of one table that are copied before the commit. Each COPY of short rows makes buffers
/// for up to a thousand of them first, so fewer cost more.
constexpr std::size_t kStagedFrom = 3000;

}  // namespace

KeptTables::KeptTables(BorrowedConnection connection)
    : ConnectionHolder{std::move(connection)}, Reads(*borrowed_) {}

void KeptTables::know(RowView row, bool exists) {
    Table& table = kept(row.table());
    const auto [entry, added] = table.kept.try_emplace(sort_key(row));
    if (!entry->second.changed) {
        entry->second.row = exists ? std::optional<AnyRow>(row) : std::nullopt;
    }
    if (table.kept.size() > kRowsMax && !table.changed && !table.is_staged) {
        table.kept.clear();
    }
}

void KeptTables::forget(RowView key) {
    kept(key.table()).kept.erase(sort_key(key));
}

bool KeptTables::asks_for(RowView key) {
    return kept(key.table()).kept.try_emplace(sort_key(key)).second;
}

bool KeptTables::load_row(RowRef row) {
    write_bulk(row.table());
    const auto& known = kept(row.table()).kept;
    const auto entry = known.find(sort_key(row));
    if (entry == known.end()) {
        const bool exists = Reads::load_row(row);
        know(row, exists);
        return exists;
    }
    if (entry->second.row) {
        row.assign(entry->second.row->view());
    }
    return entry->second.row.has_value();
}

void KeptTables::put_row(RowView row) {
    if (row.table().index_in_sql) {
        return;
    }
    Table& table = kept(row.table());
    if (!row.table().in_bulk || !table.kept.empty()) {
        change(row, AnyRow(row));
        return;
    }
    copy_row(row, head_.number, table.bulk);
    if (table.bulk.view().size() > kBulkBytesMax) {
        write_bulk(row.table());
    }
}

void KeptTables::erase_row(RowView row) {
    if (row.table().index_in_sql) {
        return;
    }
    write_bulk(row.table());
    change(row, std::nullopt);
}

void KeptTables::change(RowView row, std::optional<AnyRow> value) {
    Table& table = kept(row.table());
    const auto [place, is_unknown] = table.kept.try_emplace(sort_key(row));
    Kept& entry = place->second;
    if (is_unknown && value && is_of_new_order(row)) {
        entry.is_new = true;
        ++table.new_count;
    }
    if (!value) {
        entry.erased.emplace(row);
    }
    entry.row = std::move(value);
    entry.changed = table.changed = true;
    if (table.kept.size() > kRowsMax) {
        flush_table(row.table());
    }
}

void KeptTables::write_bulk(const DescribedTable& table) {
    RowWriter& bulk = kept(table).bulk;
    if (!bulk.empty()) {
        connection_.copy_in(sql_of(table).copy_in(), bulk.view());
        bulk.clear();
    }
}

void KeptTables::stage_tables(std::vector<StagedRows>& staged, bool is_last) {
    if (connection_.is_distributed() || connection_.doubts_new_rows()) {
        return;
    }
    for (const DescribedTable& table : described_tables()) {
        Table& of = kept(table);
        if (of.new_count < (is_last ? kCopiedFrom : kStagedFrom)) {
            continue;
        }
        RowWriter rows;
        of.changed = false;
        for (auto& [key, entry] : of.kept) {
            if (entry.changed && entry.is_new && entry.row) {
                copy_row(entry.row->view(), head_.number, rows);
                entry.erased.reset();
                entry.changed = entry.is_new = false;
            }
            of.changed = of.changed || entry.changed;
        }
        of.new_count = 0;
        of.is_staged = true;
        if (!rows.empty()) {
            staged.push_back({&sql_of(table).copy_in(), rows.take()});
        }
    }
}

void KeptTables::drop_staged() {
    for (Table& of : tables_) {
        if (std::exchange(of.is_staged, false) && !of.changed && of.kept.size() > kRowsMax / 2) {
            of.kept.clear();
        }
    }
}

void KeptTables::flush_tables() {
    for (const DescribedTable& table : described_tables()) {
        flush_table(table);
    }
}

void KeptTables::flush_table(const DescribedTable& table) {
    write_bulk(table);
    Table& of = kept(table);
    if (!of.changed) {
        return;
    }
    of.changed = false;
    RowArrays gone(sql_of(table).key());
    std::vector<RowView> put;
    for (auto& [key, entry] : of.kept) {
        if (entry.changed && entry.row) {
            put.push_back(entry.row->view());
        }
        if (entry.changed && entry.erased && (!entry.row || table.write_once)) {
            gone.add_key(entry.erased->view(), head_.number);
        }
        entry.changed = entry.is_new = false;
        entry.erased.reset();
    }
    of.new_count = 0;
    send_rows({sql_of(table).erase_many().c_str()}, gone);
    if (!put.empty()) {
        write(table, put);
    }
    if (of.kept.size() > kRowsMax) {
        of.kept.clear();
    }
}

void KeptTables::flush_sums() {
    std::map<const DescribedTable*, RowArrays> tables;
    std::map<const DescribedTable*, std::vector<AnyRow>> hours;
    sums_.take([&](RowView sum) {
        if (sum.table().adds_hours) {
            hours[&sum.table()].emplace_back(sum);
        } else {
            tables.try_emplace(&sum.table(), sql_of(sum.table()).all())
                .first->second.add_row(sum, head_.number);
        }
    });
    for (const auto& [table, rows] : tables) {
        connection_.send(kept_statement(sql_of(*table).add_many()), rows.parameters());
    }
    for (const auto& [table, sums] : hours) {
        add_hour_sums(*table, sums);
    }
}

/// The key has the node's number, so no other transaction changes these rows.
void KeptTables::add_hour_sums(const DescribedTable& table, const std::vector<AnyRow>& sums) {
    const TableSql& sql = sql_of(table);
    RowArrays keys(sql.key());
    for (const AnyRow& sum : sums) {
        keys.add_key(sum.view(), head_.number);
    }
    std::map<std::string, AnyRow> added;
    const Rows stored = connection_.query(kept_statement(sql.select_many()), keys.parameters());
    for (RowReader reader : stored) {
        AnyRow row(table);
        read_row(reader, row.ref());
        std::string key = sort_key(row.view());
        added.emplace(std::move(key), std::move(row));
    }
    RowArrays put(sql.all()), gone(sql.key());
    for (const AnyRow& sum : sums) {
        const auto old = added.find(sort_key(sum.view()));
        const bool exists = old != added.end();
        if (exists) {
            add_columns(old->second.ref(), sum.view());
        }
        const RowView row = exists ? old->second.view() : sum.view();
        if (!is_dropped(row)) {
            put.add_row(row, head_.number);
        } else if (exists) {
            gone.add_key(row, head_.number);
        }
    }
    send_rows({sql.erase_many().c_str()}, gone);
    send_rows({sql.insert_many().c_str()}, put);
}

void KeptTables::write(const DescribedTable& table, const std::vector<RowView>& put) {
    const TableSql& sql = sql_of(table);
    // Citus turns such an INSERT into a COPY anyway.
    if (table.write_once && (put.size() >= kCopiedFrom || connection_.is_distributed())) {
        RowWriter rows;
        for (const RowView row : put) {
            copy_row(row, head_.number, rows);
        }
        connection_.copy_in(sql.copy_in(), rows.view());
        return;
    }
    RowArrays arrays(sql.all());
    for (const RowView row : put) {
        arrays.add_row(row, head_.number);
    }
    connection_.send({sql.insert_many().c_str()}, arrays.parameters());
}

}  // namespace sluice::pg
