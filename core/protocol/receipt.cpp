#include "core/protocol/receipt.hpp"

#include <charconv>
#include <cstring>

#include "core/protocol/signature.hpp"
#include "core/values/crc32c.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t kMagic = 0x43524C53;  // "SLRC"

struct Stored {
    std::uint32_t magic;
    std::uint32_t lane;
    std::uint64_t position;
    std::uint32_t index;
    std::uint32_t crc;
};
static_assert(sizeof(Stored) == kReceiptBytes);

std::uint32_t crc_of(const Stored& stored) noexcept {
    return crc32c(0, {reinterpret_cast<const char*>(&stored), offsetof(Stored, crc)});
}

/// Parses a number and the dash after it. Returns nullptr if there is none.
template <class Number>
const char* parse_part(const char* from, const char* end, Number& number, int base) noexcept {
    const auto [stop, error] = std::from_chars(from, end, number, base);
    return error == std::errc{} && stop != end && *stop == '-' ? stop + 1 : nullptr;
}

}  // namespace

std::string node_tag(std::string_view queue_uuid) {
    return base32_of_30_bits(sha256(queue_uuid));
}

std::optional<std::string_view> node_tag_of(std::string_view text) noexcept {
    const std::string_view tag = text.substr(0, kBase32Bytes30);
    const bool is_one = text.size() > tag.size() && text[tag.size()] == '-' &&
                        tag.find_first_not_of(kCrockford) == std::string_view::npos;
    return is_one ? std::optional(tag) : std::nullopt;
}

std::string to_string(const Receipt& receipt) {
    std::array<char, 2 * sizeof(receipt.position)> hex{};
    char* const end = std::to_chars(hex.data(), hex.data() + hex.size(), receipt.position, 16).ptr;
    return std::to_string(receipt.lane) + "-" + std::string(hex.data(), end) + "-" +
           std::to_string(receipt.index);
}

Parsed<Receipt> parse_receipt(std::string_view text) noexcept {
    Receipt receipt;
    const char* const end = text.data() + text.size();
    const char* at = parse_part(text.data(), end, receipt.lane, 10);
    at = at == nullptr ? nullptr : parse_part(at, end, receipt.position, 16);
    if (at == nullptr) {
        return std::nullopt;
    }
    const auto [stop, error] = std::from_chars(at, end, receipt.index);
    const bool whole = error == std::errc{} && stop == end && to_string(receipt) == text;
    return whole ? std::optional(receipt) : std::nullopt;
}

std::array<char, kReceiptBytes> encode_receipt(const Receipt& receipt) noexcept {
    Stored stored{kMagic, receipt.lane, receipt.position, receipt.index, 0};
    stored.crc = crc_of(stored);
    std::array<char, kReceiptBytes> bytes{};
    std::memcpy(bytes.data(), &stored, sizeof(stored));
    return bytes;
}

Parsed<Receipt> decode_receipt(std::string_view bytes) noexcept {
    Stored stored{};
    std::memcpy(&stored, bytes.data(), sizeof(stored));
    if (stored.magic != kMagic || stored.crc != crc_of(stored)) {
        return std::nullopt;
    }
    return Receipt{stored.lane, stored.position, stored.index};
}

}  // namespace sluice
