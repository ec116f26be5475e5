// Catalog: merges the products of a batch into the stored records.
//
// Pure, on the text of the batch: values are kept as they were sent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/rows.hpp"
#include "core/values/ids.hpp"

namespace sluice {

/// Names the record of an element of `products`.
struct ProductName {
    ProductId product_id;
    std::string language, country;  ///< Empty means none.
};
/// Requires: `element` is valid for its topic.
[[nodiscard]] ProductName product_name(std::string_view element);
/// Returns the elements of `products`. Requires: `body` is a valid batch.
[[nodiscard]] std::vector<std::string_view> product_elements(std::string_view body);

/// Returns the record after an upsert: an absent field keeps its stored value, null clears it,
/// anything else replaces. A record that is created without parent_id gets its own id.
/// @param stored  nullptr if there is none yet.
[[nodiscard]] CatalogRecord merge_product(const CatalogKey& key, const CatalogRecord* stored,
                                          std::string_view element);

}  // namespace sluice
