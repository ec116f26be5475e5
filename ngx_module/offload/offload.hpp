// Offload: work on large bodies runs on a thread pool of its own, so that the event loop and small
// requests never wait for it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/intake/intake.hpp"
#include "ngx_module/nginx/event_ident.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

class Offload;

/// A piece of work. Its owner keeps it where it is from start() until `completed` is called.
struct OffloadJob {
    void* owner = nullptr;
    /// On the pool's thread.
    void (*run)(OffloadJob& job, ngx_log_t* log) noexcept = nullptr;
    /// On the event loop, never inside start(). The job may be gone afterwards.
    void (*completed)(OffloadJob& job) noexcept = nullptr;
    std::uint64_t bytes = 0;  ///< What it holds of the memory for large bodies, until released.

    // Used by Offload only.
    Offload* offload = nullptr;
    OffloadJob* next = nullptr;  ///< In the line.
    bool is_from_line = false;
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

    /// Takes `bytes` of the memory and gives the job to a thread. Event loop.
    /// @return false: no memory is left for it, or the pool is full; nothing was taken.
    [[nodiscard]] bool start(OffloadJob& job, std::uint64_t bytes) noexcept;
    /// Gives a short job that takes none of the memory to a thread when its turn comes; never
    /// refuses. Event loop.
    void line_up(OffloadJob& job) noexcept;
    /// A thread works now: what it uses must stay.
    [[nodiscard]] bool in_flight() const noexcept { return tasks_ != 0; }
    /// What the job holds of the memory is free again. Event loop.
    void release_memory(OffloadJob& job) noexcept;

    /// Parsers are lent to the pool's threads: thread_local ones would outlive the module. Any
    /// thread. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<IntakeScratch> borrow();
    void give_back(std::unique_ptr<IntakeScratch> scratch) noexcept;

private:
    /// Of the line: more would fill the pool's queue, and others would be refused.
    static constexpr std::size_t kFromLineMax = 16;

    static void run(void* job, ngx_log_t* log) noexcept;
    static void on_completed(ngx_event_t* event) noexcept;
    static void on_retry(ngx_event_t* event) noexcept;
    [[nodiscard]] bool post(OffloadJob& job) noexcept;
    void advance_line() noexcept;
    /// What large bodies left in the parsers is freed once none came for a while.
    static void on_idle(ngx_event_t* event) noexcept;
    void trim_idle() noexcept;

    ngx_thread_pool_t* pool_;
    ngx_log_t* log_;
    std::uint64_t memory_max_;
    std::uint64_t memory_used_ = 0;
    std::size_t tasks_ = 0;  ///< Posted and not completed.
    OffloadJob* line_first_ = nullptr;
    OffloadJob** line_end_ = &line_first_;
    std::size_t from_line_ = 0;  ///< Posted of it and not completed.
    std::mutex mutex_;
    std::vector<std::unique_ptr<IntakeScratch>> idle_;  ///< Guarded by mutex_.
    EventIdent ident_;
    ngx_event_t idle_timer_{};
    ngx_event_t retry_timer_{};
};

}  // namespace sluice::ngx
