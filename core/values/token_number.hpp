// Token number: the number in a token's id, which a record of the queue has in place of the id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Returns the number in a token's id, `tok_` and 16 hexadecimal digits; 0 for any other text.
[[nodiscard]] std::uint64_t token_number(std::string_view token_id) noexcept;
/// Returns the id that has the number.
[[nodiscard]] std::string token_id_of(std::uint64_t number);

}  // namespace sluice
