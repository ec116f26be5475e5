// The program's only door to the clocks. Nothing else asks the system for the time; inside nginx's
// event loop ngx_module/nginx/event_loop.hpp gives the time that nginx has at hand.
//
// core has no clock: time comes to it as an argument.
//
// Threads: any. No call blocks, allocates or fails.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/values/timestamp.hpp"

namespace sluice {

/// The wall clock, in nanoseconds. A person or NTP may set it back.
[[nodiscard]] Timestamp now() noexcept;
/// The same in whole milliseconds, for rows that people read.
[[nodiscard]] Timestamp now_ms() noexcept;
/// Milliseconds since 1970.
[[nodiscard]] std::uint64_t wall_ms() noexcept;

/// Never goes back; for what lasts and what is due. It stands still while the machine sleeps.
using Clock = std::chrono::steady_clock;
[[nodiscard]] Clock::time_point steady_now() noexcept;
/// The same clock (CLOCK_MONOTONIC) as a number, for words that processes share.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;
[[nodiscard]] std::uint64_t monotonic_us() noexcept;
/// The same as it was at the kernel's last tick, up to 10 ms ago; costs a few nanoseconds.
[[nodiscard]] std::int64_t coarse_ms() noexcept;

}  // namespace sluice
