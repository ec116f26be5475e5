#include "core/values/crc32c.hpp"

#include <isa-l/crc.h>

#ifdef __x86_64__
#include <nmmintrin.h>

#include <cstring>
#endif

namespace sluice {
namespace {

/// ISA-L works on the bare register; it counts in int, and its C prototype lacks the const.
std::uint32_t crc_of_long(std::uint32_t crc, std::string_view bytes) noexcept {
    constexpr std::size_t kChunk = 1U << 30;
    while (!bytes.empty()) {
        const std::string_view chunk = bytes.substr(0, kChunk);
        auto* data =
            const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(chunk.data()));
        crc = crc32_iscsi(data, static_cast<int>(chunk.size()), crc);
        bytes.remove_prefix(chunk.size());
    }
    return crc;
}

#ifdef __x86_64__

/// Up to this size, eight bytes at a time are faster than ISA-L, which folds 16 or more at once but
/// takes as long for one byte as for a hundred.
constexpr std::size_t kShortBytesMax = 192;

template <class Word>
Word take(std::string_view& bytes) noexcept {
    Word word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    bytes.remove_prefix(sizeof(word));
    return word;
}

/// Works on the bare register, as crc_of_long() does. Requires: the processor has SSE 4.2.
[[gnu::target("sse4.2")]] std::uint32_t crc_of_short(std::uint32_t crc,
                                                     std::string_view bytes) noexcept {
    std::uint64_t wide = crc;
    while (bytes.size() >= sizeof(std::uint64_t)) {
        wide = _mm_crc32_u64(wide, take<std::uint64_t>(bytes));
    }
    crc = static_cast<std::uint32_t>(wide);
    if ((bytes.size() & 4) != 0) {
        crc = _mm_crc32_u32(crc, take<std::uint32_t>(bytes));
    }
    if ((bytes.size() & 2) != 0) {
        crc = _mm_crc32_u16(crc, take<std::uint16_t>(bytes));
    }
    return bytes.empty() ? crc : _mm_crc32_u8(crc, take<std::uint8_t>(bytes));
}

bool is_short(std::string_view bytes) noexcept {
    return bytes.size() <= kShortBytesMax && __builtin_cpu_supports("sse4.2") != 0;
}

#else

bool is_short(std::string_view /*bytes*/) noexcept {
    return false;
}
std::uint32_t crc_of_short(std::uint32_t crc, std::string_view bytes) noexcept {
    return crc_of_long(crc, bytes);
}

#endif

}  // namespace

std::uint32_t crc32c(std::uint32_t seed, std::string_view bytes) noexcept {
    // The standard CRC inverts the register before and after.
    return ~(is_short(bytes) ? crc_of_short(~seed, bytes) : crc_of_long(~seed, bytes));
}

}  // namespace sluice
