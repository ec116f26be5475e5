// Destination: the URL that a link leads to, in parts. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice {

inline constexpr std::size_t kDestinationBytesMax = 2048;
/// The parameter and the cookie that carry a device id, where no other prefix is configured.
inline constexpr std::string_view kDeviceName = "svc_anon_id";

/// Views of a URL, which outlives them.
struct Destination {
    std::string_view scheme;      ///< `https` or `http`
    std::string_view host{};      ///< Without a port.
    std::string_view base{};      ///< Everything before query and fragment.
    std::string_view query{};     ///< Without `?`; may be empty.
    std::string_view fragment{};  ///< With `#`; may be empty.

    /// Returns whether the path ends in a slash, so that nothing can follow it.
    [[nodiscard]] bool ends_in_slash() const noexcept { return base.ends_with('/'); }
};

/// Returns kInvalid, with the place in the text, unless it is an absolute URL of http or https with
/// a host in ASCII, of RFC 3986's characters, without user info and without a parameter that could
/// be taken for the device's.
[[nodiscard]] Result<Destination> parse_destination(std::string_view url);

/// Returns whether a parameter, as it stands between two `&`, has this name once it is decoded. A
/// shop decodes it, and would otherwise take another device's id from it.
[[nodiscard]] bool is_named(std::string_view parameter, std::string_view name) noexcept;

// Bytes of RFC 3986. A percent sign is one only with two hexadecimal digits behind it.

/// Returns the length of the path or query character at `text[at]`, 1 or 3, or 0 if it is none.
[[nodiscard]] std::size_t url_character(std::string_view text, std::size_t at) noexcept;
[[nodiscard]] int hex_digit(char c) noexcept;  ///< -1 if it is none.

}  // namespace sluice
