// Random bytes for keys, secrets and UUIDs. Internal to this room.
#pragma once

#include <cstdint>
#include <span>

namespace sluice::store {

/// From the kernel (getrandom). If that fails there is no safe way on: the process aborts.
void fill_random(std::span<std::uint8_t> bytes) noexcept;

}  // namespace sluice::store
