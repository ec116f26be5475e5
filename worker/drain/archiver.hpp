// Archiver: appends applied inputs to the archive, and removes forgotten data from it.
//
// add() receives the inputs that were just committed. Inputs that the archive missed (a crash, a
// full disk) are read from the queue again, where they stay until they are durable here. A failing
// archive never stops the ledger; it only prevents the queue from being trimmed. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/order.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "os/clock/clock.hpp"
#include "worker/drain/input_batch.hpp"
#include "worker/drain/input_tail.hpp"

namespace sluice::worker {

/// Makes a snapshot of the ledger, for the outcome of inputs.
using SnapshotMaker = std::function<std::unique_ptr<LedgerReader>()>;

struct ArchiverParts {
    store::StorePaths paths;
    store::Queue& queue;
    store::ArchiveOptions options;
    SnapshotMaker snapshot;
    std::function<void()> alive;  ///< Called now and then while the archive is edited.
    /// Returns the ledger's head when the drain began. Empty means as it is now.
    std::function<LedgerHead()> start = {};
};

/// After an error it must be reopened. Throws LedgerFailure from its SnapshotMaker.
class Archiver {
public:
    [[nodiscard]] static Result<std::unique_ptr<Archiver>> open(const ArchiverParts& parts);

    /// Archives inputs [first, first + count), which the ledger holds by now. Does nothing while
    /// the archive is behind, because catch_up() will read them from the queue.
    /// @param batch  Place of the inputs among the batches of all nodes. If it has no value, or
    /// does not follow the last one, catch_up() reads the order of batches from the ledger.
    [[nodiscard]] Status add(const std::vector<OwnedInput>& inputs, std::size_t first,
                             std::size_t count, const std::optional<AppliedBatch>& batch,
                             Timestamp now);
    /// Returns whether add() may read the ledger for these inputs, or leaves work to catch_up().
    [[nodiscard]] bool needs_ledger(const std::vector<OwnedInput>& inputs, std::size_t first,
                                    std::size_t count) const;
    /// Makes catch_up() read the order of batches from the ledger: a commit may have succeeded
    /// without an answer, so that add() never receives its batch.
    void reread_order() noexcept { order_is_known_ = false; }
    /// Reads from the queue what is missing up to `applied`, at most one slice.
    /// @return true if some is left.
    [[nodiscard]] Result<bool> catch_up(SequenceNumber applied, Timestamp now);
    /// Makes everything added durable.
    [[nodiscard]] Status flush();
    /// Removes what the archive is limited to be without, if that is due. An error leaves the
    /// archive usable; the next try is an hour later.
    [[nodiscard]] Status retain(Timestamp now);
    /// Returns true if enough was added, or enough time has passed, to flush().
    [[nodiscard]] bool flush_is_due() const noexcept;
    /// Removes from the archive what a forget has found. After an error it must be reopened.
    [[nodiscard]] Status edit(const ForgetJob& job);
    /// Returns true if this object has removed all that the task has found.
    [[nodiscard]] bool has_edited(const ForgetJob& job) const;

    [[nodiscard]] bool is_behind() const noexcept { return behind_; }
    [[nodiscard]] SequenceNumber last_seq() const noexcept { return writer_->last_seq(); }
    [[nodiscard]] SequenceNumber durable_seq() const noexcept { return writer_->durable_seq(); }
    /// Returns the size of the folder's files. May be called on another thread.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    explicit Archiver(const ArchiverParts& parts)
        : parts_(parts), tail_(parts_.queue, parts_.paths) {}
    [[nodiscard]] Status begin_tail();
    [[nodiscard]] Status open_writer();
    [[nodiscard]] Status open_order();
    [[nodiscard]] Status read_order();
    [[nodiscard]] Status replace_order(LedgerReader& ledger);
    [[nodiscard]] Status put_batches(LedgerReader& ledger, std::uint64_t from,
                                     store::OrderWriter& order) const;
    void count_unflushed();
    [[nodiscard]] Status add_one(const OwnedInput& input, Timestamp now);
    [[nodiscard]] Status add_forget(const OwnedInput& input, Timestamp now);

    const ArchiverParts parts_;
    std::map<std::string, ForgetFound> edited_;  ///< Keyed by command id.
    std::unique_ptr<store::ArchiveWriter> writer_;
    std::optional<store::OrderWriter> order_;
    bool order_is_known_ = false;  ///< The order has every batch that the ledger has.
    bool behind_ = true;           ///< Inputs are missing before those that add() receives next.
    InputTail tail_;
    /// Inputs up to it are not archived: the archive was off when they were applied.
    SequenceNumber skipped_;
    Clock::time_point oldest_unflushed_{};
    std::uint64_t unflushed_count_ = 0;
};

}  // namespace sluice::worker
