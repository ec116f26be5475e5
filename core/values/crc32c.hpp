// CRC32C (Castagnoli), by the processor's instruction.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {

/// Continues from `seed`; 0 to start.
[[nodiscard]] std::uint32_t crc32c(std::uint32_t seed, std::string_view bytes) noexcept;

}  // namespace sluice
