// Receipt: where a record was put when its event was answered; `$sluice_receipt`. Rule: L6.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

struct Receipt {
    std::uint32_t lane = 0;
    std::uint64_t position = 0;  ///< Of its batch, in the lane.
    std::uint32_t index = 0;     ///< In its batch, from 0.
    friend bool operator==(const Receipt&, const Receipt&) = default;
};

/// Six characters for a queue: the first 30 bits of the SHA-256 of its UUID in Crockford's base 32.
/// `$sluice_receipt` begins with them, so that receipts of several nodes differ.
[[nodiscard]] std::string node_tag(std::string_view queue_uuid);
/// The tag that a text and its first dash begin with; nothing: it has none. Lanes have fewer
/// digits.
[[nodiscard]] std::optional<std::string_view> node_tag_of(std::string_view text) noexcept;

/// `LANE-POSITION-INDEX`, for example `3-1a000-17`; the position in hex.
[[nodiscard]] std::string to_string(const Receipt& receipt);
/// Nothing: to_string() writes none like it.
[[nodiscard]] std::optional<Receipt> parse_receipt(std::string_view text) noexcept;

/// A record that came through a lane ends with these bytes (little endian): u32 magic 'SLRC',
/// u32 lane, u64 position, u32 index, u32 CRC32C of the bytes before.
inline constexpr std::size_t kReceiptBytes = 24;
[[nodiscard]] std::array<char, kReceiptBytes> encode_receipt(const Receipt& receipt) noexcept;
/// Nothing: they are no receipt. Requires: kReceiptBytes bytes.
[[nodiscard]] std::optional<Receipt> decode_receipt(std::string_view bytes) noexcept;

}  // namespace sluice
