// Readers: the threads that read the ledger. Each answers one job at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "lmdb_store/store/control_view.hpp"
#include "worker/drain/target_ledger.hpp"
#include "worker/read/build.hpp"

namespace sluice::serve {

/// Called on a reader's thread.
using Done = std::function<void(Answer)>;

class Readers {
public:
    /// Most jobs that wait for a reader (Q1).
    static constexpr std::size_t kJobsMax = 256;

    Readers(worker::LedgerOpener open, store::StorePaths paths, store::ControlView control,
            std::string rate_limit)
        : open_(std::move(open)),
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
    /// Ends the threads after their present jobs.
    void stop();

private:
    struct Waiting {
        Job job;
        Done done;
    };

    void run();
    [[nodiscard]] Answer answer(const Job& job, std::unique_ptr<Ledger>& ledger);
    [[nodiscard]] WorkerPage worker_page() const;

    worker::LedgerOpener open_;
    store::StorePaths paths_;
    store::ControlView control_;
    std::string rate_limit_;
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<Waiting> waiting_;
    bool stopping_ = false;
    std::atomic<bool> ready_ = true;
    std::vector<std::thread> threads_;
};

}  // namespace sluice::serve
