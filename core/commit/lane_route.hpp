// LaneRoute: which way an order goes that may go through the lane: there, or straight to the queue.
// Pure; times in milliseconds of the event loop's clock.
//
// What goes through a lane is written twice and read once more, so a disk that is busy with large
// orders, or with very many at once, stores up to three times as many without. It pays where an
// order would wait for the two syncs of a commit, with few others beside it, or behind the commits
// of other processes: nearly always (docs/performance.md has the figures). So orders go straight
// to the queue
//   * while so much of this process waits at once that a commit is as long as a move, and
//   * for a while after the mover fell behind with large batches: nobody moves as fast as all
//     lanes are filled. Not where batches are small, or a sync is slow: there the commits of many
//     processes would wait for each other.
// Then the lane is tried again, after longer and longer if the mover falls behind at once. The
// order of events does not depend on it: a transaction that stores directly moves all lanes first
// (L3).
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
    /// Less does not fill a commit.
    static constexpr std::uint64_t kLargeBatchBytes = 16U << 10;
    /// A disk whose quickest write takes longer is slow, not busy,
    static constexpr std::uint64_t kSlowWriteUs = 1000;
    /// the quickest of so many.
    static constexpr unsigned kWritesLooked = 64;
    static constexpr std::uint64_t kAvoidMs = 5000;
    static constexpr std::uint64_t kAvoidMsMax = 60'000;
    /// A mover that falls behind again so soon lets lanes be avoided for twice as long.
    static constexpr std::uint64_t kSoonMs = 10'000;

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
    /// A write to the lane took `us`.
    void written(std::uint64_t us) noexcept {
        if (++writes_ == kWritesLooked) {
            quickest_before_us_ = quickest_us_;
            quickest_us_ = us;
            writes_ = 0;
        }
        quickest_us_ = std::min(quickest_us_, us);
    }
    /// After a move of large batches, lanes held half of what one can hold. All processes see it at
    /// once, before there is so much in lanes that who stores directly, and moves it first, would
    /// wait for long.
    void fell_behind(std::uint64_t now_ms) noexcept {
        if (now_ms < avoided_until_ms_ || is_disk_slow()) {
            return;
        }
        const bool soon = avoid_ms_ != 0 && now_ms - avoided_until_ms_ < kSoonMs;
        avoid_ms_ = soon ? std::min(2 * avoid_ms_, kAvoidMsMax) : kAvoidMs;
        avoided_until_ms_ = now_ms + avoid_ms_;
    }

    /// The next order goes through the lane.
    [[nodiscard]] bool takes_lane(std::uint64_t now_ms) const noexcept {
        return now_ms >= avoided_until_ms_ && std::max(most_, most_before_) < kManyBytes;
    }

private:
    [[nodiscard]] bool is_disk_slow() const noexcept {
        return std::min(quickest_us_, quickest_before_us_) > kSlowWriteUs;
    }

    std::uint64_t bytes_ = 0;  ///< That wait now.
    std::uint64_t most_ = 0;   ///< That waited at once in this window; in the one before.
    std::uint64_t most_before_ = 0;
    std::uint64_t window_ms_ = 0;
    unsigned writes_ = 0;
    std::uint64_t quickest_us_ = ~std::uint64_t{0};
    std::uint64_t quickest_before_us_ = ~std::uint64_t{0};
    std::uint64_t avoid_ms_ = 0;  ///< 0: it never was.
    std::uint64_t avoided_until_ms_ = 0;
};

}  // namespace sluice
