// Drain: the loop that applies the queue to the ledger, exactly once.
//
// Effects and checkpoint are one transaction of the ledger. Publishing the checkpoint, trimming,
// unlinking and archiving follow, and can be repeated. After a crash at any instant, the next drain
// resumes after the checkpoint. While a batch is applied, other threads read and prepare the next
// inputs, and archive the batch before; the thread of run() alone applies them, in the order of the
// queue. Used by `sluice worker`, and by commands that apply their own record when no worker runs.
//
// Blocking: that thread waits for the ledger (its disk, or the database and other nodes), for the
// threads that help, for LMDB's writer lock when it trims or moves lanes, and up to 5 s after an
// error. Not thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/drain/input_batch.hpp"
#include "worker/drain/target_ledger.hpp"

namespace sluice::worker {

struct DrainOptions {
    BatchLimits batch;
    std::size_t read_bytes_max = 32U << 20;  ///< Bytes of the queue that are copied at once.
    std::optional<store::ArchiveOptions> archive = store::ArchiveOptions{};  ///< Absent means off.
    /// How long temporary errors (disk full, I/O error) are retried; 0 means without end.
    std::uint32_t retry_seconds_max = 0;
    std::uint64_t version = 0;  ///< packed_version() of the program, for the status page.
    /// Threads that prepare inputs before they are applied. 0 means that nothing is read ahead
    /// either.
    unsigned threads = preparing_threads();
    /// Waiting inputs from which on threads help. With fewer inputs the worker keeps up alone, and
    /// leaves the processors to nginx.
    std::uint64_t help_from = 50'000;
};

/// Callbacks of the loop, called on its thread. Each may be empty.
struct DrainEvents {
    /// A temporary error stops the loop, which retries. Called at most once a second.
    std::function<void(const Error&)> retrying;
    /// The loop has recovered from that error.
    std::function<void(std::chrono::seconds failed_for)> recovered;
    /// A warning about something that does not stop the loop.
    std::function<void(const std::string&)> warning;
    /// A sign of life, at least once a second while the loop is healthy.
    std::function<void()> heartbeat;
};

class Drain {
public:
    /// Opens the ledger and compares its checkpoint with the queue. Requires: the worker's lock is
    /// held, and the queue outlives it.
    /// Returns kConflict if the queue does not match the ledger's checkpoint (lost, swapped or
    /// restored from an older copy); the message says what to do.
    [[nodiscard]] static Result<std::unique_ptr<Drain>> open(const store::StorePaths& paths,
                                                             store::Queue& queue,
                                                             LedgerOpener open_ledger,
                                                             const DrainOptions& options,
                                                             DrainEvents events);
    ~Drain();
    Drain(const Drain&) = delete;
    Drain& operator=(const Drain&) = delete;

    /// Runs until `stop` is set (checked between two batches) or a permanent error occurs.
    [[nodiscard]] Status run(const std::atomic<bool>& stop);
    /// Runs until everything in the queue is applied and no work is left.
    [[nodiscard]] Status run_until_empty(const std::atomic<bool>& stop);
    /// Runs until `seq` is applied and the attribution that it caused is done.
    /// @param leaves_work  Leave that attribution to the next drain.
    [[nodiscard]] Status run_up_to(SequenceNumber seq, bool leaves_work,
                                   const std::atomic<bool>& stop);

    [[nodiscard]] SequenceNumber applied_seq() const noexcept;
    /// Returns the attribution that is left.
    [[nodiscard]] WorkLeft work() const noexcept;
    [[nodiscard]] Ledger& ledger() noexcept;

private:
    class Loop;
    explicit Drain(std::unique_ptr<Loop> loop);
    std::unique_ptr<Loop> loop_;
};

}  // namespace sluice::worker
