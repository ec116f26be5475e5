// GroupCommit: makes many jobs durable with one write. Small events go through this process's lane
// (lane_commit.hpp). All other jobs, and all jobs of a store without lanes, go into a transaction
// of the queue: for these, this class runs the commit engine in nginx. core/commit decides; here
// are the event loop's events and timers, the commit's thread and the queue.
//
// Thread: the event loop, except for run() on the commit's thread, which takes the waiting jobs,
// reads their memory and writes their outcomes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "core/commit/engine.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/commit/commit_job.hpp"
#include "ngx_module/commit/lane_commit.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

class StoreLink;  // store/store_link.hpp

class GroupCommit {
public:
    /// @param pool  Writes and commits; nothing else should wait there.
    GroupCommit(ngx_thread_pool_t* pool, ngx_log_t* log, MetricsBlock& metrics, StoreLink& store);
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    /// Queues a job for the next commit. Returns false if a commit hangs; the caller answers 503.
    [[nodiscard]] bool join(CommitJob& job) noexcept;
    /// @param rider  Called after each job that joined, so that other jobs join the same batch.
    void set_rider(std::function<void()> rider) { rider_ = std::move(rider); }

    /// Returns true while a thread uses the queue, which must stay open.
    [[nodiscard]] bool in_flight() const noexcept {
        return started_ > 0 || lanes_.in_flight() || lanes_.is_moving();
    }
    [[nodiscard]] bool lane_in_flight() const noexcept { return lanes_.in_flight(); }
    /// Forgets the lane, which is about to be returned. Requires: lane_in_flight() is false.
    void forget_lane() noexcept { lanes_.forget_lane(); }
    void store_opened() noexcept { lanes_.recover(); }

private:
    /// A commit, from its announcement until its jobs are completed.
    struct Batch {
        EventIdent ident;
        ngx_thread_task_t task{};
        GroupCommit* commits = nullptr;
        store::Queue* queue = nullptr;         ///< nullptr if the thread could not take the batch.
        std::vector<store::AppendItem> items;  ///< Capacity kBatchRequestsMax; never grows.
        std::vector<CommitJob*> jobs;
        std::uint64_t commit_us = 0;
    };

    static void run(Batch& batch, ngx_log_t* log) noexcept;
    static void completed(Batch& batch) noexcept;
    void on_start() noexcept;

    /// Reports an event to the engine, under the mutex that the commit's thread uses too, and
    /// performs the actions that the engine requests.
    template <class Event>
    void report(Event&& event) noexcept;
    void perform(const CommitEngine::Actions& actions) noexcept;
    void start(Batch& batch) noexcept;
    void committed(Batch& batch) noexcept;
    void not_stored(Batch& batch) noexcept;
    void complete(Batch& batch) noexcept;
    void complete_overdue() noexcept;
    [[nodiscard]] std::size_t number_of(const Batch& batch) const noexcept;

    ngx_thread_pool_t* pool_;
    MetricsBlock& metrics_;
    StoreLink& store_;
    LaneCommit lanes_;
    std::function<void()> rider_;
    CommitEngine engine_;
    std::mutex engine_mutex_;  ///< Held for a few pointers, never while anything waits.
    std::mutex commit_mutex_;  ///< One commit at a time, even if the pool has several threads.
    std::array<Batch, CommitEngine::kBatches> batches_;
    std::size_t started_ = 0;  ///< Batches that were given to the thread and not completed.
    EventIdent ident_;
    ngx_event_t start_event_{};
    ngx_event_t wait_timer_{};
};

}  // namespace sluice::ngx
