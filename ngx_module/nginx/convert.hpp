// ngx_str_t <-> std::string_view, and nginx's clock. The only place for such conversions.
#pragma once

#include <string>
#include <string_view>

#include "core/values/timestamp.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

[[nodiscard]] inline std::string_view to_view(const ngx_str_t& text) noexcept {
    return {reinterpret_cast<const char*>(text.data), text.len};
}
[[nodiscard]] inline std::string_view to_view(const u_char* first, const u_char* last) noexcept {
    return {reinterpret_cast<const char*>(first), static_cast<std::size_t>(last - first)};
}
std::string_view to_view(const char*) = delete;

/// nginx's structures have no const; it does not write through this.
[[nodiscard]] inline u_char* to_bytes(std::string_view text) noexcept {
    return const_cast<u_char*>(reinterpret_cast<const u_char*>(text.data()));
}
[[nodiscard]] inline ngx_str_t to_ngx(std::string_view text) noexcept {
    return {text.size(), to_bytes(text)};
}

/// The event loop's cached clock; milliseconds.
[[nodiscard]] inline Timestamp loop_time() noexcept {
    const ngx_time_t* now = ngx_timeofday();
    return {now->sec, static_cast<std::uint32_t>(now->msec) * 1'000'000u};
}

/// For threads: nginx's cached clock belongs to the event loop.
[[nodiscard]] inline Timestamp thread_time() noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return {now.tv_sec, static_cast<std::uint32_t>(now.tv_nsec)};
}

[[nodiscard]] inline std::uint64_t monotonic_us() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec) / 1000u;
}

}  // namespace sluice::ngx
