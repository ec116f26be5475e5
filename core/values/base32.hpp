// Base 32: Crockford's digits, which people read aloud without mistaking one for another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
inline constexpr std::size_t kBase32Bytes30 = 6;

/// The first 30 bits of a digest: six digits.
template <std::size_t N>
[[nodiscard]] std::string base32_of_30_bits(const std::array<std::uint8_t, N>& digest) {
    const std::uint32_t word = std::uint32_t{digest[0]} << 24 | std::uint32_t{digest[1]} << 16 |
                               std::uint32_t{digest[2]} << 8 | digest[3];
    std::string text;
    for (int shift = 27; shift >= 2; shift -= 5) {
        text.push_back(kCrockford[word >> shift & 31]);
    }
    return text;
}

}  // namespace sluice
