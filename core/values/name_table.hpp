// Name table: the values of an enum, each with the name that people and files write.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/values/parsed.hpp"

namespace sluice {

template <class Value, std::size_t kCount>
using NameTable = std::array<std::pair<Value, std::string_view>, kCount>;

/// Returns the name of `value`, or `otherwise` if the table does not list it.
template <class Value, std::size_t kCount>
std::string_view name_in(const NameTable<Value, kCount>& table, Value value,
                         std::string_view otherwise) noexcept {
    for (const auto& [known, name] : table) {
        if (known == value) {
            return name;
        }
    }
    return otherwise;
}

/// Returns the value of a name, or nullopt if the table does not list it.
template <class Value, std::size_t kCount>
Parsed<Value> value_in(const NameTable<Value, kCount>& table, std::string_view text) noexcept {
    for (const auto& [value, name] : table) {
        if (name == text) {
            return value;
        }
    }
    return std::nullopt;
}

/// The names of an enum's values. The header of an enum with names specializes it.
template <class Value>
inline constexpr std::nullptr_t kNamesOf = nullptr;

template <class Value>
concept Named = std::is_enum_v<Value> && !std::is_null_pointer_v<decltype(kNamesOf<Value>)>;

/// Returns the name, or `unknown` without one.
template <Named Value>
[[nodiscard]] std::string_view to_string(Value value) noexcept {
    return name_in(kNamesOf<Value>, value, "unknown");
}

template <Named Value>
[[nodiscard]] Parsed<Value> parse_name(std::string_view text) noexcept {
    return value_in(kNamesOf<Value>, text);
}

}  // namespace sluice
