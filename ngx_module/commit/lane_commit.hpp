// LaneCommit: runs the lane engine in nginx. core/commit decides; here are the event loop's events
// and timers, the threads that write and move, and the lane.
//
// Thread: the event loop, except for write() on a thread of the pool.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/commit/lane_engine.hpp"
#include "core/status/metrics.hpp"
#include "ngx_module/commit/commit_job.hpp"
#include "ngx_module/nginx/blocking_task.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

class StoreLink;  // store/store_link.hpp

class LaneCommit {
public:
    /// Larger records go directly to the queue, because a record in a lane is written twice. Below
    /// this size, a single order is confirmed several times faster; above it, a busy disk accepts
    /// half as much (docs/performance.md).
    static constexpr std::uint64_t kRecordBytesMax = 32U << 10;

    LaneCommit(ngx_thread_pool_t* write_pool, ngx_log_t* log, MetricsBlock& metrics,
               StoreLink& store);
    ~LaneCommit();
    LaneCommit(const LaneCommit&) = delete;
    LaneCommit& operator=(const LaneCommit&) = delete;

    /// Returns true if the job goes through the lane: it is small, claims no key and has no bulk
    /// file, and the lane is open and faster now. A job that could go through the lane counts as
    /// waiting until complete_job(), whichever route it takes.
    [[nodiscard]] bool takes(CommitJob& job) noexcept;
    /// Queues a job for the next write. Returns false if a write hangs. Requires: takes(job).
    [[nodiscard]] bool join(CommitJob& job) noexcept;
    /// Returns true while a thread writes to the lane, or a batch is being answered.
    [[nodiscard]] bool in_flight() const noexcept { return tasks_ > 0 || engine_.in_flight(); }
    /// Returns true while a thread moves lanes.
    [[nodiscard]] bool is_moving() const noexcept { return mover_.is_running(); }
    /// Moves what earlier processes left in lanes, after the store was opened.
    void recover() noexcept;
    /// Forgets the lane, which is about to be returned. Requires: nothing is in flight.
    void forget_lane() noexcept;

private:
    /// A batch, from its write to its answers.
    struct Slot {
        EventIdent ident;
        ngx_thread_task_t task{};
        LaneCommit* commits = nullptr;
        char* buffer = nullptr;  ///< Aligned; grows to the largest batch.
        std::uint64_t buffer_bytes = 0;
        LaneBatchHead head;
        WaiterChain jobs;
        std::uint64_t write_us = 0;
        int error = 0;
        bool is_begun = false;  ///< A thread took the batch.
    };
    enum class MoveKind : std::uint8_t { kDurable, kLeftByOthers };
    /// Owned by the thread too, which may outlive this object.
    struct Move {
        MoveKind kind = MoveKind::kDurable;
        std::shared_ptr<store::Queue> queue;
        std::string problem;

        void run();
    };

    static void write(Slot& slot, ngx_log_t* log) noexcept;
    static void on_written(Slot& slot) noexcept { slot.commits->written(slot); }

    void on_turn_end() noexcept;
    void on_overdue() noexcept;
    void on_move_due() noexcept;
    void use_lane() noexcept;
    [[nodiscard]] bool can_take(const CommitJob& job, const store::Queue* queue) const noexcept;
    void perform(const LaneEngine::Actions& actions) noexcept;
    void start_write(std::size_t number) noexcept;
    void start_move(MoveKind kind) noexcept;
    void moved() noexcept;
    void written(Slot& slot) noexcept;
    void write_failed(const Slot& slot) noexcept;
    void answer(std::size_t number) noexcept;
    void check_room() noexcept;

    ngx_thread_pool_t* write_pool_;
    ngx_log_t* log_;
    MetricsBlock& metrics_;
    StoreLink& store_;
    LaneEngine engine_;
    LaneRoute route_;
    store::LaneWriter* lane_ = nullptr;  ///< The lane that the engine writes to.
    std::array<Slot, LaneEngine::kSlots> slots_;
    BlockingTask mover_;  ///< A move may wait for the writer lock for any time.
    std::shared_ptr<Move> move_;
    bool move_wanted_ = false;  ///< By the engine, since the last move began.
    std::size_t tasks_ = 0;     ///< Writes that were given to threads and not completed.
    LogLimit move_problem_{60};
    EventIdent ident_;
    ngx_event_t turn_end_{};
    ngx_event_t wait_timer_{};
    ngx_event_t move_timer_{};
    ngx_event_t not_started_{};
};

}  // namespace sluice::ngx
