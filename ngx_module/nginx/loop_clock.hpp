// The time that nginx's event loop has at hand: read once in each of its turns. For that loop only;
// threads, and what is measured within a turn, use os/clock/clock.hpp.
#pragma once

#include <cstdint>

#include "core/values/timestamp.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// The wall clock, in whole milliseconds.
[[nodiscard]] inline Timestamp loop_time() noexcept {
    const ngx_time_t* now = ngx_timeofday();
    return {now->sec, static_cast<std::uint32_t>(now->msec) * 1'000'000u};
}

/// Milliseconds since 1970.
[[nodiscard]] inline std::uint64_t loop_wall_ms() noexcept {
    const ngx_time_t* now = ngx_timeofday();
    return static_cast<std::uint64_t>(now->sec) * 1000u + now->msec;
}

/// Never goes back, and wraps around with ngx_msec_t; what nginx's timers go by.
[[nodiscard]] inline ngx_msec_t loop_ms() noexcept {
    return ngx_current_msec;
}

}  // namespace sluice::ngx
