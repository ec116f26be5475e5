// LaneCommit: the lane engine at work in nginx. What it decides is core/commit's; here are the
// event loop's events and timers, the threads that write and move, and the lane.
//
// Thread: the event loop; only write() and move() are executed by threads of the pools.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/commit/lane_engine.hpp"
#include "core/status/metrics.hpp"
#include "ngx_module/commit/commit_job.hpp"
#include "ngx_module/nginx/event_ident.hpp"
#include "ngx_module/nginx/log_limit.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/store/store_access.hpp"

namespace sluice::ngx {

class LaneCommit {
public:
    /// Records above this go to the queue at once. What goes through a lane is written twice: below
    /// a lone order is confirmed several times as fast for it; above a disk that is busy takes in
    /// half as much (docs/performance.md).
    static constexpr std::uint64_t kRecordBytesMax = 32U << 10;

    LaneCommit(ngx_thread_pool_t* write_pool, ngx_thread_pool_t* move_pool, ngx_log_t* log,
               MetricsBlock& metrics, StoreAccess& store);
    ~LaneCommit();
    LaneCommit(const LaneCommit&) = delete;
    LaneCommit& operator=(const LaneCommit&) = delete;

    /// The job goes through the lane: it is small, claims no key and has no file beside it; the
    /// lane is there, takes it, and is the better way now. If it could, it counts among those that
    /// wait until complete_job(), whichever way it goes.
    [[nodiscard]] bool takes(CommitJob& job) noexcept;
    /// Requires: takes(job). @return false: a write hangs, nothing was taken in.
    [[nodiscard]] bool join(CommitJob& job) noexcept;
    /// A thread uses the lane or the queue now, or a batch is being answered.
    [[nodiscard]] bool in_flight() const noexcept { return tasks_ > 0 || engine_.in_flight(); }
    /// The lane is given back now. Requires: nothing is in flight.
    void forget_lane() noexcept;

private:
    /// A batch, from its write to its answers.
    struct Slot {
        EventIdent ident;
        ngx_thread_task_t task{};
        LaneCommit* commits = nullptr;
        char* buffer = nullptr;  ///< Aligned; grows to what a batch needed.
        std::uint64_t buffer_bytes = 0;
        LaneBatchHead head;
        WaiterChain jobs;
        std::uint64_t write_us = 0;
        int error = 0;
        bool is_begun = false;  ///< A thread has it, or had it.
    };
    struct Move {
        EventIdent ident;
        ngx_thread_task_t task{};
        store::Queue* queue = nullptr;
        std::string problem;
    };

    static void write(void* slot, ngx_log_t* log) noexcept;
    static void move(void* commits, ngx_log_t* log) noexcept;
    static void on_written(ngx_event_t* event) noexcept;
    static void on_moved(ngx_event_t* event) noexcept;
    static void on_turn_end(ngx_event_t* event) noexcept;
    static void on_overdue(ngx_event_t* event) noexcept;
    static void on_move_due(ngx_event_t* event) noexcept;

    void use_lane() noexcept;
    [[nodiscard]] bool can_take(const CommitJob& job, const store::Queue* queue) const noexcept;
    void obey(const LaneEngine::Actions& actions) noexcept;
    void start_write(std::size_t number) noexcept;
    void start_move() noexcept;
    void written(Slot& slot) noexcept;
    void write_failed(const Slot& slot) noexcept;
    void answer(std::size_t number) noexcept;
    void look_at_room() noexcept;

    ngx_thread_pool_t* write_pool_;
    ngx_thread_pool_t* move_pool_;
    ngx_log_t* log_;
    MetricsBlock& metrics_;
    StoreAccess& store_;
    LaneEngine engine_;
    LaneRoute route_;
    store::LaneWriter* lane_ = nullptr;  ///< That the engine writes to.
    std::array<Slot, LaneEngine::kSlots> slots_;
    Move move_;
    std::size_t tasks_ = 0;  ///< Threads have them, or will.
    LogLimit move_problem_{60};
    EventIdent ident_;
    ngx_event_t turn_end_{};
    ngx_event_t wait_timer_{};
    ngx_event_t move_timer_{};
};

}  // namespace sluice::ngx
