#include "pg_store/rows/described.hpp"

#include <algorithm>
#include <type_traits>

#include "core/ledger/failure.hpp"
#include "pg_store/rows/row_fields.hpp"

namespace sluice::pg {
namespace {

constexpr unsigned kNodeColumn = ~0U;

Type type_of(ColumnKind kind) {
    switch (kind) {
        case ColumnKind::kNumber32:
            return Type::kInt4;
        case ColumnKind::kNumber64:
            return Type::kInt8;
        case ColumnKind::kBool:
            return Type::kBool;
        case ColumnKind::kEnum:
            return Type::kInt2;
        case ColumnKind::kBytes:
        case ColumnKind::kDigest:
            return Type::kBytes;
        case ColumnKind::kDecimal:
            return Type::kNumeric;
        default:
            return Type::kText;
    }
}

/// Returns the columns of SQL for described ones.
std::vector<SqlColumn> sql_columns(const std::vector<Column>& columns, bool are_key) {
    std::vector<SqlColumn> all;
    for (unsigned i = 0; i < columns.size(); ++i) {
        const std::string name = columns[i].name;
        const bool optional = columns[i].optional != nullptr;
        if (columns[i].kind == ColumnKind::kInstant) {
            all.push_back({name + "_s", Type::kInt8, i, optional});
            all.push_back({name + "_ns", Type::kInt4, i, optional});
        } else {
            const Type type = type_of(columns[i].kind);
            const bool is_id = are_key || columns[i].kind == ColumnKind::kId;
            all.push_back({name, type, i, optional, type == Type::kText && is_id});
        }
    }
    return all;
}

std::string type_name(Type type) {
    switch (type) {
        case Type::kBool:
            return "boolean";
        case Type::kBytes:
            return "bytea";
        case Type::kInt8:
            return "bigint";
        case Type::kInt2:
            return "smallint";
        case Type::kInt4:
            return "integer";
        case Type::kNumeric:
            return "numeric";
        case Type::kText:
            break;
    }
    return "text";
}

/// `item` of each column, separated.
template <class Item>
std::string joined(const std::vector<SqlColumn>& columns, const char* between, Item&& item) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        text += (i == 0 ? "" : between) + item(columns[i], i);
    }
    return text;
}

std::vector<SqlColumn> without_node(const std::vector<SqlColumn>& columns) {
    std::vector<SqlColumn> kept;
    for (const SqlColumn& column : columns) {
        if (column.described != kNodeColumn) {
            kept.push_back(column);
        }
    }
    return kept;
}

std::string parameter(std::size_t at) {
    return "$" + std::to_string(at + 1);
}

/// Returns `a = $1 AND b = $2`
std::string conditions(const std::vector<SqlColumn>& columns) {
    return joined(columns, " AND ", [](const SqlColumn& column, std::size_t at) {
        return column.name + " = " + parameter(at);
    });
}

/// Writes the fields of columns, each to the writer that `next` gives.
/// @param count  How many columns are written.
template <class Next>
void write_columns(RowView row, const std::vector<Column>& columns, Next& next,
                   std::size_t count = ~std::size_t{0}) {
    for (std::size_t i = 0; i < std::min(count, columns.size()); ++i) {
        const Column& column = columns[i];
        const void* const value = column.find(row.get());
        if (value == nullptr) {
            next().null();
            if (column.kind == ColumnKind::kInstant) {
                next().null();
            }
        } else if (column.kind == ColumnKind::kBytes) {
            next().bytes(*static_cast<const std::string*>(value));
        } else {
            with_value(column.kind, value, [&next]<class Value>(const Value& known) {
                if constexpr (std::is_same_v<Value, std::string>) {
                    next().text(clean_text(known));
                } else if constexpr (std::is_same_v<Value, Timestamp>) {
                    next().i8(known.seconds);
                    next().u4(known.nanos);
                } else {
                    FieldWriting{next()}(known);
                }
            });
        }
    }
}

/// Throws DamagedField.
void read_column(RowReader& from, const Column& column, void* row) {
    if (column.optional != nullptr && from.next_is_null()) {
        from.skip(1);
        column.reset(row);
        if (column.kind == ColumnKind::kInstant) {
            if (!from.next_is_null()) {
                throw_damaged("an instant has no seconds");
            }
            from.skip(1);
        }
        return;
    }
    with_value(column.kind, column.make(row), [&]<class Value>(Value& value) {
        if constexpr (std::is_same_v<Value, Timestamp>) {
            value = from.instant();
        } else if constexpr (std::is_same_v<Value, std::uint8_t>) {
            const std::int64_t stored = from.i8();
            if (stored < 0 || stored > 0xFF ||
                !column.is_valid(static_cast<std::uint8_t>(stored))) {
                throw_damaged("a kind is " + std::to_string(stored));
            }
            value = static_cast<std::uint8_t>(stored);
        } else {
            FieldReading{from.next()}(value);
        }
    });
}

void read_columns(RowReader& from, const std::vector<Column>& columns, void* row) {
    for (const Column& column : columns) {
        try {
            read_column(from, column, row);
        } catch (const DamagedField& damaged) {
            throw_damaged(std::string(column.name) + ": " + damaged.wrong);
        }
    }
}

template <class Next>
void write_row(RowView row, std::uint32_t node, bool with_rest, Next next) {
    if (row.table().per_node) {
        next().u4(node);
    }
    write_columns(row, row.table().key, next);
    if (with_rest) {
        write_columns(row, row.table().rest, next);
    }
}

}  // namespace

void read_row(RowReader& from, RowRef row) {
    try {
        read_columns(from, row.table().key, row.get());
        read_columns(from, row.table().rest, row.get());
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row_name(row), damaged.wrong, order_of(row));
    }
}

RowWriter key_parameters(RowView row, std::uint32_t node, unsigned columns) {
    RowWriter parameters;
    if (row.table().per_node) {
        parameters.u4(node);
    }
    const auto next = [&parameters]() -> RowWriter& { return parameters; };
    write_columns(row, row.table().key, next, columns);
    return parameters;
}

void copy_row(RowView row, std::uint32_t node, RowWriter& to) {
    to.begin_copy_row(static_cast<std::int16_t>(sql_of(row.table()).all().size()));
    write_row(row, node, true, [&to]() -> RowWriter& { return to; });
}

void RowArrays::add_key(RowView row, std::uint32_t node) {
    write_row(row, node, false, [this]() -> RowWriter& { return next(); });
}

void RowArrays::add_row(RowView row, std::uint32_t node) {
    write_row(row, node, true, [this]() -> RowWriter& { return next(); });
}

std::string names(const std::vector<SqlColumn>& columns) {
    return joined(columns, ", ", [](const SqlColumn& column, std::size_t) { return column.name; });
}

std::string unnested(const std::vector<SqlColumn>& columns, std::size_t first) {
    return "unnest(" +
           joined(columns, ", ",
                  [first](const SqlColumn& column, std::size_t at) {
                      return parameter(first - 1 + at) + "::" + type_name(column.type) + "[]";
                  }) +
           ")";
}

TableSql::TableSql(const DescribedTable& table)
    : table_(std::string("sluice_ledger.") + table.name),
      key_(sql_columns(table.key, true)),
      rest_(sql_columns(table.rest, false)),
      page_rows_(table.in_bulk ? 8192 : 500),
      keeps_latest_(table.keeps_latest),
      joins_bits_(table.joins_bits) {
    if (table.per_node) {
        key_.insert(key_.begin(), {"node", Type::kInt4, kNodeColumn});
    }
    all_ = key_;
    all_.insert(all_.end(), rest_.begin(), rest_.end());
    select_one_ = "SELECT " + columns() + " FROM " + table_ + " WHERE " + conditions(key_);
    insert_many_ = insert_new();
    if (!table.write_once) {
        const std::string changed = joined(rest_, ", ", [](const SqlColumn& column, std::size_t) {
            return column.name + " = EXCLUDED." + column.name;
        });
        insert_many_ += " ON CONFLICT (" + names(key_) + ") DO " +
                        (changed.empty() ? "NOTHING" : "UPDATE SET " + changed);
    }
    erase_many_ = "DELETE FROM " + table_ + " t USING " + unnested(key_) + " AS k (" + names(key_) +
                  ") WHERE " + joined(key_, " AND ", [](const SqlColumn& column, std::size_t) {
                      return "t." + column.name + " = k." + column.name;
                  });
    copy_in_ = copy_into(table.name, names(all_));
}

const TableSql& sql_of(const DescribedTable& table) {
    static const std::vector<TableSql> all(described_tables().begin(), described_tables().end());
    return all[table.number];
}

std::string TableSql::create() const {
    const std::string columns = joined(all_, ", ", [](const SqlColumn& column, std::size_t) {
        return column.name + " " + type_name(column.type) +
               (column.by_bytes ? " COLLATE \"C\"" : "") + (column.optional ? "" : " NOT NULL");
    });
    return "CREATE TABLE " + table_ + " (" + columns + ", PRIMARY KEY (" + names(key_) + "));\n";
}

std::string TableSql::columns(const char* prefix) const {
    return joined(without_node(all_), ", ",
                  [prefix](const SqlColumn& column, std::size_t) { return prefix + column.name; });
}

std::string TableSql::select_page(KeyRange range, Page page) const {
    std::vector<SqlColumn> same, bound, order;
    for (const SqlColumn& column : key_) {
        const bool is_same = column.described == kNodeColumn || column.described < range.same;
        (is_same ? same : order).push_back(column);
        if (!is_same && (page == Page::kAfter || column.described < range.from)) {
            bound.push_back(column);
        }
    }
    std::string where = conditions(same);
    if (!bound.empty()) {
        const char* const compared = page == Page::kFrom    ? ") >= ("
                                     : page == Page::kAfter ? ") > ("
                                                            : ") < (";
        where +=
            (where.empty() ? "(" : " AND (") + names(bound) + compared +
            joined(bound, ", ",
                   [&](const SqlColumn&, std::size_t at) { return parameter(same.size() + at); }) +
            ")";
    }
    const char* const direction = page == Page::kBefore ? " DESC" : "";
    return "SELECT " + columns() + " FROM " + table_ + (where.empty() ? "" : " WHERE ") + where +
           (order.empty() ? "" : " ORDER BY ") +
           joined(order, ", ",
                  [&](const SqlColumn& column, std::size_t) { return column.name + direction; }) +
           " LIMIT " + std::to_string(page_rows_);
}

std::string TableSql::insert_new() const {
    return "INSERT INTO " + table_ + " (" + names(all_) + ") SELECT * FROM " + unnested(all_);
}

std::string TableSql::add_many() const {
    const std::string added = joined(rest_, ", ", [this](const SqlColumn& column, std::size_t at) {
        const std::string stored = "t." + column.name, given = "EXCLUDED." + column.name;
        if (!keeps_latest_) {
            return column.name + " = " + stored + " + " + given;
        }
        const std::string& day = rest_.front().name;
        return column.name +
               (at == 0 ? " = greatest(" + stored + ", " + given + ")"
                        : " = CASE sign(t." + day + " - EXCLUDED." + day + ") WHEN 0 THEN " +
                              stored + (joins_bits_ ? " | " : " + ") + given + " WHEN 1 THEN " +
                              stored + " ELSE " + given + " END");
    });
    return "INSERT INTO " + table_ + " AS t (" + names(all_) + ") SELECT * FROM " + unnested(all_) +
           " ON CONFLICT (" + names(key_) + ") DO UPDATE SET " + added;
}

std::string TableSql::select_many() const {
    return "SELECT " + columns("t.") + " FROM " + table_ + " t JOIN " + unnested(key_) + " AS k (" +
           names(key_) + ") USING (" + names(key_) + ")";
}

}  // namespace sluice::pg
