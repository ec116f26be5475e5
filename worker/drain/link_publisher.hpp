// Link publisher: writes the file of links that nginx reads (lmdb_store/links), when links changed.
//
// The owner looks for changes; another thread reads the links from a snapshot and writes the file,
// so that no batch waits for the disk. Owner: one thread, which alone calls the functions below.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/clock/clock.hpp"
#include "worker/drain/side_thread.hpp"

namespace sluice::worker {

class LinkPublisher {
public:
    static constexpr std::chrono::milliseconds kCheckEvery{500};

    LinkPublisher(const store::StorePaths& paths, store::ControlWords& words)
        : paths_(paths), words_(words) {}
    LinkPublisher(const LinkPublisher&) = delete;
    LinkPublisher& operator=(const LinkPublisher&) = delete;
    ~LinkPublisher() { thread_.wait(); }

    /// Publishes the links if they changed, on any node, and if a check is due. The first call
    /// compares every link. Returns what failed before; it is tried again. Throws LedgerFailure.
    [[nodiscard]] Status turn(Ledger& ledger, const std::string& node);
    /// Publishes the links, unless the file has those of the ledger, and waits until they are
    /// written. A file without links tells nginx that every link is unknown.
    [[nodiscard]] Status finish(Ledger& ledger, const std::string& node);
    /// Ends the snapshot once the thread has read it, because a map grows only without one. Call it
    /// before each batch.
    void release() noexcept;
    /// Waits for the thread, which has a snapshot. Call it before the ledger is closed.
    void settle();

private:
    /// Input and result of the thread.
    struct Job {
        std::unique_ptr<LedgerReader> snapshot;
        std::uint64_t revision = 0;
        std::atomic<bool> is_read = false;  ///< Out: the thread is done with the snapshot.
        std::uint64_t links = 0;            ///< Out: how many were published.
        Status done;                        ///< Out.
    };

    void start(std::unique_ptr<LedgerReader> snapshot, std::uint64_t revision);
    static void run(const store::StorePaths& paths, Job& job) noexcept;

    store::StorePaths paths_;
    store::ControlWords& words_;
    std::optional<std::uint64_t> published_;  ///< Revision of the file, once it is known.
    std::shared_ptr<Job> job_;
    Status failed_;
    Clock::time_point next_check_{};
    SideThread thread_;
};

}  // namespace sluice::worker
