#include "ngx_module/nginx/blocking_task.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

namespace sluice::ngx {
namespace {

/// Works that run in this process.
std::atomic<int> running{0};

/// Ends the process without exit()'s destructors, which would take away what such a thread uses:
/// OpenSSL's tables, for example. nginx has written its logs by then.
void end_beside_threads(int status, void*) {
    if (running.load() > 0) {
        ::_exit(status);
    }
}

/// exit() calls last what was registered first, so this comes before everything that was registered
/// until the first thread started.
void guard_exit() {
    static const int registered = ::on_exit(&end_beside_threads, nullptr);
    static_cast<void>(registered);
}

/// Starts a thread that leaves all signals to nginx's thread, and that nothing waits for.
void start_without_signals(std::function<void()> work) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    try {
        std::thread(std::move(work)).detach();
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

BlockingTask::~BlockingTask() {
    if (shared_ != nullptr) {
        const std::lock_guard lock(shared_->mutex);
        shared_->over = true;
        shared_->changed.notify_one();
    }
}

/// Runs on the thread.
void BlockingTask::run(Shared& shared) {
    std::unique_lock lock(shared.mutex);
    for (;;) {
        shared.changed.wait(lock, [&] { return shared.work != nullptr || shared.over; });
        if (shared.work == nullptr) {
            return;
        }
        std::function<void()> work = std::exchange(shared.work, nullptr);
        lock.unlock();
        std::exchange(work, nullptr)();
        running.fetch_sub(1);
        lock.lock();
        shared.ended = true;
        const std::uint64_t one = 1;
        static_cast<void>(!::write(shared.wake.get(), &one, sizeof(one)));
    }
}

/// Adds the eventfd to the event loop, as nginx adds the channel between master and worker, and
/// starts the thread.
void BlockingTask::prepare() {
    if (shared_ != nullptr) {
        return;
    }
    auto shared = std::make_shared<Shared>();
    shared->wake = Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!shared->wake.ok()) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    ngx_connection_t* connection = ngx_get_connection(shared->wake.get(), log_);
    if (connection == nullptr) {
        throw std::system_error(EMFILE, std::generic_category(), "worker_connections");
    }
    connection->data = this;
    connection->read->log = log_;
    connection->write->log = log_;
    connection->read->channel = 1;  // so that nginx does not report it as left open
    connection->write->channel = 1;
    connection->read->handler = &BlockingTask::on_ended;
    if (ngx_add_event(connection->read, NGX_READ_EVENT, 0) != NGX_OK) {
        ngx_free_connection(connection);
        throw std::system_error(errno, std::generic_category(), "an event for a thread");
    }
    guard_exit();
    try {
        start_without_signals([shared] { run(*shared); });
    } catch (...) {
        static_cast<void>(ngx_del_event(connection->read, NGX_READ_EVENT, 0));
        ngx_free_connection(connection);
        throw;
    }
    shared_ = std::move(shared);
}

bool BlockingTask::start(std::function<void()> work) noexcept {
    return guarded(log_, false, [&] {
        prepare();
        running.fetch_add(1);
        const std::lock_guard lock(shared_->mutex);
        shared_->ended = false;
        shared_->work = std::move(work);
        shared_->changed.notify_one();
        is_running_ = true;
        return true;
    });
}

void BlockingTask::on_ended(ngx_event_t* event) noexcept {
    auto& connection = *static_cast<ngx_connection_t*>(event->data);
    static_cast<BlockingTask*>(connection.data)->end();
}

void BlockingTask::end() noexcept {
    std::uint64_t count = 0;
    static_cast<void>(!::read(shared_->wake.get(), &count, sizeof(count)));
    {
        const std::lock_guard lock(shared_->mutex);
        if (!is_running_ || !shared_->ended) {
            return;
        }
    }
    is_running_ = false;
    completed_();
}

}  // namespace sluice::ngx
