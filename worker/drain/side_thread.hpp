// Side thread: does one job at a time while its owner does something else.
//
// The thread begins with the first job, and ends with this object. It blocks all signals, so that
// the process's handlers run on the threads that expect them. If the system gives no thread, the
// job runs at once, on the owner's.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sluice::worker {

/// Owner: one thread, which alone calls the functions below.
class SideThread {
public:
    SideThread() = default;
    /// Waits for the job.
    ~SideThread();
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;

    /// Begins the job, which must not throw. Requires: no job is under way.
    void start(std::function<void()> job);
    [[nodiscard]] bool is_busy();
    /// Waits for the job. Its writes are then visible.
    void wait();

private:
    [[nodiscard]] bool begin_thread();
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> job_;  ///< Given, and not begun.
    bool is_busy_ = false;       ///< A job was given, and is not done.
    bool is_ending_ = false;
    std::thread thread_;
};

/// Returns a thread that blocks all signals. Throws std::system_error.
[[nodiscard]] std::thread quiet_thread(std::function<void()> run);

}  // namespace sluice::worker
