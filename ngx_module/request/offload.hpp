// Offload: large and spooled bodies are read, hashed, validated and written to bulk files on a
// thread pool of their own, so that the event loop and small requests never wait for them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/intake/intake.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

class Offload {
public:
    /// @param memory_max  sluice_large_memory: bytes of large bodies in flight in this worker.
    Offload(ngx_thread_pool_t* pool, std::uint64_t memory_max, ngx_log_t* log) noexcept;
    ~Offload();
    Offload(const Offload&) = delete;
    Offload& operator=(const Offload&) = delete;

    /// Parks the request and wakes it when it is checked. Event loop.
    /// @return false: no memory is left for it, or the pool is full; the caller answers 503.
    [[nodiscard]] bool start(IngestRequest& request) noexcept;
    /// Threads use the queue now: it must not be closed.
    [[nodiscard]] bool in_flight() const noexcept { return tasks_ != 0; }
    /// What the request holds of the memory is free again. Event loop.
    void release_memory(IngestRequest& request) noexcept;

private:
    static void run(void* request, ngx_log_t* log) noexcept;
    static void on_completed(ngx_event_t* event) noexcept;
    static void check(IngestRequest& request);

    /// Parsers are lent to the pool's threads: thread_local ones would outlive the module.
    [[nodiscard]] std::unique_ptr<IntakeScratch> borrow();
    void give_back(std::unique_ptr<IntakeScratch> scratch) noexcept;
    /// What large bodies left in the parsers is freed once none came for a while.
    static void on_idle(ngx_event_t* event) noexcept;
    void trim_idle() noexcept;

    ngx_thread_pool_t* pool_;
    ngx_log_t* log_;
    std::uint64_t memory_max_;
    std::uint64_t memory_used_ = 0;
    std::size_t tasks_ = 0;  ///< Posted and not completed.
    std::mutex mutex_;
    std::vector<std::unique_ptr<IntakeScratch>> idle_;  ///< Guarded by mutex_.
    EventIdent ident_;
    ngx_event_t idle_timer_{};
};

}  // namespace sluice::ngx
