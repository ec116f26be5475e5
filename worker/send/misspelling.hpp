// Misspellings: fields of product records that no table knows and that resemble one it does. The
// server takes such a record, because unknown fields are accepted; the field then changes nothing.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/product_fields.hpp"

namespace sluice::cli {

/// The field that an unknown name probably stands for: the same letters in another case or with
/// other separators, or up to two letters (one, in names below six) wrong, missing or swapped.
[[nodiscard]] std::optional<std::string_view> resembled_field(const ProductTable& table,
                                                              std::string_view name);

/// Every such field of the record, also in its variants and prices: `variants[0].titel: no such
/// field is known; did you mean title?`. Empty for what is no JSON object.
[[nodiscard]] std::vector<std::string> misspelt_fields(const simdjson::dom::element& record);

}  // namespace sluice::cli
