// Source rows: which of our fields each value of a platform went to, and by which rule.
//
// Read back from the stored order: its member `source.seen` has the values that were read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct SourceRow {
    std::string platform_field;  ///< `line_items[0].price_set.shop_money.amount`
    std::string platform_value;
    std::string field;  ///< `line_items[0].amount`; empty if the value went to no field.
    std::string value;  ///< Value of our field, which is empty if the order lacks it.
    std::string rule;   ///< Rule of docs/shops.md, or words. A value that is copied has none.
};

/// Returns a row for each value of `source.seen`, then one for customer and device, whose values
/// are not in `seen`. Returns none for an order without `seen`, or of no platform.
/// Requires: `order` is valid JSON.
[[nodiscard]] std::vector<SourceRow> source_rows(std::string_view order);

}  // namespace sluice
