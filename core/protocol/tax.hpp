// The tax inside a gross amount, for regions where prices include it.
#pragma once

#include "core/values/decimal.hpp"

namespace sluice {

/// round(amount - amount / (1 + rate), 2): exact, one rounding, half to even.
/// Requires: amount >= 0, rate >= 0 (0.2 is 20 percent).
[[nodiscard]] Decimal tax_within(const Decimal& amount, const Decimal& rate);

}  // namespace sluice
