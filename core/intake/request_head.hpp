// Request head: what both endpoints ask of single header lines.
#pragma once

#include <optional>
#include <string_view>

#include "core/intake/intake.hpp"

namespace sluice {

/// A header's value without the blanks and tabs around it, which are no part of it (RFC 9110, 5.5;
/// nginx takes off blanks only, and none in HTTP/2).
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

enum class HeaderState : std::uint8_t {
    kMissing,   ///< Absent, or empty.
    kRepeated,  ///< Sent more than once: two readers could take two values.
    kOnce,
};
[[nodiscard]] HeaderState state_of(const HeaderValue& header) noexcept;

/// `application/json` in any case, with any parameters.
[[nodiscard]] bool is_json_media_type(std::string_view content_type) noexcept;
/// No Content-Encoding, or `identity`: a body is signed and read as it came.
[[nodiscard]] bool is_identity_encoded(const HeaderValue& content_encoding) noexcept;
/// The token of `Bearer <token>`, the scheme in any case; nothing if there is none.
[[nodiscard]] std::optional<std::string_view> bearer_token(std::string_view authorization) noexcept;

}  // namespace sluice
