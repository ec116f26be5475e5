// Lists: the columns of a kind of rows, each with the value that it takes from a row. Every output
// of a list is a loop over its columns.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/lists/row_output.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::lists {

/// A value of a column, or null. Texts may be views of the row, and live as long as it does.
class Value {
public:
    using Held = std::variant<std::monostate, bool, std::uint64_t, Decimal, Timestamp,
                              std::string_view, std::string, std::vector<std::string>, Json>;

    Value() = default;  ///< null
    template <std::same_as<bool> Flag>
    Value(Flag flag) : held_(flag) {}
    template <std::unsigned_integral Number>
    requires(!std::same_as<Number, bool>) Value(Number number)
        : held_(static_cast<std::uint64_t>(number)) {}
    Value(const Decimal& amount) : held_(amount) {}
    Value(const Timestamp& time) : held_(time) {}
    Value(const std::optional<Timestamp>& time) {
        if (time) {
            held_ = *time;
        }
    }
    Value(std::string_view text) : held_(text) {}
    Value(const char* text) : held_(std::string_view(text)) {}
    Value(const std::string& text) : held_(std::string_view(text)) {}
    Value(std::string&& text) : held_(std::move(text)) {}
    Value(const AnyTextId& id) : held_(id.view()) {}
    Value(const Currency& currency) : held_(currency.code()) {}
    Value(std::vector<std::string> texts) : held_(std::move(texts)) {}
    Value(Json json) : held_(std::move(json)) {}

    [[nodiscard]] const Held& held() const noexcept { return held_; }

private:
    Held held_;
};

/// Returns null for an empty text.
[[nodiscard]] inline Value or_null(std::string_view text) {
    return text.empty() ? Value() : Value(text);
}
[[nodiscard]] inline Value or_null(const AnyTextId& id) {
    return or_null(id.view());
}

/// Returns the value of a member of what a row is made of: `member<&CreatorHold::actor>`.
template <class Of, class Type>
Of class_of(Type Of::*member);
template <auto kMember>
[[nodiscard]] Value member(const decltype(class_of(kMember))& of) {
    return of.*kMember;
}

/// Return the places of the columns of a name, or of several that single spaces separate. Require:
/// there is a column of each name.
[[nodiscard]] std::size_t column_place(const std::vector<Column>& columns, std::string_view name);
[[nodiscard]] std::vector<std::size_t> column_places(const std::vector<Column>& columns,
                                                     std::string_view names);
/// Returns the value of a whole number, which may be below 0.
[[nodiscard]] inline Value whole(const Decimal& number) {
    return Json(static_cast<std::int64_t>(number.unscaled()));
}

[[nodiscard]] Json json_of(const Value& value);
/// Returns whether a column of the type may have the value: null fits all of them, and amounts are
/// texts if they are shown as a shop sent them.
[[nodiscard]] bool fits(ColumnType type, const Value& value) noexcept;

/// A column, and the value that it takes from a row.
template <class Of>
struct ListColumn {
    using Get = Value (*)(const Of& of);

    Column column;
    Get get;

    ListColumn(std::string_view name, ColumnType type, Scope scope, Get of_get,
               Shown shown = Shown::kInTable)
        : column(name, type, scope, shown), get(of_get) {}
    ListColumn(std::string_view name, ColumnType type, Scope scope, std::vector<Column> members,
               Get of_get, Shown shown = Shown::kInTable)
        : column(name, type, scope, shown, std::move(members)), get(of_get) {}
};

/// @tparam Of  What a row is made of.
template <class Of>
class List {
public:
    List(std::initializer_list<ListColumn<Of>> columns) {
        for (const ListColumn<Of>& column : columns) {
            columns_.push_back(column.column);
            gets_.push_back(column.get);
        }
    }

    [[nodiscard]] const std::vector<Column>& columns() const noexcept { return columns_; }
    /// Returns a list of the columns of these names, which single spaces separate, in their order.
    [[nodiscard]] List only(std::string_view names) const {
        List list{};
        for (const std::size_t i : column_places(columns_, names)) {
            list.columns_.push_back(columns_[i]);
            list.gets_.push_back(gets_[i]);
        }
        return list;
    }
    /// Returns a list of these columns, then those of `more`.
    [[nodiscard]] List then(const List& more) const {
        List list(*this);
        list.columns_.insert(list.columns_.end(), more.columns_.begin(), more.columns_.end());
        list.gets_.insert(list.gets_.end(), more.gets_.begin(), more.gets_.end());
        return list;
    }
    [[nodiscard]] Row row(const Of& of) const {
        Row row;
        row.reserve(gets_.size());
        for (const typename ListColumn<Of>::Get get : gets_) {
            row.push_back(json_of(get(of)));
        }
        return row;
    }
    /// Returns the cell of the column that has the name.
    [[nodiscard]] const Json& cell(const Row& row, std::string_view name) const {
        return row[column_place(columns_, name)];
    }
    /// Returns the row as an object with a member for each column.
    [[nodiscard]] Json object(const Of& of) const {
        Json object = Json::object();
        for (std::size_t i = 0; i < gets_.size(); ++i) {
            object[columns_[i].name] = json_of(gets_[i](of));
        }
        return object;
    }
    /// Passes each value to `take`, in the order of the columns.
    template <class Take>
    void visit(const Of& of, Take&& take) const {
        for (const typename ListColumn<Of>::Get get : gets_) {
            take(get(of));
        }
    }

private:
    std::vector<Column> columns_;
    std::vector<typename ListColumn<Of>::Get> gets_;
};

}  // namespace sluice::lists
