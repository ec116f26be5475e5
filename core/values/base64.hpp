// Base64: bytes as text (RFC 4648), in two alphabets.
#pragma once

#include <string>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

/// The alphabet of mail and headers, with padding (section 4).
[[nodiscard]] std::string to_base64(std::string_view bytes);
/// Accepts only what to_base64() returns, so that no two texts stand for the same bytes.
[[nodiscard]] Parsed<std::string> from_base64(std::string_view text);

/// The alphabet of addresses, without padding (section 5).
[[nodiscard]] std::string to_base64url(std::string_view bytes);
/// Accepts only what to_base64url() returns, so that no two texts stand for the same bytes.
[[nodiscard]] Parsed<std::string> from_base64url(std::string_view text);

}  // namespace sluice
