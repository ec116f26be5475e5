// JSON reader: functions that the decoders of commands and programs share. A body is accepted as a
// whole or refused.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values/money.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::json_reader {

using simdjson::dom::array;
using simdjson::dom::element;

/// Thrown and caught within the decoders, because each of many fields may be wrong.
struct Malformed {};

template <class Value>
Value require(std::optional<Value> value) {
    if (!value) {
        throw Malformed{};
    }
    return *std::move(value);
}

template <class Value>
Value require(Result<Value> value) {
    if (!value) {
        throw Malformed{};
    }
    return std::move(value).value();
}

inline std::string_view text_of(const element& value) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return text;
}

inline std::uint64_t number_of(const element& value) {
    std::uint64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return number;
}

inline std::uint32_t number32_of(const element& value) {
    const std::uint64_t number = number_of(value);
    if (number > std::numeric_limits<std::uint32_t>::max()) {
        throw Malformed{};
    }
    return static_cast<std::uint32_t>(number);
}

inline element field(const element& object, std::string_view name) {
    element value;
    if (object[name].get(value) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return value;
}

inline array array_field(const element& object, std::string_view name) {
    array values;
    if (field(object, name).get(values) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return values;
}

inline std::optional<element> optional_field(const element& object, std::string_view name) {
    element value;
    if (object[name].get(value) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    return value;
}

inline std::optional<std::string> optional_text(const element& object, std::string_view name) {
    const std::optional<element> value = optional_field(object, name);
    return value ? std::optional<std::string>(text_of(*value)) : std::nullopt;
}

inline Timestamp instant_of(const element& value) {
    return require(Timestamp::parse(text_of(value)));
}

inline std::optional<Timestamp> optional_instant(const element& object, std::string_view name) {
    const std::optional<element> value = optional_field(object, name);
    return value ? std::optional(instant_of(*value)) : std::nullopt;
}

inline bool flag_of(const element& object, std::string_view name) {
    const std::optional<element> value = optional_field(object, name);
    bool flag = false;
    if (value && value->get(flag) != simdjson::SUCCESS) {
        throw Malformed{};
    }
    return flag;
}

template <class Make>
auto list_of(const element& object, std::string_view name, Make make) {
    std::vector<decltype(make(std::declval<element>()))> list;
    for (const element value : array_field(object, name)) {
        list.push_back(make(value));
    }
    return list;
}

inline Money money_of(const element& value) {
    return require(parse_money(text_of(value)));
}

}  // namespace sluice::json_reader
