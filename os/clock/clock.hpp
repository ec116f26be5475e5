// The program's only access to the clocks. nginx's event loop uses nginx's cached time instead
// (ngx_module/nginx/event_loop.hpp). core has no clock: callers pass the time as an argument.
//
// Threads: any. No call blocks, allocates or fails, except process_started_ms().
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "core/values/timestamp.hpp"

namespace sluice {

/// Returns the wall clock, in nanoseconds. NTP or an administrator may set it back.
[[nodiscard]] Timestamp now() noexcept;
/// Returns the wall clock in whole milliseconds, for rows that people read.
[[nodiscard]] Timestamp now_ms() noexcept;
/// Returns milliseconds since 1970.
[[nodiscard]] std::uint64_t wall_ms() noexcept;

/// The monotonic clock, for durations and deadlines. It stops while the machine sleeps.
using Clock = std::chrono::steady_clock;
[[nodiscard]] Clock::time_point steady_now() noexcept;
/// Returns the same clock (CLOCK_MONOTONIC) as a number that processes can share.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;
[[nodiscard]] std::uint64_t monotonic_us() noexcept;
/// Returns milliseconds since the machine was booted, its sleep included (CLOCK_BOOTTIME).
[[nodiscard]] std::uint64_t boot_ms() noexcept;
/// Returns when a process was started, in milliseconds of boot_ms(), or 0 if the system does not
/// tell. Reads a file of /proc.
[[nodiscard]] std::uint64_t process_started_ms(pid_t process);
/// Returns the monotonic clock at the kernel's last tick, up to 10 ms ago. Costs a few nanoseconds.
[[nodiscard]] std::int64_t coarse_ms() noexcept;

}  // namespace sluice
