// Readers: the threads that read the ledger. Each answers one job at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lmdb_store/store/control_page.hpp"
#include "os/clock/clock.hpp"
#include "serve/http/job_queue.hpp"
#include "worker/access/open_ledger.hpp"

namespace sluice::serve {

/// Set when running reads are to give up, which may wait for a database.
using Cancelled = std::shared_ptr<std::atomic<bool>>;

class Readers {
public:
    Readers(worker::LedgerOpener open, Cancelled cancelled, store::StorePaths paths,
            store::ControlView control, std::string rate_limit)
        : open_(std::move(open)),
          cancelled_(std::move(cancelled)),
          paths_(std::move(paths)),
          control_(std::move(control)),
          rate_limit_(std::move(rate_limit)) {}
    ~Readers() { stop(); }
    Readers(const Readers&) = delete;
    Readers& operator=(const Readers&) = delete;

    /// Opens the ledger once, so that a wrong one is reported at the start, and starts the threads.
    [[nodiscard]] Status start(std::size_t threads);
    /// Returns false if too many jobs wait.
    [[nodiscard]] bool submit(Job job, Done done);
    /// Returns whether the ledger can be read. Called by health checks, on any thread.
    [[nodiscard]] bool is_ready() const noexcept { return ready_.load(); }
    /// Returns for how long the oldest snapshot has been read, or 0. Old ones keep pages of LMDB.
    [[nodiscard]] std::chrono::milliseconds snapshot_age();
    /// Answers all jobs that wait with `busy`, and interrupts those that read now.
    void cancel();
    /// Ends the threads after their present jobs.
    void stop();

private:
    /// A thread's own ledger.
    struct Source {
        cli::OpenLedger ledger;
        std::string node{};  ///< UUID of this store's queue, once its worker has applied something.
    };
    void run();
    [[nodiscard]] Answer answer(const Job& job, Source& source);
    [[nodiscard]] std::string own_node(Ledger& ledger);
    [[nodiscard]] WorkerPage worker_page(const std::string& node);

    worker::LedgerOpener open_;
    Cancelled cancelled_;
    store::StorePaths paths_;
    store::ControlView control_;
    std::mutex registry_mutex_;
    std::unique_ptr<store::Registry> registry_;
    std::string rate_limit_;
    std::mutex mutex_;
    std::condition_variable filled_;
    JobQueue queue_{1};
    std::multiset<Clock::time_point> begun_;  ///< Jobs that are read.
    bool stopping_ = false;
    std::atomic<bool> ready_ = true;
    std::vector<std::jthread> threads_;
};

}  // namespace sluice::serve
