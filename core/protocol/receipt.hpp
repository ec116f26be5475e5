// Receipt: the place of a record when its event was answered; `$sluice_receipt`. Rule: L6.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

struct Receipt {
    std::uint32_t lane = 0;
    std::uint64_t position = 0;  ///< The offset of the batch in the lane.
    std::uint32_t index = 0;     ///< Within the batch, from 0.
    friend bool operator==(const Receipt&, const Receipt&) = default;
};

/// Returns six characters for a queue: 30 bits of the SHA-256 of its UUID in Crockford's base 32.
/// `$sluice_receipt` begins with them, so that receipts of several nodes differ.
[[nodiscard]] std::string node_tag(std::string_view queue_uuid);
/// Returns the tag before the first dash of a text, or nothing if it has none. Numbers of lanes
/// have fewer digits.
[[nodiscard]] std::optional<std::string_view> node_tag_of(std::string_view text) noexcept;

/// Returns `LANE-POSITION-INDEX` with the position in hex, for example `3-1a000-17`.
[[nodiscard]] std::string to_string(const Receipt& receipt);
/// Returns nothing for a text that to_string() does not write.
[[nodiscard]] Parsed<Receipt> parse_receipt(std::string_view text) noexcept;

/// A record that came through a lane ends with these bytes (little endian): u32 magic 'SLRC',
/// u32 lane, u64 position, u32 index, u32 CRC32C of the bytes before.
inline constexpr std::size_t kReceiptBytes = 24;
[[nodiscard]] std::array<char, kReceiptBytes> encode_receipt(const Receipt& receipt) noexcept;
/// Returns nothing if the bytes are no receipt. Requires: kReceiptBytes bytes.
[[nodiscard]] Parsed<Receipt> decode_receipt(std::string_view bytes) noexcept;

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
