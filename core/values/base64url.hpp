// Base64url: the alphabet of addresses, without padding (RFC 4648, section 5).
#pragma once

#include <string>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

[[nodiscard]] std::string to_base64url(std::string_view bytes);
/// Accepts only what to_base64url() returns, so that no two texts stand for the same bytes.
[[nodiscard]] Parsed<std::string> from_base64url(std::string_view text);

}  // namespace sluice
