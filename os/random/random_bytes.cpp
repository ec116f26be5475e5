#include "os/random/random_bytes.hpp"

#include <string.h>
#include <sys/random.h>

#include <array>
#include <cerrno>

#include "core/protocol/signature.hpp"
#include "core/values/assert.hpp"

namespace sluice {

void fill_random(std::span<std::uint8_t> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
        SLUICE_ASSERT(got > 0 || errno == EINTR);
        if (got > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(got));
        }
    }
}

std::string random_hex(std::size_t bytes) {
    std::array<std::uint8_t, 64> buffer{};
    SLUICE_ASSERT(bytes <= buffer.size());
    const std::span<std::uint8_t> used(buffer.data(), bytes);
    fill_random(used);
    std::string text = to_hex(used);
    ::explicit_bzero(used.data(), used.size());
    return text;
}

std::string make_uuid() {
    std::array<std::uint8_t, 16> bytes{};
    fill_random(bytes);
    bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | 0x40U);
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
    const std::string hex = to_hex(bytes);
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
           hex.substr(16, 4) + "-" + hex.substr(20);
}

}  // namespace sluice
