#include "notify/ip_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sluice::notify {
namespace {

constexpr unsigned kPrefixMinV4 = 8, kPrefixMinV6 = 7;
constexpr std::size_t kV4Bytes = 4;

/// A block of IANA's registries of special-purpose addresses. IPv4 blocks use the first four bytes.
struct Range {
    std::array<std::uint8_t, 8> base;
    unsigned prefix;
    std::string_view name;
};

constexpr Range kV4Ranges[] = {
    {{0}, 8, "this network"},
    {{10}, 8, "private"},
    {{100, 64}, 10, "carrier-grade NAT"},
    {{127}, 8, "loopback"},
    {{169, 254}, 16, "link-local"},
    {{172, 16}, 12, "private"},
    {{192, 0, 0}, 24, "protocol assignments"},
    {{192, 0, 2}, 24, "documentation"},
    {{192, 88, 99}, 24, "6to4"},
    {{192, 168}, 16, "private"},
    {{198, 18}, 15, "benchmarks"},
    {{198, 51, 100}, 24, "documentation"},
    {{203, 0, 113}, 24, "documentation"},
    {{224}, 4, "multicast"},
    {{240}, 4, "reserved"},
};

// The blocks outside 2000::/3 only give a name; refused_range() refuses all of them.
constexpr Range kV6Ranges[] = {
    {{0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0}, 64, "NAT64"},
    {{0x00, 0x64, 0xff, 0x9b, 0, 1}, 48, "NAT64"},
    {{0x20, 0x01, 0, 0}, 32, "Teredo"},
    {{0x20, 0x01, 0}, 23, "protocol assignments"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "documentation"},
    {{0x20, 0x02}, 16, "6to4"},
    {{0x3f, 0xff, 0}, 20, "documentation"},
    {{0xfc}, 7, "private"},
    {{0xfe, 0x80}, 10, "link-local"},
    {{0xfe, 0xc0}, 10, "site-local"},
    {{0xff}, 8, "multicast"},
};
constexpr std::uint8_t kGlobalUnicast = 0x20;  // 2000::/3
constexpr std::uint8_t kGlobalUnicastMask = 0xE0;

/// Returns whether two addresses have the first `prefix` bits in common.
bool same_prefix(const std::uint8_t* a, const std::uint8_t* b, unsigned prefix) noexcept {
    const unsigned whole = prefix / 8;
    const auto mask = static_cast<std::uint8_t>(0xFF00U >> (prefix % 8));
    return std::memcmp(a, b, whole) == 0 &&
           (prefix % 8 == 0 || ((a[whole] ^ b[whole]) & mask) == 0);
}

template <std::size_t kCount>
std::string_view name_in(const Range (&ranges)[kCount], const IpAddress& address) noexcept {
    for (const Range& range : ranges) {
        if (same_prefix(address.bytes.data(), range.base.data(), range.prefix)) {
            return range.name;
        }
    }
    return {};
}

bool is_zero(const IpAddress& address, std::size_t from, std::size_t to) noexcept {
    return std::all_of(address.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                       address.bytes.begin() + static_cast<std::ptrdiff_t>(to),
                       [](std::uint8_t byte) { return byte == 0; });
}

/// Names the blocks below ::/64, which differ in later bytes.
std::string_view low_range(const IpAddress& address) noexcept {
    const auto& b = address.bytes;
    if (!is_zero(address, 0, 8)) {
        return {};
    }
    if (is_zero(address, 8, 15) && b[15] <= 1) {
        return b[15] == 1 ? "loopback" : "unspecified";
    }
    if (is_zero(address, 8, 10) && b[10] == 0xff && b[11] == 0xff) {
        return "IPv4-mapped";
    }
    if (b[8] == 0xff && b[9] == 0xff && b[10] == 0 && b[11] == 0) {
        return "IPv4-translated";
    }
    return is_zero(address, 8, 12) ? "IPv4-compatible" : std::string_view{};
}

/// ISATAP: an interface id that holds an IPv4 address, below any prefix.
bool is_isatap(const IpAddress& address) noexcept {
    const auto& b = address.bytes;
    return (b[8] & 0xFDU) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe;
}

}  // namespace

Parsed<IpAddress> IpAddress::parse(std::string_view text) {
    const std::string terminated(text);
    IpAddress address;
    address.is_v6 = text.find(':') != std::string_view::npos;
    const bool valid = terminated.size() == std::strlen(terminated.c_str()) &&
                       ::inet_pton(address.is_v6 ? AF_INET6 : AF_INET, terminated.c_str(),
                                   address.bytes.data()) == 1;
    return valid ? std::optional(address) : std::nullopt;
}

std::optional<IpAddress> IpAddress::of(const sockaddr* address, socklen_t bytes) noexcept {
    IpAddress parsed;
    if (address->sa_family == AF_INET && bytes >= sizeof(sockaddr_in)) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
        std::memcpy(parsed.bytes.data(), &v4->sin_addr, kV4Bytes);
        return parsed;
    }
    if (address->sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
        const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
        parsed.is_v6 = true;
        std::memcpy(parsed.bytes.data(), &v6->sin6_addr, parsed.bytes.size());
        return parsed;
    }
    return std::nullopt;
}

std::string IpAddress::to_string() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(is_v6 ? AF_INET6 : AF_INET, bytes.data(), text.data(), text.size());
    return text.data();
}

Result<Cidr> Cidr::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto base = IpAddress::parse(text.substr(0, slash));
    Cidr cidr;
    const char* const end = text.data() + text.size();
    const bool numbered = slash != std::string_view::npos && slash + 1 < text.size() &&
                          std::from_chars(text.data() + slash + 1, end, cidr.prefix_).ptr == end;
    if (!base || !numbered || cidr.prefix_ > base->bits()) {
        return invalid("expected a block of addresses, such as 10.1.0.0/16");
    }
    if (cidr.prefix_ < (base->is_v6 ? kPrefixMinV6 : kPrefixMinV4)) {
        return invalid("the block is too large: at most a /8 of IPv4 or a /7 of IPv6");
    }
    for (unsigned bit = cidr.prefix_; bit < base->bits(); ++bit) {
        if ((unsigned{base->bytes[bit / 8]} >> (7 - bit % 8) & 1U) != 0) {
            return invalid("the block has bits beyond its prefix");
        }
    }
    cidr.base_ = *base;
    cidr.text_ = text;
    return cidr;
}

bool Cidr::contains(const IpAddress& address) const noexcept {
    return address.is_v6 == base_.is_v6 &&
           same_prefix(address.bytes.data(), base_.bytes.data(), prefix_);
}

std::string_view refused_range(const IpAddress& address) noexcept {
    if (!address.is_v6) {
        return name_in(kV4Ranges, address);
    }
    if (const std::string_view low = low_range(address); !low.empty()) {
        return low;
    }
    if (const std::string_view name = name_in(kV6Ranges, address); !name.empty()) {
        return name;
    }
    if ((address.bytes[0] & kGlobalUnicastMask) != kGlobalUnicast) {
        return "reserved";
    }
    return is_isatap(address) ? "ISATAP" : std::string_view{};
}

bool AddressJudge::is_allowed(const IpAddress& address) const noexcept {
    return std::ranges::any_of(allowed_,
                               [&](const Cidr& block) { return block.contains(address); });
}

}  // namespace sluice::notify
