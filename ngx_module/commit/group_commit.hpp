// GroupCommit: one durable transaction for all requests that wait at the same time.
//
// One commit at a time. Requests that arrive meanwhile wait and form the next batch: there is no
// timer, and an idle worker commits a lone request at once (at the end of the event loop's turn, so
// that requests that were read in one turn share a commit). CommitPace says whether the next commit
// is given to the commit thread while one runs, so that the disk does not wait for the event loop,
// or is held back.
// Thread: the event loop; only run() is executed by the commit thread, which takes the waiting
// requests, reads their memory and writes the items' outcomes.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/commit/commit_pace.hpp"
#include "ngx_module/commit/waiting_list.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

class GroupCommit {
public:
    static constexpr std::size_t kBatchRequestsMax = 1024;
    static constexpr std::size_t kBatchBytesMax = 32u << 20;
    /// A request does not wait longer than this for its turn; nor is one accepted behind a commit
    /// that takes longer. Merchants' systems give up after about 5 s.
    static constexpr ngx_msec_t kWaitMaxMs = 3000;

    GroupCommit(ngx_thread_pool_t* pool, ngx_log_t* log);
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    /// Parks the request and wakes it when its outcome is known.
    /// @return false: a commit hangs; the caller answers 503.
    [[nodiscard]] bool join(IngestRequest& request) noexcept;

    /// The thread uses the queue now: it must not be closed.
    [[nodiscard]] bool in_flight() const noexcept { return in_flight_ > 0; }

private:
    /// A commit, from its announcement until its requests are answered.
    struct Batch {
        EventIdent ident;
        ngx_thread_task_t task{};
        GroupCommit* commits = nullptr;
        store::Queue* queue = nullptr;
        std::vector<store::AppendItem> items;  ///< Capacity kBatchRequestsMax: never grows.
        std::vector<IngestRequest*> requests;
        std::uint64_t commit_us = 0;
        bool in_use = false;
    };

    static void run(void* batch, ngx_log_t* log) noexcept;
    static void on_completed(ngx_event_t* event) noexcept;
    static void on_start(ngx_event_t* event) noexcept;
    static void on_overdue(ngx_event_t* event) noexcept;

    void go_on() noexcept;
    void start_if_time() noexcept;
    void start() noexcept;
    void fill(Batch& batch) noexcept;
    void completed(Batch& batch) noexcept;
    void answer(Batch& batch) noexcept;
    void finish(IngestRequest& request) noexcept;
    void fail_overdue() noexcept;
    void set_wait_timer() noexcept;

    ngx_thread_pool_t* pool_;
    ngx_log_t* log_;
    /// One is answered, one runs, one is announced.
    std::array<Batch, 3> batches_;
    std::size_t in_flight_ = 0;
    ngx_msec_t started_ms_ = 0;  ///< When the oldest commit in flight began, or could have.
    std::size_t parked_ = 0;     ///< Requests that have joined and have no outcome yet.
    WaitingList waiting_;
    std::mutex commit_mutex_;  ///< A pool of several threads: one commit at a time all the same.
    CommitPace pace_;
    EventIdent ident_;
    ngx_event_t start_event_{};
    ngx_event_t wait_timer_{};
};

}  // namespace sluice::ngx
