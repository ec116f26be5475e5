// IP addresses that notifications may be sent to.
//
// A destination's URL comes from an account's own people, so it could name a machine inside the
// operator's network (server-side request forgery). Only the address that a socket is
// about to connect to is judged, because a name can have another address a moment later.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/parsed.hpp"
#include "core/values/result.hpp"

namespace sluice::notify {

struct IpAddress {
    bool is_v6 = false;
    std::array<std::uint8_t, 16> bytes{};  ///< In network order. IPv4 uses the first four.

    /// Parses `192.0.2.1` or `2001:db8::1`, without brackets, zone or other forms.
    [[nodiscard]] static Parsed<IpAddress> parse(std::string_view text);
    /// Returns nullopt for a family other than AF_INET and AF_INET6, and for a short address.
    [[nodiscard]] static std::optional<IpAddress> of(const sockaddr* address,
                                                     socklen_t bytes) noexcept;
    [[nodiscard]] std::string to_string() const;
    [[nodiscard]] unsigned bits() const noexcept { return is_v6 ? 128 : 32; }
    friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

/// A block of addresses.
class Cidr {
public:
    /// Parses `10.1.0.0/16` or `fd00:1::/32`. Refuses bits beyond the prefix, and a block larger
    /// than 10.0.0.0/8 or fc00::/7, because it would admit most of the internet.
    [[nodiscard]] static Result<Cidr> parse(std::string_view text);
    /// Returns false for an address of the other family.
    [[nodiscard]] bool contains(const IpAddress& address) const noexcept;
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    IpAddress base_;
    unsigned prefix_ = 0;
    std::string text_;
};

/// Returns why an address is no public host ("loopback", "private", "NAT64", ...), or an empty text
/// if it is one. An IPv6 address with an IPv4 address in it is refused whatever that one is,
/// because the translator decides where such a packet ends.
[[nodiscard]] std::string_view refused_range(const IpAddress& address) noexcept;

/// Decides whether a connection may be opened.
class AddressJudge {
public:
    /// @param allowed  Blocks that --allow-private named.
    explicit AddressJudge(std::vector<Cidr> allowed) : allowed_(std::move(allowed)) {}

    [[nodiscard]] bool is_allowed(const IpAddress& address) const noexcept;
    /// @param is_encrypted  False for http, which is admitted within the allowed blocks only.
    [[nodiscard]] bool admits(const IpAddress& address, bool is_encrypted) const noexcept {
        return is_allowed(address) || (is_encrypted && refused_range(address).empty());
    }
    [[nodiscard]] bool allows_any() const noexcept { return !allowed_.empty(); }

private:
    std::vector<Cidr> allowed_;
};

}  // namespace sluice::notify
