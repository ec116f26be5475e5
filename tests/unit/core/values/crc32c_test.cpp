// CRC32C of every length: short ones are computed in another way than long ones, and are the same.
#include "core/values/crc32c.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace sluice {
namespace {

/// Bit by bit, as Castagnoli's polynomial says.
std::uint32_t plain_crc32c(std::uint32_t seed, std::string_view bytes) {
    constexpr std::uint32_t kReversed = 0x82F63B78U;
    std::uint32_t crc = ~seed;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversed : 0);
        }
    }
    return ~crc;
}

TEST(Crc32cValues, EveryLengthFromAnySeedAtAnyAddress) {
    constexpr std::size_t kLongest = 1200;
    std::mt19937 random(20261122);
    std::string bytes(kLongest + 8, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random());
    }
    EXPECT_EQ(plain_crc32c(0, "123456789"), 0xE3069283U);
    for (std::size_t size = 0; size <= kLongest; ++size) {
        const auto seed = static_cast<std::uint32_t>(size % 3 == 0 ? 0 : random());
        const std::string_view view = std::string_view(bytes).substr(size % 8, size);
        ASSERT_EQ(crc32c(seed, view), plain_crc32c(seed, view)) << size << " bytes, seed " << seed;
    }
}

}  // namespace
}  // namespace sluice
