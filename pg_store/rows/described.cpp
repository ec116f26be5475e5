#include "pg_store/rows/described.hpp"

namespace sluice::pg {
namespace {

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

}  // namespace

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

std::string TableText::columns(const char* prefix) const {
    std::vector<SqlColumn> all = without_node(key_);
    for (const SqlColumn& column : without_node(rest_)) {
        all.push_back(column);
    }
    return joined(all, ", ",
                  [prefix](const SqlColumn& column, std::size_t) { return prefix + column.name; });
}

std::string TableText::select_one() const {
    return "SELECT " + columns() + " FROM " + table_ + " WHERE " +
           joined(key_, " AND ", [](const SqlColumn& column, std::size_t at) {
               return column.name + " = " + parameter(at);
           });
}

std::string TableText::select_page(KeyRange range, bool behind, int rows) const {
    std::vector<SqlColumn> same;
    std::vector<SqlColumn> from;
    std::vector<SqlColumn> order;
    for (const SqlColumn& column : key_) {
        const bool is_same = column.described == kNodeColumn || column.described < range.same;
        (is_same ? same : order).push_back(column);
        if (!is_same && (behind || column.described < range.from)) {
            from.push_back(column);
        }
    }
    std::string where = joined(same, " AND ", [](const SqlColumn& column, std::size_t at) {
        return column.name + " = " + parameter(at);
    });
    if (!from.empty()) {
        where +=
            (where.empty() ? "(" : " AND (") + names(from) + (behind ? ") > (" : ") >= (") +
            joined(from, ", ",
                   [&](const SqlColumn&, std::size_t at) { return parameter(same.size() + at); }) +
            ")";
    }
    return "SELECT " + columns() + " FROM " + table_ + (where.empty() ? "" : " WHERE ") + where +
           (order.empty() ? "" : " ORDER BY ") + names(order) + " LIMIT " + std::to_string(rows);
}

std::string TableText::insert_many(bool replaces) const {
    std::vector<SqlColumn> all = key_;
    all.insert(all.end(), rest_.begin(), rest_.end());
    const std::string insert =
        "INSERT INTO " + table_ + " (" + names(all) + ") SELECT * FROM " + unnested(all);
    if (!replaces) {
        return insert;
    }
    const std::string changed =
        joined(without_node(rest_), ", ", [](const SqlColumn& column, std::size_t) {
            return column.name + " = EXCLUDED." + column.name;
        });
    return insert + " ON CONFLICT (" + names(key_) + ") DO " +
           (changed.empty() ? "NOTHING" : "UPDATE SET " + changed);
}

std::string TableText::copy_in() const {
    std::vector<SqlColumn> all = key_;
    all.insert(all.end(), rest_.begin(), rest_.end());
    return "COPY " + table_ + " (" + names(all) + ") FROM STDIN (FORMAT binary)";
}

std::string TableText::erase_many() const {
    return "DELETE FROM " + table_ + " t USING " + unnested(key_) + " AS k (" + names(key_) +
           ") WHERE " + joined(key_, " AND ", [](const SqlColumn& column, std::size_t) {
               return "t." + column.name + " = k." + column.name;
           });
}

}  // namespace sluice::pg
