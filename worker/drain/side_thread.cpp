#include "worker/drain/side_thread.hpp"

#include <csignal>
#include <system_error>
#include <utility>

#include "core/values/assert.hpp"

namespace sluice::worker {
namespace {

/// A new thread inherits the mask of the thread that makes it.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

}  // namespace

std::thread quiet_thread(std::function<void()> run) {
    const SignalsBlocked blocked;
    return std::thread(std::move(run));
}

SideThread::~SideThread() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool SideThread::begin_thread() {
    try {
        if (!thread_.joinable()) {
            thread_ = quiet_thread([this] { run(); });
        }
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

void SideThread::start(std::function<void()> job) {
    if (!begin_thread()) {
        job();
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        SLUICE_ASSERT(!is_busy_);
        job_ = std::move(job);
        is_busy_ = true;
    }
    changed_.notify_all();
}

bool SideThread::is_busy() {
    const std::lock_guard lock(mutex_);
    return is_busy_;
}

void SideThread::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_busy_; });
}

/// A job that was given before the end is still done.
void SideThread::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return job_ || is_ending_; });
        if (!job_) {
            return;
        }
        std::function<void()> job = std::exchange(job_, nullptr);
        lock.unlock();
        job();
        job = nullptr;  // frees its captures before wait() returns
        lock.lock();
        is_busy_ = false;
        changed_.notify_all();
    }
}

}  // namespace sluice::worker
