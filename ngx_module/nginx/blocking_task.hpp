// BlockingTask: work that may wait for a lock or a disk for any time, on a thread of its own.
//
// A worker process that ends joins the threads of nginx's pools, so that a pool's task that waits
// for a lock would keep the process. The process ends without waiting for this thread. Therefore
// the work owns everything it uses. Thread: the event loop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "os/files/file_io.hpp"

namespace sluice::ngx {

class BlockingTask {
public:
    /// @param completed  Called on the event loop when the work has ended.
    BlockingTask(std::function<void()> completed, ngx_log_t* log) noexcept
        : completed_(std::move(completed)), log_(log) {}
    /// Leaves a running thread alone.
    ~BlockingTask();
    BlockingTask(const BlockingTask&) = delete;
    BlockingTask& operator=(const BlockingTask&) = delete;

    /// Starts the work. Returns false if there is no thread or descriptor for it, which is logged.
    /// Requires: no work runs.
    [[nodiscard]] bool start(std::function<void()> work) noexcept;
    /// Returns true from start() until `completed` is about to be called.
    [[nodiscard]] bool is_running() const noexcept { return thread_.joinable(); }

private:
    /// State that the thread keeps, because it may outlive this object.
    struct Shared {
        Fd wake;  ///< An eventfd, written when the work has ended.
        std::atomic<bool> ended{false};
    };

    static void on_ended(ngx_event_t* event) noexcept;
    void prepare();
    void end() noexcept;

    std::function<void()> completed_;
    ngx_log_t* log_;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

}  // namespace sluice::ngx
