// LaneRoute: decides whether an order that may go through the lane does, or goes straight to the
// queue. Pure; times in milliseconds of the event loop's clock.
//
// The lane writes a record twice and reads it once, so a disk that is busy with large orders, or
// with very many at once, stores up to three times as many without it. The lane is faster where an
// order would wait for the two syncs of a commit with few other orders, or for the commits of other
// processes, which is nearly always (docs/performance.md has the figures). So orders bypass the
// lane
//   * while so many bytes wait in this process that a commit is as long as a move, and
//   * for a while after the mover fell behind with large batches, because it cannot keep up with
//     all lanes. It does not count where batches are small or syncs slow: there the commits of
//     many processes would wait for each other.
// The lane is then tried again, after longer and longer intervals if the mover falls behind at
// once. The order of events does not depend on the route, because a transaction that stores
// directly moves all lanes first (L3).
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice {

class LaneRoute {
public:
    /// Nearly as long as the transaction of a move.
    static constexpr std::uint64_t kManyBytes = 384U << 10;
    /// The maximum of waiting bytes is kept for one to two windows, because clients that were just
    /// answered are about to send again.
    static constexpr std::uint64_t kWindowMs = 100;
    /// Smaller batches do not fill a commit.
    static constexpr std::uint64_t kLargeBatchBytes = 16U << 10;
    /// A disk whose quickest write takes longer is slow, not busy.
    static constexpr std::uint64_t kSlowWriteUs = 1000;
    /// Writes among which the quickest is sought.
    static constexpr unsigned kWritesCompared = 64;
    static constexpr std::uint64_t kAvoidMs = 5000;
    static constexpr std::uint64_t kAvoidMsMax = 60'000;
    /// If the mover falls behind again within this time, lanes are avoided for twice as long.
    static constexpr std::uint64_t kSoonMs = 10'000;

    /// Counts an order of `bytes` that waits to be stored, by either route, until done().
    void arrived(std::uint64_t bytes, std::uint64_t now_ms) noexcept {
        if (now_ms - window_ms_ >= kWindowMs) {
            most_before_ = now_ms - window_ms_ >= 2 * kWindowMs ? 0 : most_;
            most_ = bytes_;
            window_ms_ = now_ms;
        }
        bytes_ += bytes;
        most_ = std::max(most_, bytes_);
    }
    void done(std::uint64_t bytes) noexcept { bytes_ -= bytes; }
    /// Records a write to the lane that took `us`.
    void written(std::uint64_t us) noexcept {
        if (++writes_ == kWritesCompared) {
            quickest_before_us_ = quickest_us_;
            quickest_us_ = us;
            writes_ = 0;
        }
        quickest_us_ = std::min(quickest_us_, us);
    }
    /// Records that lanes held half of one lane's capacity after a move of large batches. All
    /// processes see it at once, before a direct commit would have to move so much first that its
    /// clients wait for long.
    void fell_behind(std::uint64_t now_ms) noexcept {
        if (now_ms < avoided_until_ms_ || is_disk_slow()) {
            return;
        }
        const bool soon = avoid_ms_ != 0 && now_ms - avoided_until_ms_ < kSoonMs;
        avoid_ms_ = soon ? std::min(2 * avoid_ms_, kAvoidMsMax) : kAvoidMs;
        avoided_until_ms_ = now_ms + avoid_ms_;
    }

    /// Returns true if the next order goes through the lane.
    [[nodiscard]] bool takes_lane(std::uint64_t now_ms) const noexcept {
        return now_ms >= avoided_until_ms_ && std::max(most_, most_before_) < kManyBytes;
    }

private:
    [[nodiscard]] bool is_disk_slow() const noexcept {
        return std::min(quickest_us_, quickest_before_us_) > kSlowWriteUs;
    }

    std::uint64_t bytes_ = 0;        ///< Bytes that wait now.
    std::uint64_t most_ = 0;         ///< Maximum of this window.
    std::uint64_t most_before_ = 0;  ///< Maximum of the window before.
    std::uint64_t window_ms_ = 0;
    unsigned writes_ = 0;
    std::uint64_t quickest_us_ = ~std::uint64_t{0};
    std::uint64_t quickest_before_us_ = ~std::uint64_t{0};
    std::uint64_t avoid_ms_ = 0;  ///< 0 until lanes were avoided once.
    std::uint64_t avoided_until_ms_ = 0;
};

}  // namespace sluice
