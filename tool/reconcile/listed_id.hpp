// Listed ids: what spreadsheets do to the ids of orders. An id that one of them has changed is
// never called missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

/// Returns the id without what exports write around it: spaces, tabs, an apostrophe, `="..."`.
[[nodiscard]] std::string_view plain_id(std::string_view id) noexcept;

/// Returns ids of which the spreadsheet may have removed leading zeros to get this one.
[[nodiscard]] std::vector<std::string> ids_with_zeros(std::string_view id);

/// Returns why a number that no order has may be a rounded one, or nullopt: `5.8387E+17`, or more
/// than 15 digits that end in zeros.
[[nodiscard]] std::optional<std::string> rounding_of(std::string_view id);

}  // namespace sluice::cli
