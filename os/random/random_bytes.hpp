// Random bytes for keys, secrets and UUIDs.
#pragma once

#include <cstdint>
#include <span>

namespace sluice {

/// From the kernel (getrandom). If that fails there is no safe way on: the process aborts.
void fill_random(std::span<std::uint8_t> bytes) noexcept;

}  // namespace sluice
