// LaneEngine: what one process writes to its lane, and when. A state machine: events come in,
// actions go out; no nginx, thread, file or clock.
//
// A batch begins at the end of a turn of the event loop, with all who wait then, while no write is
// under way; where writes are slow a second one begins beside it (lane_pace.hpp). Answers leave in
// the order of positions: a batch that is durable before the one in front of it waits for it. The
// lane has room again when a mover has copied batches to the queue; until then requests wait, for
// as long as group commit lets them. After a failed write nothing more is written: what was under
// way is in doubt, and the lane has to be opened anew.
//
// A batch's way: free -> kWrite -> written() -> kAnswer -> answered() -> free.
// Threads: none of its own; calls must not overlap. Rules: L2, L3, L5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/commit/action_list.hpp"
#include "core/commit/engine.hpp"
#include "core/commit/lane_format.hpp"
#include "core/commit/lane_pace.hpp"
#include "core/commit/waiting_list.hpp"

namespace sluice {

/// The outcome of a write.
enum class LaneWrite : std::uint8_t {
    kDurable,
    kNoRoom,  ///< The disk is full.
    kFailed,  ///< An I/O error: it may be durable or not.
};

class LaneEngine {
public:
    static constexpr std::size_t kInFlightMax = LanePace::kInFlightMax;
    /// Two are written, two are answered.
    static constexpr std::size_t kSlots = 2 * kInFlightMax;
    static constexpr std::size_t kBatchRequestsMax = 1024;
    static constexpr std::uint64_t kWaitMaxMs = CommitEngine::kWaitMaxMs;
    /// A move is asked for when so much is durable and not moved, or after so long.
    static constexpr std::uint64_t kMoveBytes = 512U << 10;
    static constexpr std::uint64_t kMoveEveryMs = 50;
    /// While requests wait for room. A mover, this process's too, may work on for other lanes long
    /// after it made room in this one.
    static constexpr std::uint64_t kFullLookMs = 5;

    enum class Do : std::uint8_t {
        kLookAtTurnEnd,  ///< Call turn_ended() when this turn of the event loop ends.
        kWrite,          ///< Write batch_of(slot) at its position; then written().
        kPublish,        ///< Tell the movers that all below `value` is durable. Before answering.
        kAnswer,         ///< Answer the requests of the slot by outcome_of(slot); then answered().
        kRefuse,         ///< Nobody who waits can be stored: answer those of refused().
        kMove,           ///< Start a mover, then moved().
        kSetWaitTimer,   ///< Call overdue() in `value` milliseconds. At most one is set.
        kClearWaitTimer,
        kSetMoveTimer,  ///< Call move_due() in `value` milliseconds, and not when it was to be.
        kReopen,        ///< Give the lane back and take one again; then opened().
    };
    struct Action {
        Do what = Do::kLookAtTurnEnd;
        std::size_t slot = 0;
        std::uint64_t value = 0;
    };
    using Actions = ActionList<Action, 12>;
    struct Now {
        std::uint64_t ms = 0;        ///< The loop's clock, read once a turn.
        std::uint64_t stamp_ns = 0;  ///< CLOCK_MONOTONIC, read now.
    };

    /// A lane is open and empty behind `end`; nothing may be written at `floor` + `size` or behind
    /// it. Requires: nothing is under way.
    void opened(std::uint64_t size, std::uint64_t end, std::uint64_t floor) noexcept;
    /// The process may write to it no more, and begins nothing; what is under way is answered.
    void close(Actions& actions) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    /// The largest record that a batch can take.
    [[nodiscard]] std::uint64_t record_bytes_max() const noexcept;

    /// A request wants to be stored. False: it is not taken in, because the lane is not open or a
    /// write hangs. Requires: waiter.joined_ms is now; its bytes are record_bytes_max() at most.
    [[nodiscard]] bool arrived(Waiter& waiter, Actions& actions) noexcept;
    void turn_ended(Now now, Actions& actions) noexcept;
    /// A write ended.
    void written(std::size_t slot, LaneWrite outcome, std::uint64_t write_us, std::uint64_t now_ms,
                 Actions& actions) noexcept;
    void answered(std::size_t slot, std::uint64_t now_ms, Actions& actions) noexcept;
    /// A mover said how far it is: to this process, or in the lane's cell.
    void room(std::uint64_t floor, std::uint64_t moved) noexcept;
    /// The move that was asked for is over, whether it moved anything or not. room() came before.
    void moved(std::uint64_t now_ms, Actions& actions) noexcept;
    void move_due(std::uint64_t now_ms, Actions& actions) noexcept;
    [[nodiscard]] WaiterChain overdue(std::uint64_t now_ms, Actions& actions) noexcept;
    [[nodiscard]] WaiterChain refused(Actions& actions) noexcept;

    /// Position, stamp, answered and behind of the slot's batch, for LaneBatchWriter.
    [[nodiscard]] const LaneBatchHead& head_of(std::size_t slot) const noexcept {
        return slots_[slot].head;
    }
    [[nodiscard]] WaiterChain batch_of(std::size_t slot) const noexcept {
        return slots_[slot].requests;
    }
    [[nodiscard]] LaneWrite outcome_of(std::size_t slot) const noexcept {
        return slots_[slot].outcome;
    }
    /// Something is written or answered.
    [[nodiscard]] bool in_flight() const noexcept { return used_ > 0; }
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.count(); }
    [[nodiscard]] std::uint64_t durable() const noexcept { return durable_; }

private:
    struct Slot {
        LaneBatchHead head;
        WaiterChain requests;
        LaneWrite outcome = LaneWrite::kDurable;
        bool done = false;      ///< Its write ended.
        bool reported = false;  ///< kAnswer was asked for.
    };

    [[nodiscard]] Slot& nth(std::size_t n) noexcept { return slots_[(oldest_ + n) % kSlots]; }
    /// Writes under way, and the requests in them.
    struct Writing {
        std::size_t batches = 0;
        std::size_t requests = 0;
    };
    [[nodiscard]] Writing writing() const noexcept;
    [[nodiscard]] std::uint64_t batch_bytes_max() const noexcept;
    void begin(Now now, Actions& actions) noexcept;
    [[nodiscard]] WaiterChain take_batch(std::uint64_t& bytes) noexcept;
    void set_move_timer(std::uint64_t now_ms, std::uint64_t after_ms, Actions& actions) noexcept;
    void report(std::uint64_t now_ms, Actions& actions) noexcept;
    void ask_for_move(std::uint64_t now_ms, Actions& actions) noexcept;
    [[nodiscard]] bool is_move_large() const noexcept;
    void start_move(std::uint64_t now_ms, Actions& actions) noexcept;
    void set_wait_timer(std::uint64_t now_ms, Actions& actions) noexcept;
    void reopen_if_idle(Actions& actions) noexcept;

    std::array<Slot, kSlots> slots_{};
    std::size_t oldest_ = 0;
    std::size_t used_ = 0;  ///< Slots from the oldest on that are not free.
    WaitingList waiting_;
    std::uint64_t size_ = 0, floor_ = 0;
    std::uint64_t end_ = 0;       ///< Where the next batch goes.
    std::uint64_t durable_ = 0;   ///< All below is.
    std::uint64_t answered_ = 0;  ///< All below is answered.
    std::uint64_t moved_ = 0;
    std::uint64_t moved_before_ = 0;  ///< When the last move began.
    LanePace pace_;
    std::uint64_t progress_ms_ = 0;  ///< When the oldest write began, or could have.
    std::uint64_t move_started_ms_ = 0;
    std::uint64_t move_due_ms_ = 0;
    bool open_ = false;
    bool reopens_ = false;  ///< It is closed for a reason that opening it anew mends.
    bool moving_ = false;
    bool moved_in_vain_ = false;  ///< The last move brought this lane nothing.
    bool wait_timer_set_ = false;
    bool move_timer_set_ = false;
    bool ever_moved_ = false;
    /// There was no room for the oldest that waits, with the floor as it is; the move timer is set.
    bool full_ = false;
};

}  // namespace sluice
