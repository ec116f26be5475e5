// Member writer: the members of a JSON object, listed once for both directions. Such a list is a
// function each_member(members, value): `members` is a MemberWriter for a const value, or a
// MemberReader for a value to fill in.
//
// An absent member is a std::optional without value. Ids, times and amounts are texts.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/json/writer.hpp"
#include "core/values/ids.hpp"

namespace sluice {

/// A type of each_member() for both directions: `Is<Tier> auto& tier`.
template <class Value, class Type>
concept Is = std::same_as<std::remove_const_t<Value>, Type>;

/// Stands for the parser of a text whose type needs none.
struct NoParser {};

namespace json_detail {

template <class Value>
inline constexpr bool kIsOptional = false;
template <class Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;
/// A vector or a set.
template <class Value>
concept List =
    !std::same_as<Value, std::string> && requires(Value list, typename Value::value_type item) {
    list.insert(list.end(), item);
};

template <class Value>
auto text_of(const Value& value) {
    if constexpr (std::is_convertible_v<Value, std::string_view>) {
        return std::string_view(value);
    } else if constexpr (std::is_base_of_v<AnyTextId, Value>) {
        return value.view();
    } else if constexpr (requires { value.to_string(); }) {
        return value.to_string();
    } else {
        return to_string(value);
    }
}

}  // namespace json_detail

class MemberWriter {
public:
    static constexpr bool kReads = false;
    explicit MemberWriter(JsonWriter& json) : json_(json) {}

    /// Writes the member, unless it is an optional without value.
    /// @param parse  For the reader. One of a type without to_string() has text(value).
    template <class Value, class Parse = NoParser>
    void operator()(const char* name, const Value& value, Parse parse = {}) {
        if constexpr (json_detail::kIsOptional<Value>) {
            if (value) {
                (*this)(name, *value, parse);
            }
        } else {
            json_.key(name);
            put(value, parse);
        }
    }
    /// Writes null for an optional without value.
    template <class Value, class Parse = NoParser>
    void or_null(const char* name, const std::optional<Value>& value, Parse parse = {}) {
        json_.key(name);
        value ? put(*value, parse) : static_cast<void>(json_.null());
    }
    /// Writes the member unless its value is the default of its type.
    template <class Value, class Parse = NoParser>
    void unless_default(const char* name, const Value& value, Parse /*parse*/ = {}) {
        if (wants(name, value != Value{})) {
            (*this)(name, value);
        }
    }
    /// Returns whether the members that begin with `name` follow: `is_there` to a writer, and to a
    /// reader whether it finds `name`.
    [[nodiscard]] bool wants(const char* /*name*/, bool is_there) const { return is_there; }

    /// An item of a row: null stands for an optional without value.
    template <class Value>
    void item(const Value& value) {
        if constexpr (json_detail::kIsOptional<Value>) {
            value ? item(*value) : static_cast<void>(json_.null());
        } else {
            put(value, NoParser{});
        }
    }
    /// Writes an array of rows, each an array of the items that `items(members, row)` lists.
    template <class Rows, class Items>
    void rows(const char* name, const Rows& rows, Items&& items) {
        json_.key(name).begin_array();
        for (const auto& row : rows) {
            json_.begin_array();
            items(*this, row);
            json_.end_array();
        }
        json_.end_array();
    }
    [[nodiscard]] JsonWriter& json() noexcept { return json_; }

private:
    template <class Value, class Parse>
    void put(const Value& value, Parse parse) {
        if constexpr (requires { parse.text(value); }) {
            json_.value(parse.text(value));
        } else if constexpr (json_detail::List<Value>) {
            json_.begin_array();
            for (const auto& each : value) {
                put(each, parse);
            }
            json_.end_array();
        } else if constexpr (std::is_same_v<Value, SequenceNumber>) {
            json_.value(value.value);
        } else if constexpr (std::is_integral_v<Value>) {
            json_.value(value);
        } else if constexpr (requires { each_member(*this, value); }) {
            json_.begin_object();
            each_member(*this, value);
            json_.end_object();
        } else {
            json_.value(json_detail::text_of(value));
        }
    }

    JsonWriter& json_;
};

/// Returns an object, with the members that each_member() lists.
template <class Value>
[[nodiscard]] std::string encode_json(const Value& value) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    MemberWriter members(json);
    each_member(members, value);
    json.end_object();
    return text;
}

}  // namespace sluice
