// Texts as PostgreSQL takes them. Internal to this room; pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::pg {

/// Ids of products have no limit, index entries do: a long one is cut and marked with its SHA-256.
inline constexpr std::size_t kKeyTextBytesMax = 1024;
[[nodiscard]] std::string key_text(std::string_view id);

/// PostgreSQL takes UTF-8 without U+0000 only; what people and damaged records bring may be
/// anything. Every other byte becomes '?'.
[[nodiscard]] std::string clean_text(std::string_view text);

}  // namespace sluice::pg
