// Product fields: the one table that describes a catalog record. The validator walks it, and the
// reference page and the OpenAPI document are generated from it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/values/name_index.hpp"

namespace sluice {

enum class FieldType : std::uint8_t {
    kId,            ///< String of 1 to 1024 bytes.
    kNonEmptyText,  ///< String of 1 byte or more.
    kText,          ///< Any string.
    kBoolean,       ///<
    kInteger,       ///< 64 bits, written without fraction or exponent.
    kNumber,        ///< Any JSON number.
    kLanguage,      ///< ISO 639-1, lower case.
    kCountry,       ///< ISO 3166-1 alpha-2, upper case.
    kCurrency,      ///< ISO 4217, upper case.
    kAvailability,  ///< `in stock` or `out of stock`.
    kTextList,      ///< Array of strings.
    kObject,        ///< An object of `table`.
    kObjectList,    ///< Array of objects of `table`.
};

/// The topics for which a field is required or checked.
enum class OnTopic : std::uint8_t { kNone, kUpsert, kDelete, kBoth };

struct ProductTable;

struct ProductField {
    std::string_view name;
    FieldType type;
    std::string_view note;  ///< For the reference page.
    bool nullable = false;
    const ProductTable* table = nullptr;  ///< For kObject and kObjectList.
    std::uint16_t limit = 0;              ///< Most elements of a list; 0 means no limit.
    OnTopic required = OnTopic::kNone;
    OnTopic checked = OnTopic::kUpsert;  ///< Elsewhere any value is accepted.
};

/// One kind of object. Fields are in the order in which errors are listed.
struct ProductTable {
    std::string_view name;  ///< `product`, `variant`, ...
    std::span<const ProductField> fields;
    NameIndex index;

    // Bit i stands for fields[i].
    std::uint32_t required_on_upsert = 0;
    std::uint32_t required_on_delete = 0;
    std::uint32_t checked_on_delete = 0;
};

/// Returns the table of an element of `products`.
[[nodiscard]] const ProductTable& product_table() noexcept;
/// Returns all tables, each before those to which it refers.
[[nodiscard]] std::span<const ProductTable* const> product_tables() noexcept;

/// Returns the name for documents: `string`, `array of variant`, `ISO 4217 code`, ...
[[nodiscard]] std::string_view to_string(FieldType type) noexcept;
/// Returns the message for another value: `must be an array of strings`, ...
[[nodiscard]] std::string_view expectation(FieldType type) noexcept;

}  // namespace sluice
