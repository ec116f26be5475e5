// Differences: what a program file changes, in words (books H3).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Names the members whose values differ, with both values: `clearing_days 0 -> 14, max_rate 40 ->
/// not set`. Rules are named one by one: `rule changed: {...} -> {...}, rule added: {...}`. Long
/// values are cut around the first difference. Returns an empty text if there is no difference.
/// @param before  As encode_program() or encode_policy() wrote it, or empty if there was none.
/// @param after   Likewise, never empty.
[[nodiscard]] std::string differences_text(std::string_view before, std::string_view after);

}  // namespace sluice
