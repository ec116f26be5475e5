#include "pg_store/rows/described.hpp"

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
std::vector<SqlColumn> sql_columns(const std::vector<Column>& columns) {
    std::vector<SqlColumn> all;
    for (unsigned i = 0; i < columns.size(); ++i) {
        const std::string name = columns[i].name;
        if (columns[i].kind == ColumnKind::kInstant) {
            all.push_back({name + "_s", Type::kInt8, i});
            all.push_back({name + "_ns", Type::kInt4, i});
        } else {
            all.push_back({name, type_of(columns[i].kind), i});
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

/// Writes the fields of columns, each to the writer that `next` gives.
template <class Next>
class FieldWriter {
public:
    FieldWriter(RowView row, Next next) : row_(row), next_(std::move(next)) {}

    /// @param columns  How many columns are written.
    void write(const std::vector<Column>& from, unsigned columns = ~0U) {
        for (const Column& column : from) {
            if (columns-- == 0) {
                return;
            }
            write(column);
        }
    }

private:
    void write(const Column& column) {
        const void* const value = column.find(row_.get());
        if (value == nullptr) {
            next_().null();
            if (column.kind == ColumnKind::kInstant) {
                next_().null();
            }
        } else if (column.kind == ColumnKind::kBytes) {
            next_().bytes(*static_cast<const std::string*>(value));
        } else {
            with_value(column.kind, value, [this](const auto& known) { this->field(known); });
        }
    }
    template <class Value>
    void field(const Value& value) {
        FieldWriting{next_()}(value);
    }
    void field(const std::string& text) { next_().text(clean_text(text)); }
    void field(const Timestamp& at) {
        next_().i8(at.seconds);
        next_().u4(at.nanos);
    }

    RowView row_;
    Next next_;
};

/// Reads fields. Throws DamagedField.
class FieldReader {
public:
    FieldReader(RowReader& from, RowRef row) : from_(from), row_(row) {}

    void read(const std::vector<Column>& columns) {
        for (const Column& column : columns) {
            try {
                read(column);
            } catch (const DamagedField& damaged) {
                throw_damaged(std::string(column.name) + ": " + damaged.wrong);
            }
        }
    }

private:
    void read(const Column& column) {
        if (column.optional != nullptr && from_.next_is_null()) {
            from_.skip(1);
            column.reset(row_.get());
            if (column.kind == ColumnKind::kInstant) {
                if (!from_.next_is_null()) {
                    throw_damaged("an instant has no seconds");
                }
                from_.skip(1);
            }
            return;
        }
        with_value(column.kind, column.make(row_.get()),
                   [&](auto& value) { field(value, column); });
    }
    void field(std::uint8_t& value, const Column& column) {
        const std::int64_t stored = from_.i8();
        if (stored < 0 || stored > 0xFF || !column.is_valid(static_cast<std::uint8_t>(stored))) {
            throw_damaged("a kind is " + std::to_string(stored));
        }
        value = static_cast<std::uint8_t>(stored);
    }
    template <class Value>
    void field(Value& value, const Column& /*column*/) {
        const Field stored = from_.next();
        FieldReading{stored}(value);
    }
    void field(Timestamp& at, const Column& /*column*/) { at = from_.instant(); }

    RowReader& from_;
    RowRef row_;
};

template <class Next>
void write_row(RowView row, std::uint32_t node, bool with_rest, Next next) {
    if (row.table().per_node) {
        next().u4(node);
    }
    FieldWriter writer(row, next);
    writer.write(row.table().key);
    if (with_rest) {
        writer.write(row.table().rest);
    }
}

}  // namespace

void read_row(RowReader& from, RowRef row) {
    try {
        FieldReader reader(from, row);
        reader.read(row.table().key);
        reader.read(row.table().rest);
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row_name(row), damaged.wrong, order_of(row));
    }
}

RowWriter key_parameters(RowView row, std::uint32_t node, unsigned columns) {
    RowWriter parameters;
    if (row.table().per_node) {
        parameters.u4(node);
    }
    FieldWriter(row, [&parameters]() -> RowWriter& {
        return parameters;
    }).write(row.table().key, columns);
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
      key_(sql_columns(table.key)),
      rest_(sql_columns(table.rest)),
      page_rows_(table.in_bulk ? 8192 : 500),
      keeps_latest_(table.keeps_latest) {
    if (table.per_node) {
        key_.insert(key_.begin(), {"node", Type::kInt4, kNodeColumn});
    }
    all_ = key_;
    all_.insert(all_.end(), rest_.begin(), rest_.end());
    select_one_ = make_select_one();
    insert_many_ = make_insert_many(!table.write_once);
    erase_many_ = make_erase_many();
    copy_in_ = "COPY " + table_ + " (" + names(all_) + ") FROM STDIN (FORMAT binary)";
}

const TableSql& sql_of(const DescribedTable& table) {
    static const std::vector<TableSql> all(described_tables().begin(), described_tables().end());
    return all[table.number];
}

std::string TableSql::columns(const char* prefix) const {
    return joined(without_node(all_), ", ",
                  [prefix](const SqlColumn& column, std::size_t) { return prefix + column.name; });
}

std::string TableSql::make_select_one() const {
    return "SELECT " + columns() + " FROM " + table_ + " WHERE " +
           joined(key_, " AND ", [](const SqlColumn& column, std::size_t at) {
               return column.name + " = " + parameter(at);
           });
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
    std::string where = joined(same, " AND ", [](const SqlColumn& column, std::size_t at) {
        return column.name + " = " + parameter(at);
    });
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

std::string TableSql::make_insert_many(bool replaces) const {
    if (!replaces) {
        return insert_new();
    }
    const std::string changed = joined(rest_, ", ", [](const SqlColumn& column, std::size_t) {
        return column.name + " = EXCLUDED." + column.name;
    });
    return insert_new() + " ON CONFLICT (" + names(key_) + ") DO " +
           (changed.empty() ? "NOTHING" : "UPDATE SET " + changed);
}

std::string TableSql::add_many() const {
    const std::string added = joined(rest_, ", ", [this](const SqlColumn& column, std::size_t at) {
        const std::string stored = "t." + column.name, given = "EXCLUDED." + column.name;
        if (!keeps_latest_) {
            return column.name + " = " + stored + " + " + given;
        }
        const std::string& day = rest_.front().name;
        return column.name + (at == 0 ? " = greatest(" + stored + ", " + given + ")"
                                      : " = CASE sign(t." + day + " - EXCLUDED." + day +
                                            ") WHEN 0 THEN " + stored + " | " + given +
                                            " WHEN 1 THEN " + stored + " ELSE " + given + " END");
    });
    return "INSERT INTO " + table_ + " AS t (" + names(all_) + ") SELECT * FROM " + unnested(all_) +
           " ON CONFLICT (" + names(key_) + ") DO UPDATE SET " + added;
}

std::string TableSql::select_many() const {
    return "SELECT " + columns("t.") + " FROM " + table_ + " t JOIN " + unnested(key_) + " AS k (" +
           names(key_) + ") USING (" + names(key_) + ")";
}

std::string TableSql::make_erase_many() const {
    return "DELETE FROM " + table_ + " t USING " + unnested(key_) + " AS k (" + names(key_) +
           ") WHERE " + joined(key_, " AND ", [](const SqlColumn& column, std::size_t) {
               return "t." + column.name + " = k." + column.name;
           });
}

}  // namespace sluice::pg
