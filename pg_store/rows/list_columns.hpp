// List columns: lists of an order as arrays, an array for each field of the items; null if there
// are no items, which costs a bit where an empty array costs 16 bytes. Internal to pg_store; pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {

/// Writes one array: write(out, item) writes one element for every item.
template <class Range, class Write>
void list(Type type, RowWriter& row, const Range& range, Write&& write) {
    if (range.empty()) {
        row.null();
    } else {
        row.array(type, range, std::forward<Write>(write));
    }
}

// Writes one array of get(item) for every item.
template <class Range, class Get>
void texts(RowWriter& row, const Range& range, Get&& get) {
    list(Type::kText, row, range, [&](RowWriter& out, const auto& item) { out.text(get(item)); });
}
template <class Range, class Get>
void amounts(RowWriter& row, const Range& range, Get&& get) {
    list(Type::kNumeric, row, range,
         [&](RowWriter& out, const auto& item) { out.numeric(get(item)); });
}
template <class Range, class Get>
void flags(RowWriter& row, const Range& range, Get&& get) {
    list(Type::kBool, row, range,
         [&](RowWriter& out, const auto& item) { out.boolean(get(item)); });
}
template <class Range, class Get>
void shorts(RowWriter& row, const Range& range, Get&& get) {
    list(Type::kInt2, row, range,
         [&](RowWriter& out, const auto& item) { out.i2(static_cast<std::int16_t>(get(item))); });
}
template <class Range, class Get>
void integers(RowWriter& row, const Range& range, Get&& get) {
    list(Type::kInt4, row, range, [&](RowWriter& out, const auto& item) { out.u4(get(item)); });
}
template <class Range, class Get>
void longs(RowWriter& row, const Range& range, Get&& get) {
    list(Type::kInt8, row, range,
         [&](RowWriter& out, const auto& item) { out.i8(static_cast<std::int64_t>(get(item))); });
}
/// Two columns.
template <class Range, class Get>
void instants(RowWriter& row, const Range& range, Get&& get) {
    longs(row, range, [&](const auto& item) { return get(item).seconds; });
    integers(row, range, [&](const auto& item) { return get(item).nanos; });
}

[[nodiscard]] inline std::uint32_t u4_of(const Field& field) {
    return static_cast<std::uint32_t>(to_integer(field));
}
/// Reads a number that fits into a byte.
[[nodiscard]] inline std::uint8_t u1_of(const Field& field) {
    const std::int64_t value = to_integer(field);
    if (value < 0 || value > 0xFF) {
        throw_damaged("a small number is " + std::to_string(value));
    }
    return static_cast<std::uint8_t>(value);
}

/// Calls set(item, element) for each element; the first array of a list says how long it is.
template <class Item, class Set>
void read_first(RowReader& row, std::vector<Item>& items, Set&& set) {
    const std::vector<Field> elements = row.elements();
    items.clear();
    items.resize(elements.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        set(items[i], elements[i]);
    }
}
template <class Item, class Set>
void read_next(RowReader& row, std::vector<Item>& items, Set&& set) {
    const std::vector<Field> elements = row.elements();
    if (elements.size() != items.size()) {
        throw_damaged("lists that belong together differ in length");
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        set(items[i], elements[i]);
    }
}

/// Two columns; at(item) is where the instant goes.
template <class Item, class At>
void read_next_instants(RowReader& row, std::vector<Item>& items, At&& at) {
    read_next(row, items, [&](Item& item, const Field& f) { at(item).seconds = to_integer(f); });
    read_next(row, items, [&](Item& item, const Field& f) {
        at(item).nanos = u4_of(f);
        check(at(item));
    });
}

template <class Id>
[[nodiscard]] Id id_of(const Field& field) {
    return Id(to_text(field));
}

}  // namespace sluice::pg
