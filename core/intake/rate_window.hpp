// Rate word: the whole state of one account's fixed window in 64 bits, so that every nginx worker
// can count with one compare-and-swap.
//
// Layout: end second of the window : 36 (high) | count : 28 (low).
#pragma once

#include <atomic>
#include <cstdint>

#include "core/values/timestamp.hpp"

namespace sluice {

inline constexpr std::uint32_t kRateRequestsMax = (1U << 28) - 1;
inline constexpr std::uint32_t kRateWindowSecondsMax = 366 * kSecondsPerDay;

struct RateLimit {
    std::uint32_t requests = 600;       ///< 1 to kRateRequestsMax.
    std::uint32_t window_seconds = 60;  ///< 1 to kRateWindowSecondsMax.
    friend constexpr bool operator==(RateLimit, RateLimit) = default;
};

/// A node among those that share an account's limit: number `index` of `nodes`, 1 <= index <=
/// nodes.
struct NodeShare {
    std::uint32_t index = 1;
    std::uint32_t nodes = 1;
};

/// Returns the part of a fleet-wide limit that one node admits: limit / nodes rounded down, and one
/// more on the first (limit mod nodes) nodes, so that the parts add up to the limit. At least 1, so
/// that no node shuts out an account with fewer requests than there are nodes. The window is the
/// same on all nodes. 0 requests (no limit) stay 0.
[[nodiscard]] RateLimit node_part(RateLimit limit, NodeShare share) noexcept;

struct RateVerdict {
    bool allowed = true;
    std::uint32_t limit = 0;
    std::uint32_t remaining = 0;    ///< After this request; never below 0.
    std::int64_t reset_second = 0;  ///< Unix epoch second when the window ends.
    std::uint32_t retry_after = 1;  ///< reset - now, at least 1.
};

/// Result of one request: the rate word after it, and the verdict. Windows are aligned to multiples
/// of their length since the epoch. A word that ends more than one window + 2 s ahead, because the
/// clock stepped back, ends with the current window and keeps its count. So does a word whose
/// window has another length, because the limit was changed. A refused request does not change the
/// window; the count saturates.
struct RateStep {
    std::uint64_t word;
    RateVerdict verdict;
};
[[nodiscard]] RateStep count_request(std::uint64_t word, RateLimit limit,
                                     std::int64_t now_second) noexcept;

/// The window of a word, for people. Nothing is used once the window has ended.
struct RateUse {
    std::uint32_t used = 0;
    std::int64_t reset_second = 0;
};
[[nodiscard]] RateUse rate_use(std::uint64_t word, std::int64_t now_second) noexcept;

/// Performs a step on a word in shared memory: exact, lock-free, without allocation.
[[nodiscard]] RateVerdict count_request(std::atomic<std::uint64_t>& word, RateLimit limit,
                                        std::int64_t now_second) noexcept;

}  // namespace sluice
