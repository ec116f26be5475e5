// Redirect: what a request for a link asks for, and the address that it is sent to. Pure.
//
// Everything here reads the path and query as the client sent them, because nginx's decoded path
// has lost what a shop would decode again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/links/destination.hpp"

namespace sluice {

inline constexpr std::size_t kLinkRestBytesMax = 2048;

/// A request for a link: views of its raw target.
struct LinkTarget {
    std::string_view id;
    std::string_view rest;   ///< From the slash behind the id on; may be empty.
    std::string_view query;  ///< Without `?`; may be empty.
};
/// Returns nothing unless the raw path begins with the location's prefix, as it stands, and an id.
[[nodiscard]] std::optional<LinkTarget> parse_link_target(std::string_view raw,
                                                          std::string_view prefix) noexcept;

/// Returns whether a link may be asked for with this rest and query: one that is not deep takes no
/// rest but a lone slash, and ignores the query; the rest of a deep link has characters of RFC 3986
/// and no dot segment, plain or encoded.
[[nodiscard]] bool fits_link(const LinkTarget& target, bool is_deep) noexcept;

/// Additions to a destination.
struct RedirectParts {
    std::string_view rest{}, query{};  ///< From a deep link. Requires: fits_link().
    /// Name of the parameter: those of the request and of the destination are left out.
    std::string_view device_name = kDeviceName;
    std::string_view device{};  ///< Or empty.
};
/// Returns the address: path and query of the request go behind those of the destination, and the
/// device before its fragment. Bytes of the query that RFC 3986 does not know are encoded.
[[nodiscard]] std::string redirect_address(const Destination& to, const RedirectParts& parts);

// ---- The device ---------------------------------------------------------------------------------

/// Returns the first device id that a Cookie header has under this name, or an empty text.
[[nodiscard]] std::string_view find_device(std::string_view cookies,
                                           std::string_view name) noexcept;

// ---- Requests that count nothing ----------------------------------------------------------------

/// The headers by which browsers say why they ask; empty if they were not sent.
struct FetchHeaders {
    std::string_view sec_purpose, purpose, x_moz, x_purpose, sec_fetch_dest;

    /// Returns whether the browser only guesses that a person will follow the link.
    [[nodiscard]] bool is_speculative() const noexcept;
    /// Returns whether the answer becomes part of a page: an image, a frame, a script.
    [[nodiscard]] bool is_embedded() const noexcept;
};

}  // namespace sluice
