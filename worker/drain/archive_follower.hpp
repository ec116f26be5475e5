// Archive follower: reopens an Archiver after a failure, and reports up to where the archive is
// durable. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "os/clock/clock.hpp"
#include "worker/drain/archiver.hpp"
#include "worker/drain/input_batch.hpp"

namespace sluice::worker {

class ArchiveFollower {
public:
    /// @param parts   Absent if there is no archive; then everything counts as archived. The
    ///                snapshot's maker may throw LedgerFailure, which turn() does not catch.
    /// @param failed  Called for each failure; the archive is tried again a second later.
    ArchiveFollower(const std::optional<ArchiverParts>& parts,
                    std::function<void(const Error&)> failed)
        : parts_(parts), failed_(std::move(failed)) {}

    /// Archives inputs [first, first + count), which the ledger holds by now. After a failure the
    /// archive reads them from the queue again.
    /// @param batch  Their place among the batches of all nodes, if it is known.
    void add(const std::vector<OwnedInput>& inputs, std::size_t first, std::size_t count,
             const std::optional<AppliedBatch>& batch);
    /// Makes turn() read the order of batches from the ledger, because a commit may have succeeded
    /// without an answer.
    void reread_order() noexcept {
        if (archiver_) {
            archiver_->reread_order();
        }
    }
    /// Opens the archive if it is due, lets it catch up with the ledger, and makes it durable if
    /// that is due or `flush_now`.
    /// @return the last durable input, at most `applied`, or nothing after a failure.
    [[nodiscard]] std::optional<SequenceNumber> turn(SequenceNumber applied, bool flush_now);
    /// Brings the archive up to this input, durably. Returns kBusy while it waits after a failure.
    [[nodiscard]] Status complete(SequenceNumber upto);
    /// See Archiver::edit().
    [[nodiscard]] Status edit(const ForgetJob& job);
    [[nodiscard]] bool has_edited(const ForgetJob& job) const {
        return archiver_ && archiver_->has_edited(job);
    }
    /// Returns the last durable input, or 0 if there is none or the archive is not open.
    [[nodiscard]] SequenceNumber durable_seq() const noexcept {
        return archiver_ ? archiver_->durable_seq() : SequenceNumber{};
    }
    [[nodiscard]] bool is_behind() const noexcept { return archiver_ && archiver_->is_behind(); }
    /// Returns nothing if the archive is off.
    [[nodiscard]] const std::optional<ArchiverParts>& parts() const noexcept { return parts_; }
    /// Returns nullptr if the archive is off or not open.
    [[nodiscard]] const Archiver* archiver() const noexcept { return archiver_.get(); }

private:
    [[nodiscard]] Status open_if_due();
    [[nodiscard]] Status follow(SequenceNumber applied, bool flush_now);
    void fail(const Error& error);

    std::optional<ArchiverParts> parts_;
    std::function<void(const Error&)> failed_;
    std::unique_ptr<Archiver> archiver_;
    Clock::time_point retry_at_{};
};

}  // namespace sluice::worker
