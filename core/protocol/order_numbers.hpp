// Order numbers: names of an order for people.
//
// A confirmation number is random, so a person who states it was shown the order; other numbers
// count up, and prove nothing.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/protocol/signature.hpp"

namespace sluice {

inline constexpr std::size_t kOrderNumbersMax = 4;  ///< Later ones are not kept.

/// Returns whether the text is a number that is kept: 1 to 64 bytes, of which one is left without
/// `#` and spaces, and none is a control character.
[[nodiscard]] bool is_order_number(std::string_view text) noexcept;
/// Returns whether is_order_number() holds, and the text has 8 bytes or more.
[[nodiscard]] bool is_confirmation_number(std::string_view text) noexcept;

/// Digests a number without `#` and spaces, ignoring ASCII case: `#1001` is found as ` 1001`.
[[nodiscard]] Digest256 order_number_digest(std::string_view number);

}  // namespace sluice
