#include "os/random/random_bytes.hpp"

#include <sys/random.h>

#include <cerrno>

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

}  // namespace sluice
