#include "ngx_module/nginx/blocking_task.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "lmdb_store/environment/lock_wait.hpp"

namespace sluice::ngx {
namespace {

/// Threads that run in this process.
std::atomic<int> running{0};

/// Counts a thread, from before it starts until its work is destroyed.
class Running {
public:
    Running() noexcept { running.fetch_add(1); }
    ~Running() { running.fetch_sub(1); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
};

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

/// Starts a thread that leaves all signals to nginx's thread.
std::thread start_without_signals(std::function<void()> work) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread thread;
    try {
        thread = std::thread(std::move(work));
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}  // namespace

BlockingTask::~BlockingTask() {
    if (!thread_.joinable()) {
        return;
    }
    if (shared_->ended.load()) {
        thread_.join();
    } else {
        thread_.detach();
    }
}

/// Adds the eventfd to the event loop, as nginx adds the channel between master and worker.
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
    shared_ = std::move(shared);
}

bool BlockingTask::start(std::function<void()> work) noexcept {
    return guarded(log_, false, [&] {
        prepare();
        guard_exit();
        shared_->ended.store(false);
        auto counted = std::make_shared<Running>();
        thread_ = start_without_signals(
            [work = std::move(work), counted = std::move(counted), shared = shared_]() mutable {
                const store::LockLimit none;  // neither a request nor the process waits for it
                std::exchange(work, nullptr)();
                counted.reset();
                shared->ended.store(true);
                const std::uint64_t one = 1;
                static_cast<void>(!::write(shared->wake.get(), &one, sizeof(one)));
            });
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
    if (thread_.joinable() && shared_->ended.load()) {
        thread_.join();
        completed_();
    }
}

}  // namespace sluice::ngx
