// Random bytes from the kernel (getrandom), for keys, secrets, UUIDs and file names.
//
// If the kernel gives none, the process aborts, because it cannot continue safely. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sluice {

void fill_random(std::span<std::uint8_t> bytes) noexcept;
/// Returns `bytes` random bytes (at most 64) as lower-case hexadecimal digits. Leaves no other copy
/// in memory.
[[nodiscard]] std::string random_hex(std::size_t bytes);
/// Returns a random UUID (version 4) in lower case.
[[nodiscard]] std::string make_uuid();

}  // namespace sluice
