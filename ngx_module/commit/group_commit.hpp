// GroupCommit: makes jobs durable, many with one write. Small events go through this process's lane
// (lane_commit.hpp); the rest, and all of a store without lanes, in a transaction of the queue:
// for these, this is the commit engine at work in nginx. What it decides is core/commit's; here are
// the event loop's events and timers, the commit's thread and the queue.
//
// Thread: the event loop; only run() is executed by the commit thread, which takes the waiting
// jobs, reads their memory and writes their outcomes.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/commit/engine.hpp"
#include "core/status/metrics.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/commit/commit_job.hpp"
#include "ngx_module/commit/lane_commit.hpp"
#include "ngx_module/nginx/event_ident.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/store/store_access.hpp"

namespace sluice::ngx {

class GroupCommit {
public:
    /// @param pool       Writes and commits: nothing else should wait there.
    /// @param move_pool  Moves lanes to the queue.
    GroupCommit(ngx_thread_pool_t* pool, ngx_thread_pool_t* move_pool, ngx_log_t* log,
                MetricsBlock& metrics, StoreAccess& store);
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    /// @return false: a commit hangs, nothing was taken in; the caller answers 503.
    [[nodiscard]] bool join(CommitJob& job) noexcept;

    /// The thread uses the queue now: it must not be closed.
    [[nodiscard]] bool in_flight() const noexcept { return started_ > 0 || lanes_.in_flight(); }
    [[nodiscard]] bool lane_in_flight() const noexcept { return lanes_.in_flight(); }
    /// Its lane is given back now. Requires: lane_in_flight() is false.
    void forget_lane() noexcept { lanes_.forget_lane(); }

private:
    /// A commit, from its announcement until its jobs are completed.
    struct Batch {
        EventIdent ident;
        ngx_thread_task_t task{};
        GroupCommit* commits = nullptr;
        store::Queue* queue = nullptr;         ///< nullptr: it could not be given to the thread.
        std::vector<store::AppendItem> items;  ///< Capacity kBatchRequestsMax: never grows.
        std::vector<CommitJob*> jobs;
        std::uint64_t commit_us = 0;
    };

    static void run(void* batch, ngx_log_t* log) noexcept;
    static void on_completed(ngx_event_t* event) noexcept;
    static void on_start(ngx_event_t* event) noexcept;
    static void on_overdue(ngx_event_t* event) noexcept;

    /// Tells the engine, one at a time with the commit's thread, and does what it asks for.
    template <class Event>
    void tell(Event&& event) noexcept;
    void obey(const CommitEngine::Actions& actions) noexcept;
    void start(Batch& batch) noexcept;
    void committed(Batch& batch) noexcept;
    void not_stored(Batch& batch) noexcept;
    void complete(Batch& batch) noexcept;
    void complete_overdue() noexcept;
    [[nodiscard]] std::size_t number_of(const Batch& batch) const noexcept;

    ngx_thread_pool_t* pool_;
    MetricsBlock& metrics_;
    StoreAccess& store_;
    LaneCommit lanes_;
    CommitEngine engine_;
    std::mutex engine_mutex_;  ///< Held for a few pointers, never while anything waits.
    std::mutex commit_mutex_;  ///< A pool of several threads: one commit at a time all the same.
    std::array<Batch, CommitEngine::kBatches> batches_;
    std::size_t started_ = 0;  ///< Batches that the thread has, or will have.
    EventIdent ident_;
    ngx_event_t start_event_{};
    ngx_event_t wait_timer_{};
};

}  // namespace sluice::ngx
