// Offload: runs work on large bodies on a thread pool of its own, so that the event loop and small
// requests never wait for it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/intake/intake.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

class Offload;

/// A piece of work. Its owner keeps it in place from start() or enqueue() until `completed` is
/// called.
struct OffloadJob {
    void* owner = nullptr;
    /// Runs on the pool's thread.
    void (*run)(OffloadJob& job, ngx_log_t* log) noexcept = nullptr;
    /// Called on the event loop, never inside start(). The job may be gone afterwards.
    void (*completed)(OffloadJob& job) noexcept = nullptr;
    std::uint64_t bytes = 0;  ///< Reserved of the memory for large bodies, until released.

    // Used by Offload only.
    Offload* offload = nullptr;
    OffloadJob* next = nullptr;  ///< In the queue.
    bool is_from_queue = false;
    EventIdent ident;
    ngx_thread_task_t task{};
};

class Offload {
public:
    /// @param memory_max  sluice_large_memory: bytes of large bodies in flight in this worker.
    Offload(ngx_thread_pool_t* pool, std::uint64_t memory_max, ngx_log_t* log) noexcept;
    ~Offload();
    Offload(const Offload&) = delete;
    Offload& operator=(const Offload&) = delete;

    /// Reserves `bytes` of the memory and hands the job to a thread. Returns false if no memory is
    /// left or the pool is full; nothing is reserved then. Event loop.
    [[nodiscard]] bool start(OffloadJob& job, std::uint64_t bytes) noexcept;
    /// Queues a short job that reserves no memory; never refuses. Event loop.
    void enqueue(OffloadJob& job) noexcept;
    /// Removes the file on a thread, because that may wait long for the disk. Event loop.
    void discard(store::BulkFile file) noexcept;
    /// Returns true while a thread works; what it uses must stay.
    [[nodiscard]] bool in_flight() const noexcept { return tasks_ != 0; }
    /// Frees the memory that the job has reserved. Event loop.
    void release_memory(OffloadJob& job) noexcept;

    /// Lends a parser to a thread of the pool, because thread_local parsers would outlive the
    /// module. Any thread. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<IntakeScratch> borrow();
    void give_back(std::unique_ptr<IntakeScratch> scratch) noexcept;

private:
    /// Queued jobs that the pool has at a time. More could fill the pool, so that it refuses
    /// others.
    static constexpr std::size_t kFromQueueMax = 16;

    static void run(OffloadJob& job, ngx_log_t* log) noexcept { job.run(job, log); }
    static void on_completed(OffloadJob& job) noexcept;
    [[nodiscard]] bool post(OffloadJob& job) noexcept;
    void post_queued() noexcept;
    /// Frees what large bodies left in the parsers after a while without such bodies.
    void trim_idle() noexcept;

    ngx_thread_pool_t* pool_;
    ngx_log_t* log_;
    std::uint64_t memory_max_;
    std::uint64_t memory_used_ = 0;
    std::size_t tasks_ = 0;  ///< Posted and not completed.
    OffloadJob* queue_first_ = nullptr;
    OffloadJob** queue_end_ = &queue_first_;
    std::size_t from_queue_ = 0;  ///< Posted from the queue and not completed.
    std::mutex mutex_;
    std::vector<std::unique_ptr<IntakeScratch>> idle_;  ///< Guarded by mutex_.
    EventIdent ident_;
    ngx_event_t idle_timer_{};
    ngx_event_t retry_timer_{};
};

}  // namespace sluice::ngx
