// Archiver: keeps the archive behind the ledger, and what a person asked to forget out of it.
//
// Follows the drain: add() takes the inputs that were just committed; whatever the archive missed
// (a crash, a disk that was full) is read from the queue again, where inputs stay until they are
// durable here. Trouble with the archive never stops the ledger: it only keeps the queue from being
// trimmed. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "os/clock/clock.hpp"
#include "worker/drain/input_batch.hpp"

namespace sluice::worker {

/// The ledger as it is now, for the outcome of inputs.
using SnapshotMaker = std::function<std::unique_ptr<LedgerReader>()>;

/// After an error it must be opened anew. Throws LedgerFailure from its SnapshotMaker.
class Archiver {
public:
    /// @param alive  Called now and then while the archive is edited.
    [[nodiscard]] static Result<std::unique_ptr<Archiver>> open(
        const store::StorePaths& paths, store::Queue& queue, const store::ArchiveOptions& options,
        SnapshotMaker snapshot, std::function<void()> alive);

    /// Inputs [first, first + count), which the ledger holds by now. Does nothing while the archive
    /// is behind: catch_up() reads them again.
    [[nodiscard]] Status add(const std::vector<OwnedInput>& inputs, std::size_t first,
                             std::size_t count, Timestamp now);
    /// Reads from the queue what is missing up to `applied`, at most one slice.
    /// @return true if some is left.
    [[nodiscard]] Result<bool> catch_up(SequenceNumber applied, Timestamp now);
    /// Makes everything added durable.
    [[nodiscard]] Status flush();
    /// Has enough been added, or enough time passed, to flush()?
    [[nodiscard]] bool flush_is_due() const noexcept;
    [[nodiscard]] Result<std::uint64_t> apply_retention(Timestamp now);
    /// Takes out of the archive what a forget has found. After an error it must be opened anew.
    [[nodiscard]] Status edit(const ForgetJob& job);
    /// Did this object do that, for all that the task has found?
    [[nodiscard]] bool has_edited(const ForgetJob& job) const;

    [[nodiscard]] bool is_behind() const noexcept { return behind_; }
    [[nodiscard]] SequenceNumber last_seq() const noexcept { return writer_->last_seq(); }
    [[nodiscard]] SequenceNumber durable_seq() const noexcept { return writer_->durable_seq(); }
    /// On disk. Counts the folder's files.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    Archiver(const store::StorePaths& paths, store::Queue& queue,
             const store::ArchiveOptions& options, SnapshotMaker snapshot,
             std::function<void()> alive);
    [[nodiscard]] Status open_writer();
    [[nodiscard]] Status add_one(const OwnedInput& input, Timestamp now);
    [[nodiscard]] Status add_forget(const OwnedInput& input, Timestamp now);

    const store::StorePaths paths_;
    store::Queue& queue_;
    store::ArchiveOptions options_;
    SnapshotMaker snapshot_;
    std::function<void()> alive_;
    std::map<std::string, ForgetFound> edited_;  ///< By command id.
    std::unique_ptr<store::ArchiveWriter> writer_;
    bool behind_ = true;  ///< Of the ledger, by more than the inputs that add() is given next.
    Clock::time_point oldest_unflushed_{};
    std::uint64_t unflushed_count_ = 0;
};

}  // namespace sluice::worker
