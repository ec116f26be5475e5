// What a sender or a broken disk can cause must neither fill the log nor keep the process busy.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/clock/clock.hpp"

namespace sluice::ngx {

/// Any thread.
class LogLimit {
public:
    explicit LogLimit(std::int64_t interval_seconds) noexcept : interval_(interval_seconds) {}

    /// True at most once in each interval.
    [[nodiscard]] bool allow() noexcept {
        const std::int64_t now = coarse_ms() / 1000;
        std::int64_t next = next_.load(std::memory_order_relaxed);
        return now >= next &&
               next_.compare_exchange_strong(next, now + interval_, std::memory_order_relaxed);
    }

private:
    std::int64_t interval_;
    std::atomic<std::int64_t> next_{0};
};

/// At most `count` in a second. One thread.
class PerSecond {
public:
    explicit PerSecond(unsigned count) noexcept : count_max_(count) {}

    [[nodiscard]] bool allow(std::int64_t now_second) noexcept {
        if (now_second != second_) {
            second_ = now_second;
            count_ = 0;
        }
        return count_ < count_max_ && ++count_ != 0;
    }

private:
    unsigned count_max_;
    unsigned count_ = 0;
    std::int64_t second_ = 0;
};

}  // namespace sluice::ngx
