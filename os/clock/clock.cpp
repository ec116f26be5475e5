#include "os/clock/clock.hpp"

#include <ctime>

namespace sluice {
namespace {

constexpr std::uint32_t kNanosPerMs = 1'000'000;

timespec read_clock(clockid_t clock) noexcept {
    timespec read{};
    clock_gettime(clock, &read);
    return read;
}

}  // namespace

Timestamp now() noexcept {
    const timespec read = read_clock(CLOCK_REALTIME);
    return {read.tv_sec, static_cast<std::uint32_t>(read.tv_nsec)};
}

Timestamp now_ms() noexcept {
    Timestamp at = now();
    at.nanos -= at.nanos % kNanosPerMs;
    return at;
}

std::uint64_t wall_ms() noexcept {
    const Timestamp at = now();
    return static_cast<std::uint64_t>(at.seconds) * 1000 + at.nanos / kNanosPerMs;
}

Clock::time_point steady_now() noexcept {
    return Clock::now();
}

std::uint64_t monotonic_ns() noexcept {
    const timespec read = read_clock(CLOCK_MONOTONIC);
    return static_cast<std::uint64_t>(read.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(read.tv_nsec);
}

std::uint64_t monotonic_us() noexcept {
    return monotonic_ns() / 1000;
}

std::uint64_t boot_ms() noexcept {
    const timespec read = read_clock(CLOCK_BOOTTIME);
    return static_cast<std::uint64_t>(read.tv_sec) * 1000 +
           static_cast<std::uint64_t>(read.tv_nsec) / kNanosPerMs;
}

std::int64_t coarse_ms() noexcept {
    const timespec read = read_clock(CLOCK_MONOTONIC_COARSE);
    return static_cast<std::int64_t>(read.tv_sec) * 1000 + read.tv_nsec / kNanosPerMs;
}

}  // namespace sluice
