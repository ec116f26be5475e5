// JSON numbers: those that are valid JSON, and larger than a machine number.
#pragma once

#include <string_view>

#include "core/json/document.hpp"

namespace sluice {

enum class ParsedNumbers : std::uint8_t {
    kNone,     ///< The text is not strict JSON: document.error() says why.
    kMachine,  ///< All are machine numbers.
    kWide,     ///< Some are larger. The document has 0 in the place of each.
};

/// Parses as document.parse() does, and accepts numbers of any size. The document's tokens are
/// those of `json`, so a JsonTree has the digits of each number.
[[nodiscard]] ParsedNumbers parse_any_numbers(JsonDocument& document, std::string_view json);

/// Returns whether JsonDocument accepts a number. Requires: `digits` is a number of JSON.
[[nodiscard]] bool is_machine_number(std::string_view digits) noexcept;

}  // namespace sluice
