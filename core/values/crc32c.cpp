#include "core/values/crc32c.hpp"

#include <isa-l/crc.h>

namespace sluice {

std::uint32_t crc32c(std::uint32_t seed, std::string_view bytes) noexcept {
    constexpr std::size_t kChunk = 1U << 30;  // ISA-L counts in int.
    // ISA-L works on the bare register; the usual CRC is inverted on both sides.
    std::uint32_t crc = ~seed;
    while (!bytes.empty()) {
        const std::string_view chunk = bytes.substr(0, kChunk);
        // ISA-L only reads; its C prototype lacks the const.
        auto* data =
            const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(chunk.data()));
        crc = crc32_iscsi(data, static_cast<int>(chunk.size()), crc);
        bytes.remove_prefix(chunk.size());
    }
    return ~crc;
}

}  // namespace sluice
