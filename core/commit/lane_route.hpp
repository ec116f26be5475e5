// LaneRoute: which way an order goes that may go through the lane: there, or straight to the queue.
// Pure; times in milliseconds of the event loop's clock.
//
// What goes through a lane is written twice and read once more. That pays where an order would wait
// for the two syncs of a commit with few others beside it, or behind the commits of other
// processes: nearly always (docs/performance.md has the figures). Where so much of this process
// waits at once that a commit is about as long as a move, the lane only fills faster than it is
// moved: then orders go straight to the queue. The order of events does not depend on it: a
// transaction that stores directly moves all lanes first (L3).
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice {

class LaneRoute {
public:
    /// As long as a move's transaction, or nearly.
    static constexpr std::uint64_t kManyBytes = 384U << 10;
    /// The most that waited is remembered for one to two windows: those who were just answered are
    /// about to send again.
    static constexpr std::uint64_t kWindowMs = 100;

    /// An order of so many bytes waits to be stored, whichever way, until done().
    void arrived(std::uint64_t bytes, std::uint64_t now_ms) noexcept {
        if (now_ms - window_ms_ >= kWindowMs) {
            most_before_ = now_ms - window_ms_ >= 2 * kWindowMs ? 0 : most_;
            most_ = bytes_;
            window_ms_ = now_ms;
        }
        bytes_ += bytes;
        most_ = std::max(most_, bytes_);
    }
    /// Its request was told the outcome.
    void done(std::uint64_t bytes) noexcept { bytes_ -= bytes; }

    /// The next order goes through the lane. Requires: arrived() was told of it.
    [[nodiscard]] bool takes_lane() const noexcept {
        return std::max(most_, most_before_) < kManyBytes;
    }

private:
    std::uint64_t bytes_ = 0;  ///< That wait now.
    std::uint64_t most_ = 0;   ///< That waited at once in this window; in the one before.
    std::uint64_t most_before_ = 0;
    std::uint64_t window_ms_ = 0;
};

}  // namespace sluice
