// Described: the tables of core/ledger/tables.hpp in SQL: their statements, rows and keys. Internal
// to this room; pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/ledger/row_name.hpp"
#include "core/ledger/row_tables.hpp"
#include "pg_store/rows/fields.hpp"

namespace sluice::pg {

/// Reads a row that TableText::columns() gives. Throws DamagedRow.
template <class Row>
[[nodiscard]] Row read_row(RowReader& from) {
    Row row{};
    try {
        FieldReader reader(from);
        TableOf<Row>::key(row, reader);
        TableOf<Row>::rest(row, reader);
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row_name(row), damaged.wrong, order_of(row));
    }
    return row;
}

/// `a, b, c`
[[nodiscard]] std::string names(const std::vector<SqlColumn>& columns);
/// `unnest($1::integer[], $2::text[])`: rows from an array for each column.
/// @param first  The number of the first parameter.
[[nodiscard]] std::string unnested(const std::vector<SqlColumn>& columns, std::size_t first = 1);

/// Rows of a page of a scan.
template <class Row>
inline constexpr int kPageRows = TableOf<Row>::kInBulk ? 8192 : 500;

/// The texts of a table's statements. A `node` column comes first in its key.
class TableText {
public:
    TableText(const char* table, std::vector<SqlColumn> key, std::vector<SqlColumn> rest)
        : table_(std::string("sluice_ledger.") + table),
          key_(std::move(key)),
          rest_(std::move(rest)) {}

    /// What read_row() reads: all but the node.
    [[nodiscard]] std::string columns(const char* prefix = "") const;
    [[nodiscard]] std::string select_one() const;
    /// A page of a scan: rows at or behind a key's first columns, or behind a whole key.
    [[nodiscard]] std::string select_page(KeyRange range, bool behind, int rows) const;
    /// Of many rows: `unnest`, an array for each column.
    [[nodiscard]] std::string insert_many(bool replaces) const;
    [[nodiscard]] std::string erase_many() const;
    /// Of very many new rows: `COPY`, the columns of key() and rest() in each row.
    [[nodiscard]] std::string copy_in() const;

    [[nodiscard]] const std::vector<SqlColumn>& key() const noexcept { return key_; }
    [[nodiscard]] const std::vector<SqlColumn>& rest() const noexcept { return rest_; }

private:
    std::string table_;
    std::vector<SqlColumn> key_, rest_;
};

inline constexpr unsigned kNodeColumn = ~0U;

template <class Row>
[[nodiscard]] const TableText& table_text() {
    static const TableText text = [] {
        const Row row{};
        ColumnList key;
        ColumnList rest;
        TableOf<Row>::key(row, key);
        TableOf<Row>::rest(row, rest);
        std::vector<SqlColumn> key_columns = std::move(key).take();
        std::vector<SqlColumn> rest_columns = std::move(rest).take();
        if (TableOf<Row>::kPerNode) {
            key_columns.insert(key_columns.begin(), {"node", Type::kInt4, kNodeColumn});
        }
        return TableText(TableOf<Row>::kName, std::move(key_columns), std::move(rest_columns));
    }();
    return text;
}

/// The first `columns` of a row's key as parameters.
template <class Row>
[[nodiscard]] RowWriter key_parameters(const Row& row, std::uint32_t node, unsigned columns = ~0U) {
    RowWriter parameters;
    if constexpr (TableOf<Row>::kPerNode) {
        parameters.u4(node);
    }
    const auto next = [&parameters]() -> RowWriter& { return parameters; };
    TableOf<Row>::key(row, FieldWriter(next, columns));
    return parameters;
}

}  // namespace sluice::pg
