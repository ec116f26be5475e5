// Raise: whether a new version of a program lets a creator earn more, or earlier (controls K4).
#pragma once

#include <optional>

#include "core/programs/program.hpp"

namespace sluice {

/// Returns false only if no order can earn more under `after` than under `before`: rates, tiers,
/// caps, dates, shops and windows are the same or lower, and commissions clear no sooner. A change
/// that cannot be compared, such as another rule, counts as a raise.
/// @param before  nullptr if the program is new.
[[nodiscard]] bool raises_earnings(const Program* before, const Program& after);

}  // namespace sluice
