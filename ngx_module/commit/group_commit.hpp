// GroupCommit: makes many jobs durable with one write. Small events go through this process's lane
// (lane_commit.hpp). All other jobs, and all jobs of a store without lanes, go into a transaction
// of the queue: for these, this class runs the commit engine in nginx. core/commit decides; here
// are the event loop's events and timers, the commits' threads and the queue.
//
// A commit takes the waiting jobs once it has LMDB's writer lock. Another process may hold that
// lock for any time. Until it is released, the jobs can time out, and a process that shuts down can
// end: the threads are not those of a pool, which nginx would join.
//
// Thread: the event loop, except for run() on a commit's thread, and for take() and stored(), in
// which it reads the memory of the jobs and writes their outcomes. The destructor waits for those.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/commit/engine.hpp"
#include "core/status/metrics.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/commit/commit_job.hpp"
#include "ngx_module/commit/lane_commit.hpp"
#include "ngx_module/nginx/blocking_task.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

class StoreLink;  // store/store_link.hpp

class GroupCommit {
public:
    /// @param write_pool  Writes to the lane; nothing else should wait there.
    GroupCommit(ngx_thread_pool_t* write_pool, ngx_log_t* log, MetricsBlock& metrics,
                StoreLink& store);
    /// Waits for a commit that has taken its jobs.
    ~GroupCommit();
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    /// Queues a job for the next commit. Returns false if a commit hangs; the caller answers 503.
    [[nodiscard]] bool join(CommitJob& job) noexcept;

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
        std::optional<BlockingTask> task;
        ngx_event_t timer{};  ///< Reports a commit that hangs, and keeps a process that shuts down.
        ngx_event_t not_started{};
        GroupCommit* commits = nullptr;
        std::vector<store::AppendItem> items;  ///< Capacity kBatchRequestsMax; never grows.
        std::vector<CommitJob*> jobs;
        std::uint64_t commit_us = 0;
    };
    /// State that the threads share with this object, and keep, because they may outlive it.
    struct Gate {
        std::mutex commit;  ///< One commit at a time.
        std::mutex mutex;   ///< Guards the members below.
        std::condition_variable left;
        GroupCommit* commits = nullptr;  ///< nullptr once it is gone.
        bool inside = false;             ///< A thread uses it.
    };

    static void run(Gate& gate, std::size_t number, store::Queue& queue) noexcept;
    [[nodiscard]] static bool enter(Gate& gate) noexcept;
    static void leave(Gate& gate) noexcept;
    [[nodiscard]] std::span<store::AppendItem> take(std::size_t number) noexcept;
    void stored(Batch& batch, std::uint64_t commit_us) noexcept;
    static void hangs(Batch& batch) noexcept;
    void keep_process(bool keeps) noexcept;
    void on_start() noexcept;

    /// Reports an event to the engine, under the mutex that the commit's thread uses too, and
    /// performs the actions that the engine requests.
    template <class Event>
    void report(Event&& event) noexcept;
    void perform(const CommitEngine::Actions& actions) noexcept;
    void start(Batch& batch) noexcept;
    void committed(Batch& batch) noexcept;
    static void not_stored(Batch& batch) noexcept;
    void complete(Batch& batch) noexcept;
    void complete_overdue() noexcept;
    [[nodiscard]] std::size_t number_of(const Batch& batch) const noexcept;

    ngx_log_t* log_;
    MetricsBlock& metrics_;
    StoreLink& store_;
    LaneCommit lanes_;
    CommitEngine engine_;
    std::mutex engine_mutex_;  ///< Held for a few pointers, never while anything waits.
    std::array<Batch, CommitEngine::kBatches> batches_;
    std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
    Batch* announced_ = nullptr;  ///< The batch that was started last.
    std::size_t started_ = 0;     ///< Batches that were given to a thread and not completed.
    EventIdent ident_;
    ngx_event_t start_event_{};
    ngx_event_t wait_timer_{};
};

}  // namespace sluice::ngx
