// LogLimit: what a sender or a broken disk can cause must not fill the log.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace sluice::ngx {

/// Any thread.
class LogLimit {
public:
    explicit LogLimit(std::int64_t interval_seconds) noexcept : interval_(interval_seconds) {}

    /// True at most once in each interval.
    [[nodiscard]] bool allow() noexcept {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
        std::int64_t next = next_.load(std::memory_order_relaxed);
        return now.tv_sec >= next && next_.compare_exchange_strong(next, now.tv_sec + interval_,
                                                                   std::memory_order_relaxed);
    }

private:
    std::int64_t interval_;
    std::atomic<std::int64_t> next_{0};
};

}  // namespace sluice::ngx
