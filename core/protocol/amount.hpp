// Amounts as they come over the wire, and the tax inside a gross amount.
#pragma once

#include <string_view>

#include "core/values/decimal.hpp"

namespace sluice {

/// A decimal and the text as which it was sent, because reports show amounts as sent. The text
/// belongs to the parser.
struct SentDecimal {
    Decimal value;
    std::string_view text;
};

/// Returns the tax inside a gross amount, for regions where prices include it:
/// round(amount - amount / (1 + rate), 2), exact, with one rounding, half to even.
/// Requires: amount >= 0, rate >= 0 (0.2 is 20 percent).
[[nodiscard]] Decimal tax_within(const Decimal& amount, const Decimal& rate);

}  // namespace sluice
