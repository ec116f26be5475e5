// Drain: the loop that applies the queue to the ledger, exactly once.
//
// Effects and checkpoint are one transaction of the ledger; then the position is published, and
// trimming, unlinking and archiving follow: they are only cleaning. Killed at any instant, the next
// drain goes on behind the checkpoint. Used by `sluice worker`, and by commands that apply their
// own record when no worker runs. Not thread-safe.
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
#include "worker/drain/ledger_opener.hpp"

namespace sluice::worker {

struct DrainOptions {
    BatchLimits batch;
    std::size_t read_bytes_max = 32U << 20;  ///< Of the queue, copied at once.
    std::optional<store::ArchiveOptions> archive = store::ArchiveOptions{};  ///< Nothing: off.
    /// How long what may pass (disk full, I/O error) is retried; 0: until it passes.
    std::uint32_t retry_seconds_max = 0;
    std::uint64_t version = 0;  ///< packed_version() of the program, for the status page.
};

/// What the loop reports to its owner. Called on the loop's thread; each may be empty.
struct DrainEvents {
    /// Cannot go on now and tries again: an error that may pass. At most one a second.
    std::function<void(const Error&)> retrying;
    /// It goes on after that.
    std::function<void(std::chrono::seconds failed_for)> recovered;
    /// Something that does not stop the loop, in words.
    std::function<void(const std::string&)> warning;
    /// The loop turns: at least once a second while it is well.
    std::function<void()> heartbeat;
};

class Drain {
public:
    /// Opens the ledger and compares its checkpoint with the queue. Requires: the worker's lock is
    /// held, and the queue outlives it.
    /// kConflict: the queue is not the one that this ledger goes on with (lost, swapped or restored
    /// from an older copy); the message says what to do.
    [[nodiscard]] static Result<std::unique_ptr<Drain>> open(const store::StorePaths& paths,
                                                             store::Queue& queue,
                                                             LedgerOpener open_ledger,
                                                             const DrainOptions& options,
                                                             DrainEvents events);
    ~Drain();
    Drain(const Drain&) = delete;
    Drain& operator=(const Drain&) = delete;

    /// Until `stop` is set (between two batches). Trouble that does not pass by itself ends it.
    [[nodiscard]] Status run(const std::atomic<bool>& stop);
    /// Until everything in the queue is applied and no work is left.
    [[nodiscard]] Status run_until_empty(const std::atomic<bool>& stop);
    /// Until `seq` is applied, and the attribution that it asked for was tried again.
    /// @param leaves_work  Do not wait for that: the next drain goes on with it.
    [[nodiscard]] Status run_up_to(SequenceNumber seq, bool leaves_work,
                                   const std::atomic<bool>& stop);

    [[nodiscard]] SequenceNumber applied_seq() const noexcept;
    /// What is left of it now.
    [[nodiscard]] WorkLeft work() const noexcept;
    [[nodiscard]] Ledger& ledger() noexcept;

private:
    class Loop;
    explicit Drain(std::unique_ptr<Loop> loop);
    std::unique_ptr<Loop> loop_;
};

}  // namespace sluice::worker
