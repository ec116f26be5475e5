// Status history: the last minutes in shared memory, so that a page that is opened during an
// incident also shows its beginning.
//
// The nginx worker that samples offers values every second; every few seconds they become a point.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/status/metrics.hpp"

namespace sluice {

inline constexpr std::uint64_t kHistoryPeriodMs = 5'000;
inline constexpr std::size_t kHistoryPoints = 180;  ///< 15 minutes.

/// A point: counts since the previous point, and gauges at its time.
struct HistoryPoint {
    std::uint64_t time_ms = 0;  ///< Wall clock.
    std::uint64_t span_ms = 0;  ///< The time that the counts cover; 0 for the first point.
    std::uint64_t accepted_events = 0;
    std::uint64_t accepted_catalog = 0;
    std::uint64_t refused = 0;          ///< Answered with 4xx.
    std::uint64_t failed = 0;           ///< Answered with 5xx.
    std::uint64_t address_limited = 0;  ///< Refused by sluice_failure_limit.
    std::uint64_t limited_before = 0;   ///< Refused by limit_req, limit_conn.
    std::uint64_t commits = 0;
    std::uint64_t commit_p50_us = 0;
    std::uint64_t commit_p99_us = 0;
    std::uint64_t queue_depth = 0;
};

/// Lives in the shared zone; zeroed memory is its initial state.
class SharedHistory {
public:
    /// Writes a point if kHistoryPeriodMs have passed since the last one and no other worker writes
    /// it. Any process; a few microseconds. Returns true if it was written.
    /// @param queue_depth  0 if unknown.
    bool offer(const MetricsSnapshot& metrics, std::uint64_t queue_depth,
               std::uint64_t now_ms) noexcept;
    /// Reads the points, oldest first, without one that is being written.
    void read(std::vector<HistoryPoint>& points) const;

private:
    static constexpr std::size_t kFields = sizeof(HistoryPoint) / sizeof(std::uint64_t);
    using Words = std::array<Counter, kFields>;
    /// The totals at the newest point.
    struct Totals {
        std::array<Counter, 6> requests;
        std::array<Counter, kCommitBoundsUs.size() + 1> commit_buckets;
    };

    HistoryPoint since_last(const MetricsSnapshot& metrics) noexcept;

    Counter last_ms_;
    Counter written_;  ///< Points ever written; the newest is at (written_ - 1) % kHistoryPoints.
    Totals totals_;
    std::array<Words, kHistoryPoints> points_;
};
static_assert(std::is_standard_layout_v<SharedHistory>);
static_assert(std::is_trivially_destructible_v<SharedHistory>);

}  // namespace sluice
