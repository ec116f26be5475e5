// LaneEngine: decides what one process writes to its lane, its write-ahead log, and when.
//
// A batch begins at the end of an iteration of the event loop, with all requests that wait then,
// while no write runs. Where writes are slow, a second one runs as well (lane_pace.hpp). Batches
// are answered in the order of their offsets: a durable batch waits until the batches before it are
// durable. The lane has room again when a mover has copied batches to the queue; until then
// requests wait, no longer than for a commit. After a failed write the engine writes nothing more:
// the batches in flight are in doubt, and the lane must be reopened.
//
// States of a batch: free -> kWrite -> written() -> kAnswer -> answered() -> free.
// Threads: any, one call at a time. Rules: L2, L3, L5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/commit/batching_engine.hpp"
#include "core/commit/lane_format.hpp"
#include "core/commit/lane_pace.hpp"

namespace sluice {

/// The outcome of a write.
enum class LaneWrite : std::uint8_t {
    kDurable,
    kNoRoom,  ///< The disk is full.
    kFailed,  ///< I/O error; the batch may be durable.
};

/// The actions of LaneEngine, which its caller performs.
enum class LaneVerb : std::uint8_t {
    kRunAtIterationEnd,  ///< Call iteration_ended() when this iteration of the event loop ends.
    kWrite,              ///< Write batch_of(batch) at its offset, then call written().
    kPublish,            ///< Publish `value` as the durable offset, before any answer.
    kAnswer,             ///< Answer the requests as outcome_of(batch) says, then call answered().
    kRefuse,             ///< Answer the requests that refused() returns: they cannot be stored.
    kMove,               ///< Start a mover, then call moved().
    kSetWaitTimer,       ///< Call overdue() in `value` milliseconds. At most one timer is set.
    kClearWaitTimer,
    kSetMoveTimer,  ///< Call move_due() in `value` milliseconds. Replaces the timer that is set.
    kReopen,        ///< Release the lane, claim one again, then call opened().
};

class LaneEngine : public BatchingEngine<LaneVerb, 12> {
public:
    static constexpr std::size_t kInFlightMax = LanePace::kInFlightMax;
    /// Some batches are being written, as many are being answered.
    static constexpr std::size_t kSlots = 2 * kInFlightMax;
    /// A move is requested for this many durable bytes that are not moved, or after this time.
    static constexpr std::uint64_t kMoveBytes = 512U << 10;
    static constexpr std::uint64_t kMoveEveryMs = 50;
    /// Interval of checks while requests wait for room. A mover may serve other lanes long
    /// after it made room in this one.
    static constexpr std::uint64_t kFullCheckMs = 5;

    struct Now {
        std::uint64_t ms = 0;        ///< The event loop's cached clock.
        std::uint64_t stamp_ns = 0;  ///< CLOCK_MONOTONIC, read now.
    };

    /// Starts with an open lane that is empty from `end` on. The writer stays below `floor` +
    /// `size`. Requires: the lane is closed, and no batch is in flight.
    void opened(std::uint64_t size, std::uint64_t end, std::uint64_t floor) noexcept;
    /// Ends writing. Batches in flight are still answered.
    void close(Actions& actions) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    /// Returns the largest record that the lane takes, in bytes. Larger ones bypass it.
    [[nodiscard]] std::uint64_t record_bytes_max() const noexcept {
        return lane_record_bytes_max(size_);
    }

    /// Queues a request for the next batch. Returns false if the lane is closed or a write hangs.
    /// Requires: waiter.joined_ms is now; waiter.bytes <= record_bytes_max().
    [[nodiscard]] bool arrived(Waiter& waiter, Actions& actions) noexcept;
    void iteration_ended(Now now, Actions& actions) noexcept;
    /// Records the end of a batch's write.
    void written(std::size_t slot, LaneWrite outcome, std::uint64_t write_us, std::uint64_t now_ms,
                 Actions& actions) noexcept;
    void answered(std::size_t slot, std::uint64_t now_ms, Actions& actions) noexcept;
    /// Records a mover's progress, reported by this process's mover or by the lane's cell.
    void room(std::uint64_t floor, std::uint64_t moved) noexcept;
    /// Records that the requested move is over, successful or not. Call room() first.
    void moved(std::uint64_t now_ms, Actions& actions) noexcept;
    void move_due(std::uint64_t now_ms, Actions& actions) noexcept;
    [[nodiscard]] WaiterChain refused(Actions& actions) noexcept;

    /// Returns the slot's batch head: offset, stamp, answered and in_flight, for LaneBatchWriter.
    [[nodiscard]] const LaneBatchHead& head_of(std::size_t slot) const noexcept {
        return slots_[slot].head;
    }
    [[nodiscard]] WaiterChain batch_of(std::size_t slot) const noexcept {
        return slots_[slot].requests;
    }
    [[nodiscard]] LaneWrite outcome_of(std::size_t slot) const noexcept {
        return slots_[slot].outcome;
    }
    /// Returns true if a batch is being written or answered.
    [[nodiscard]] bool in_flight() const noexcept { return used_ > 0; }
    [[nodiscard]] std::uint64_t durable() const noexcept { return durable_; }

private:
    struct Slot {
        LaneBatchHead head;
        WaiterChain requests;
        LaneWrite outcome = LaneWrite::kDurable;
        bool done = false;      ///< Its write ended.
        bool reported = false;  ///< kAnswer was requested.
    };
    /// Writes that run, and their requests.
    struct Writing {
        std::size_t batches = 0;
        std::size_t requests = 0;
    };

    [[nodiscard]] Slot& nth(std::size_t n) noexcept { return slots_[(oldest_ + n) % kSlots]; }
    [[nodiscard]] Writing writing() const noexcept;
    void begin(Now now, Actions& actions) noexcept;
    [[nodiscard]] WaiterChain take_batch(std::uint64_t& bytes) noexcept;
    void set_move_timer(std::uint64_t now_ms, std::uint64_t after_ms, Actions& actions) noexcept;
    void report(std::uint64_t now_ms, Actions& actions) noexcept;
    void request_move(std::uint64_t now_ms, Actions& actions) noexcept;
    [[nodiscard]] bool is_move_large() const noexcept;
    void start_move(std::uint64_t now_ms, Actions& actions) noexcept;
    void reopen_if_idle(Actions& actions) noexcept;

    std::array<Slot, kSlots> slots_{};
    std::size_t oldest_ = 0;
    std::size_t used_ = 0;  ///< Slots in use, from the oldest on.
    std::uint64_t size_ = 0, batch_bytes_max_ = 0, floor_ = 0;
    std::uint64_t end_ = 0;       ///< Offset of the next batch.
    std::uint64_t durable_ = 0;   ///< Everything below is durable.
    std::uint64_t answered_ = 0;  ///< Everything below is answered.
    std::uint64_t moved_ = 0;
    std::uint64_t moved_before_ = 0;  ///< Value of moved_ when the last move began.
    LanePace pace_;
    std::uint64_t move_started_ms_ = 0;
    std::uint64_t move_due_ms_ = 0;
    bool open_ = false;
    bool reopens_ = false;  ///< Closed for a reason that reopening removes.
    bool moving_ = false;
    bool move_was_empty_ = false;  ///< The last move moved nothing of this lane.
    bool move_timer_set_ = false;
    bool ever_moved_ = false;
    /// The oldest waiting request finds no room at the present floor; the move timer is set.
    bool full_ = false;
};

}  // namespace sluice
