// An amount as it came over the wire.
#pragma once

#include <string_view>

#include "core/values/decimal.hpp"

namespace sluice {

/// A decimal and the text it was sent as; reports show amounts as sent. The text belongs
/// to the parser.
struct SentDecimal {
    Decimal value;
    std::string_view text;
};

}  // namespace sluice
