// Misspellings: unknown fields of product records that resemble known ones. The server accepts such
// a record, because unknown fields are allowed, and ignores the field.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/product_fields.hpp"

namespace sluice::cli {

/// Returns the field that an unknown name probably means: the same letters in another case or with
/// other separators, or up to two letters (one, in names below six) wrong, missing or swapped.
[[nodiscard]] std::optional<std::string_view> resembled_field(const ProductTable& table,
                                                              std::string_view name);

/// Returns every misspelt field of the record, also in its variants and prices: `variants[0].titel:
/// no such field is known; did you mean title?`. Returns none unless the record is an object.
[[nodiscard]] std::vector<std::string> misspelt_fields(const simdjson::dom::element& record);

}  // namespace sluice::cli
