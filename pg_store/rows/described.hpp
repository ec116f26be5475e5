// The described tables (core/ledger/table.hpp) in SQL: their statements, rows and keys. Internal to
// pg_store; pure.
//
// An absent value is null. Of an absent instant both columns are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ledger/table.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {

/// A column of SQL. An instant is two of them.
struct SqlColumn {
    std::string name;
    Type type = Type::kText;
    unsigned described = 0;  ///< Its place among the described columns of key or rest.
    bool optional = false;   ///< May be null.
    bool by_bytes = false;   ///< A text that is compared by its bytes: an id, or part of the key.
};
/// Returns `a, b, c`
[[nodiscard]] std::string names(const std::vector<SqlColumn>& columns);
/// Returns `unnest($1::integer[], $2::text[])`: rows from an array for each column.
/// @param first  The number of the first parameter.
[[nodiscard]] std::string unnested(const std::vector<SqlColumn>& columns, std::size_t first = 1);

/// The texts of a table's statements. A `node` column comes first in its key.
class TableSql {
public:
    explicit TableSql(const DescribedTable& table);

    /// Creates the table. Requires: its rows do not follow from another table.
    [[nodiscard]] std::string create() const;
    /// Returns the columns that read_row() reads: all but the node.
    [[nodiscard]] std::string columns(const char* prefix = "") const;
    [[nodiscard]] const std::string& select_one() const noexcept { return select_one_; }
    /// The rows of a page, in the order of their keys.
    enum class Page : std::uint8_t {
        kFrom,    ///< At or after a key's first columns.
        kAfter,   ///< After a whole key.
        kBefore,  ///< Below a key's first columns, from the last row on.
    };
    /// Selects a page of a scan.
    [[nodiscard]] std::string select_page(KeyRange range, Page page) const;
    /// Inserts rows from an array for each column. Replaces rows unless they never change.
    [[nodiscard]] const std::string& insert_many() const noexcept { return insert_many_; }
    /// Inserts rows as insert_many() does, without a clause for rows that exist. A caller may add
    /// one.
    [[nodiscard]] std::string insert_new() const;
    /// Inserts rows as insert_new() does, or adds them to the rows that exist.
    [[nodiscard]] std::string add_many() const;
    /// Selects those of many rows, by key, that exist.
    [[nodiscard]] std::string select_many() const;
    [[nodiscard]] const std::string& erase_many() const noexcept { return erase_many_; }
    /// Copies many new rows (`COPY`), each as copy_row() writes it.
    [[nodiscard]] const std::string& copy_in() const noexcept { return copy_in_; }

    [[nodiscard]] const std::vector<SqlColumn>& key() const noexcept { return key_; }
    [[nodiscard]] const std::vector<SqlColumn>& all() const noexcept { return all_; }
    [[nodiscard]] int page_rows() const noexcept { return page_rows_; }

private:
    std::string table_;
    std::vector<SqlColumn> key_, rest_, all_;
    int page_rows_;
    bool keeps_latest_, joins_bits_;
    std::string select_one_, insert_many_, erase_many_, copy_in_;
};
/// Valid for ever.
[[nodiscard]] const TableSql& sql_of(const DescribedTable& table);
template <Described Row>
[[nodiscard]] const TableSql& sql_of() {
    return sql_of(table_of<Row>());
}

/// Reads a row that TableSql::columns() gives. Throws DamagedRow.
void read_row(RowReader& from, RowRef row);
template <Described Row>
[[nodiscard]] Row read_row(RowReader& from) {
    Row row{};
    read_row(from, row);
    return row;
}

/// Returns the first `columns` of a row's key as parameters.
[[nodiscard]] RowWriter key_parameters(RowView row, std::uint32_t node, unsigned columns = ~0U);
/// Writes a row for COPY.
void copy_row(RowView row, std::uint32_t node, RowWriter& to);

/// Columns of a statement over many rows: an array for each.
class RowArrays {
public:
    explicit RowArrays(const std::vector<SqlColumn>& columns) {
        for (const SqlColumn& column : columns) {
            arrays_.emplace_back(column.type);
        }
    }
    explicit RowArrays(const std::vector<Type>& types) : arrays_(types.begin(), types.end()) {}
    /// Returns the writer of the next field. The last column is followed by the first column of the
    /// next row.
    RowWriter& next() {
        RowWriter& field = arrays_[at_].add();
        at_ = at_ + 1 == arrays_.size() ? 0 : at_ + 1;
        return field;
    }
    void add_key(RowView row, std::uint32_t node);
    void add_row(RowView row, std::uint32_t node);
    [[nodiscard]] bool empty() const { return arrays_.front().count() == 0; }
    [[nodiscard]] RowWriter parameters() const {
        RowWriter row;
        for (const ColumnArray& array : arrays_) {
            array.write_to(row);
        }
        return row;
    }

private:
    std::vector<ColumnArray> arrays_;
    std::size_t at_ = 0;
};

}  // namespace sluice::pg
