// Differences: what a program file changes, in words (books H3), and whether a creator can earn
// more by it, or earlier (controls K4).
#pragma once

#include <string>
#include <string_view>

#include "core/programs/program.hpp"

namespace sluice {

/// Names the members whose values differ, with both values: `clearing_days 0 -> 14, max_rate 40 ->
/// not set`. Rules are named one by one: `rule changed: {...} -> {...}, rule added: {...}`. Long
/// values are cut around the first difference. Returns an empty text if there is no difference.
/// @param before  As encode_program() or encode_policy() wrote it, or empty if there was none.
/// @param after   As one of the two wrote it; never empty.
[[nodiscard]] std::string differences_text(std::string_view before, std::string_view after);

/// Returns false only if no order can earn more under `after` than under `before`: rates, tiers,
/// caps, dates, shops and windows are the same or lower, and commissions clear no sooner. A change
/// that cannot be compared, such as another rule, counts as a raise.
/// @param before  nullptr if the program is new.
[[nodiscard]] bool raises_earnings(const Program* before, const Program& after);

}  // namespace sluice
