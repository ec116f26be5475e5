// Archive follower: reopens an Archiver after a failure, and reports up to where the archive is
// durable.
//
// While many inputs wait, those that were just committed are archived on a thread of its own, while
// the next batch is applied; one batch at a time, so that memory is bounded. Everything else, and
// everything that reads the ledger, happens on the caller's thread after that thread has finished.
// Not thread-safe.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "os/clock/clock.hpp"
#include "worker/drain/archiver.hpp"
#include "worker/drain/input_batch.hpp"
#include "worker/drain/side_thread.hpp"

namespace sluice::worker {

class ArchiveFollower {
public:
    /// @param parts  Absent if there is no archive; then everything counts as archived. The
    ///                snapshot's maker may throw LedgerFailure, which turn() does not catch.
    /// @param failed  Called for each failure; the archive is tried again a second later.
    /// @param cannot_remove  Called if old segments cannot be removed, which stops nothing.
    ArchiveFollower(const std::optional<ArchiverParts>& parts,
                    std::function<void(const Error&)> failed,
                    std::function<void(const Error&)> cannot_remove)
        : parts_(parts), failed_(std::move(failed)), cannot_remove_(std::move(cannot_remove)) {}

    /// Archives inputs [first, first + count), which the ledger holds by now and which do not
    /// change any more. After a failure the archive reads them from the queue again.
    /// @param batch  Their place among the batches of all nodes, if it is known.
    /// @param aside  Archive on the other thread, if possible.
    void add(const std::shared_ptr<const std::vector<OwnedInput>>& inputs, std::size_t first,
             std::size_t count, const std::optional<AppliedBatch>& batch, bool aside);
    /// Makes turn() read the order of batches from the ledger, because a commit may have succeeded
    /// without an answer.
    void reread_order();
    /// Opens the archive if that is due, lets it catch up with the ledger, and makes it durable if
    /// that is due or `flush_now`. While inputs are being archived it does none of this, or with
    /// `flush_now` waits for them first.
    /// @return the last input that is known to be durable, at most `applied`, or nothing after a
    /// failure.
    [[nodiscard]] std::optional<SequenceNumber> turn(SequenceNumber applied, bool flush_now);
    /// Brings the archive up to this input, durably. Returns kBusy while it waits after a failure.
    [[nodiscard]] Status complete(SequenceNumber upto);
    /// See Archiver::edit().
    [[nodiscard]] Status edit(const ForgetJob& job);
    [[nodiscard]] bool has_edited(const ForgetJob& job) const {
        return archiver_ && archiver_->has_edited(job);
    }
    /// Returns the last input that is known to be durable, or 0 if there is none or the archive is
    /// not open.
    [[nodiscard]] SequenceNumber durable_seq() const noexcept {
        return archiver_ ? durable_ : SequenceNumber{};
    }
    /// Returns whether turn() has to be called again. Requires: it was called with `flush_now`.
    [[nodiscard]] bool is_behind() const noexcept { return archiver_ && archiver_->is_behind(); }
    /// Returns nothing if the archive is off.
    [[nodiscard]] const std::optional<ArchiverParts>& parts() const noexcept { return parts_; }
    /// Returns the size of the archive's files, or 0 if the archive is off or not open.
    [[nodiscard]] std::uint64_t bytes() const { return archiver_ ? archiver_->bytes() : 0; }

private:
    void settle();
    void archive_batch(const std::vector<OwnedInput>& inputs, std::size_t first, std::size_t count,
                       const std::optional<AppliedBatch>& batch, Timestamp now) noexcept;
    void note_durable() noexcept;
    [[nodiscard]] Status open_if_due();
    [[nodiscard]] Status follow(SequenceNumber applied, bool flush_now);
    void fail(const Error& error);

    std::optional<ArchiverParts> parts_;
    std::function<void(const Error&)> failed_, cannot_remove_;
    std::unique_ptr<Archiver> archiver_;
    Clock::time_point retry_at_{};
    SequenceNumber durable_;  ///< As `archiver_` said when its thread was idle.
    Status added_;            ///< Result of the thread's last job, unless it threw.
    std::exception_ptr thrown_;
    SideThread thread_;  ///< Ends before the members that it uses.
};

}  // namespace sluice::worker
