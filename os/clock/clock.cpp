#include "os/clock/clock.hpp"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "os/files/file_io.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t kNanosPerMs = 1'000'000;

timespec read_clock(clockid_t clock) noexcept {
    timespec read{};
    clock_gettime(clock, &read);
    return read;
}

/// Returns the 22nd field. The second, a name in parentheses, may contain anything.
std::uint64_t start_tick(const std::string& stat) noexcept {
    std::size_t at = stat.rfind(')');
    for (int field = 2; field < 22 && at != std::string::npos; ++field) {
        at = stat.find(' ', at + 1);
    }
    return at == std::string::npos ? 0 : std::strtoull(stat.c_str() + at + 1, nullptr, 10);
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

std::uint64_t process_started_ms(pid_t process) {
    const Result<std::string> stat = read_proc("/proc/" + std::to_string(process) + "/stat");
    const long ticks_per_second = ::sysconf(_SC_CLK_TCK);
    return stat && ticks_per_second > 0
               ? start_tick(*stat) * 1000 / static_cast<std::uint64_t>(ticks_per_second)
               : 0;
}

std::int64_t coarse_ms() noexcept {
    const timespec read = read_clock(CLOCK_MONOTONIC_COARSE);
    return static_cast<std::int64_t>(read.tv_sec) * 1000 + read.tv_nsec / kNanosPerMs;
}

}  // namespace sluice
