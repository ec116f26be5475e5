// Status history: the last minutes in shared memory, so that a page that a person opens during an
// incident also shows how it began.
//
// The nginx worker that samples offers a point every second; it becomes one every few seconds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/status/metrics.hpp"

namespace sluice {

inline constexpr std::uint64_t kHistoryPeriodMs = 5'000;
inline constexpr std::size_t kHistoryPoints = 180;  ///< 15 minutes.

/// One point: counts since the point before it, gauges at its time.
struct HistoryPoint {
    std::uint64_t time_ms = 0;  ///< Wall clock.
    std::uint64_t span_ms = 0;  ///< What the counts cover; 0: nothing was counted before.
    std::uint64_t accepted_events = 0;
    std::uint64_t accepted_catalog = 0;
    std::uint64_t refused = 0;  ///< Answered with 4xx.
    std::uint64_t failed = 0;   ///< Answered with 5xx.
    std::uint64_t commits = 0;
    std::uint64_t commit_p50_us = 0;
    std::uint64_t commit_p99_us = 0;
    std::uint64_t queue_depth = 0;
};

/// What a point is made of besides the counters. Zero where unknown.
struct HistoryGauges {
    std::uint64_t queue_depth = 0;
};

/// Lives in the shared zone; zero bytes are its start value.
class SharedHistory {
public:
    /// Writes a point if kHistoryPeriodMs have passed since the last one and no other worker does.
    /// Any process; a few microseconds. @return true: written.
    bool offer(const MetricsSnapshot& metrics, const HistoryGauges& gauges,
               std::uint64_t now_ms) noexcept;
    /// Oldest first; without a point that is being written.
    void read(std::vector<HistoryPoint>& points) const;

private:
    static constexpr std::size_t kFields = sizeof(HistoryPoint) / sizeof(std::uint64_t);
    using Words = std::array<Counter, kFields>;
    /// The totals that the newest point was made from.
    struct Totals {
        std::array<Counter, 4> requests;
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
