// The program's clocks: what they promise to each other.
#include "os/clock/clock.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace sluice {
namespace {

std::int64_t seconds_of(clockid_t clock) {
    timespec read{};
    clock_gettime(clock, &read);
    return read.tv_sec;
}

TEST(OsClock, TheWallClockIsTheSystems) {
    const std::int64_t before = seconds_of(CLOCK_REALTIME);
    const Timestamp at = now();
    const std::uint64_t ms = wall_ms();
    const Timestamp whole = now_ms();
    const std::int64_t after = seconds_of(CLOCK_REALTIME);
    EXPECT_LE(before, at.seconds);
    EXPECT_LE(at.seconds, after);
    EXPECT_LT(at.nanos, 1'000'000'000U);
    EXPECT_LE(static_cast<std::uint64_t>(before) * 1000, ms);
    EXPECT_LE(ms, static_cast<std::uint64_t>(after) * 1000 + 999);
    EXPECT_EQ(whole.nanos % 1'000'000, 0U);
    EXPECT_LE(before, whole.seconds);
    EXPECT_LE(whole.seconds, after);
}

/// Words that processes share hold numbers; what a process keeps is a time point. One clock.
TEST(OsClock, TheSteadyClockIsTheSameAsANumber) {
    const std::uint64_t first_ns = monotonic_ns();
    const auto steady = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(steady_now().time_since_epoch()).count());
    const std::uint64_t last_us = monotonic_us();
    EXPECT_LE(first_ns, steady);
    EXPECT_LE(steady / 1000, last_us);
}

/// The kernel's tick lies at most 10 ms (100 Hz) behind, and never ahead.
TEST(OsClock, TheCoarseClockIsAtMostATickBehind) {
    const std::int64_t coarse = coarse_ms();
    EXPECT_LE(coarse, static_cast<std::int64_t>(monotonic_ns() / 1'000'000));
    const auto fine = static_cast<std::int64_t>(monotonic_ns() / 1'000'000);
    EXPECT_LE(fine, coarse_ms() + 10);
}

}  // namespace
}  // namespace sluice
