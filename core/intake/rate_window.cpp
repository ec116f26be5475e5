#include "core/intake/rate_window.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr unsigned kCountBits = 28;
constexpr std::uint64_t kCountMax = (std::uint64_t{1} << kCountBits) - 1;
static_assert(kRateRequestsMax <= kCountMax);
constexpr std::int64_t kEndMax = (std::int64_t{1} << (64 - kCountBits)) - 1;
/// How far the cached clocks of nginx workers may differ.
constexpr std::int64_t kClockLagSeconds = 2;

struct Window {
    std::int64_t end = 0;
    std::uint64_t count = 0;
};

/// Returns the window in which a request at `now` counts, before it is counted.
Window window_at(std::uint64_t word, std::int64_t length, std::int64_t now) noexcept {
    const Window stored{static_cast<std::int64_t>(word >> kCountBits), word & kCountMax};
    const std::int64_t end = std::min(now - now % length + length, kEndMax);
    if (now >= stored.end) {
        return {end, 0};
    }
    // A worker process whose clock lags finds a window that another process began, and counts in
    // it. Otherwise each such request would reopen the old window.
    const bool next_window = stored.end == end + length && end - now <= kClockLagSeconds;
    if (next_window) {
        return stored;
    }
    // The current window, one of another length because the limit was changed, or one far ahead
    // because the clock stepped back.
    return {end, stored.count};
}

}  // namespace

RateLimit node_part(RateLimit limit, NodeShare share) noexcept {
    if (limit.requests == 0 || share.nodes < 2) {
        return limit;
    }
    const std::uint32_t rest = limit.requests % share.nodes;
    const std::uint32_t part = limit.requests / share.nodes + (share.index <= rest ? 1 : 0);
    return {std::max<std::uint32_t>(part, 1), limit.window_seconds};
}

RateUse rate_use(std::uint64_t word, std::int64_t now_second) noexcept {
    const auto end = static_cast<std::int64_t>(word >> kCountBits);
    return {now_second < end ? static_cast<std::uint32_t>(word & kCountMax) : 0, end};
}

RateStep count_request(std::uint64_t word, RateLimit limit, std::int64_t now_second) noexcept {
    const std::int64_t now = std::clamp<std::int64_t>(now_second, 0, kEndMax - 1);
    const std::int64_t length = std::max<std::int64_t>(limit.window_seconds, 1);
    Window window = window_at(word, length, now);
    window.count = std::min(window.count + 1, kCountMax);

    RateStep step{};
    step.word = static_cast<std::uint64_t>(window.end) << kCountBits | window.count;
    step.verdict.allowed = window.count <= limit.requests;
    step.verdict.limit = limit.requests;
    step.verdict.remaining =
        step.verdict.allowed ? limit.requests - static_cast<std::uint32_t>(window.count) : 0;
    step.verdict.reset_second = window.end;
    step.verdict.retry_after =
        static_cast<std::uint32_t>(std::max<std::int64_t>(window.end - now, 1));
    return step;
}

RateVerdict count_request(std::atomic<std::uint64_t>& word, RateLimit limit,
                          std::int64_t now_second) noexcept {
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
    // Relaxed, because the word is the whole state and publishes nothing else.
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    for (;;) {
        const RateStep step = count_request(seen, limit, now_second);
        if (word.compare_exchange_weak(seen, step.word, std::memory_order_relaxed)) {
            return step.verdict;
        }
    }
}

}  // namespace sluice
