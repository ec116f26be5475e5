#include "worker/drain/archive_follower.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sluice::worker {
namespace {

constexpr std::chrono::milliseconds kRetry{1000};

}  // namespace

void ArchiveFollower::fail(const Error& error) {
    archiver_.reset();
    retry_at_ = steady_now() + kRetry;
    failed_(error);
}

/// Waits for the inputs that are being archived.
void ArchiveFollower::settle() {
    thread_.wait();
    const Status added = std::exchange(added_, {});
    if (const std::exception_ptr thrown = std::exchange(thrown_, nullptr)) {
        std::rethrow_exception(thrown);
    }
    if (!added) {
        fail(added.error());
    }
    note_durable();
}

void ArchiveFollower::note_durable() noexcept {
    durable_ = archiver_ ? archiver_->durable_seq() : durable_;
}

void ArchiveFollower::reread_order() {
    settle();
    if (archiver_) {
        archiver_->reread_order();
    }
}

/// Runs on either thread. What it throws is thrown again on the caller's.
void ArchiveFollower::archive_batch(const std::vector<OwnedInput>& inputs, std::size_t first,
                                    std::size_t count, const std::optional<AppliedBatch>& batch,
                                    Timestamp now) noexcept {
    try {
        added_ = archiver_->add(inputs, first, count, batch, now);
        if (added_ && archiver_->flush_is_due()) {
            added_ = archiver_->flush();
        }
    } catch (const LedgerFailure& failure) {
        added_ = failure.error();
    } catch (const std::bad_alloc&) {
        added_ = Error{ErrorCode::kBusy, "not enough memory"};
    } catch (...) {
        thrown_ = std::current_exception();
    }
}

void ArchiveFollower::add(const std::shared_ptr<const std::vector<OwnedInput>>& inputs,
                          std::size_t first, std::size_t count,
                          const std::optional<AppliedBatch>& batch, bool aside) {
    settle();
    if (!archiver_) {
        return;
    }
    const auto archive = [this, inputs, first, count, batch, now = now_ms()] {
        archive_batch(*inputs, first, count, batch, now);
    };
    if (!aside || archiver_->needs_ledger(*inputs, first, count)) {
        archive();
        settle();
        return;
    }
    try {
        thread_.start(archive);
    } catch (const std::bad_alloc&) {
        fail({ErrorCode::kBusy, "not enough memory"});
    }
}

Status ArchiveFollower::open_if_due() {
    if (archiver_ || steady_now() < retry_at_) {
        return Status::success();
    }
    return assign(archiver_, Archiver::open(*parts_));
}

Status ArchiveFollower::follow(SequenceNumber applied, bool flush_now) {
    if (Status opened = open_if_due(); !opened || !archiver_) {
        return opened;
    }
    const Timestamp now = now_ms();
    if (const auto behind = archiver_->catch_up(applied, now); !behind) {
        return behind.error();
    }
    if (flush_now || archiver_->flush_is_due()) {
        if (Status flushed = archiver_->flush(); !flushed) {
            return flushed;
        }
    }
    if (const Status kept = archiver_->retain(now); !kept) {
        cannot_remove_(kept.error());
    }
    return Status::success();
}

Status ArchiveFollower::complete(SequenceNumber upto) {
    settle();
    const Error not_now{ErrorCode::kBusy, "the archive cannot be written now"};
    if (Status opened = open_if_due(); !opened || !archiver_) {
        return opened ? Status(not_now) : opened;
    }
    SequenceNumber last;
    do {
        last = archiver_->last_seq();
        if (const auto behind = archiver_->catch_up(upto, now_ms()); !behind) {
            fail(behind.error());
            return behind.error();
        }
    } while (archiver_->last_seq() > last && archiver_->last_seq() < upto);
    Status flushed = archiver_->flush();
    if (!flushed) {
        fail(flushed.error());
    }
    note_durable();
    return flushed;
}

Status ArchiveFollower::edit(const ForgetJob& job) {
    settle();
    if (!archiver_) {
        return Error{ErrorCode::kBusy, "the archive cannot be written now"};
    }
    Status edited = archiver_->edit(job);
    if (!edited) {
        fail(edited.error());
    }
    note_durable();
    return edited;
}

std::optional<SequenceNumber> ArchiveFollower::turn(SequenceNumber applied, bool flush_now) {
    if (!parts_) {
        return applied;
    }
    if (flush_now || !thread_.is_busy()) {
        settle();
        if (Status followed = follow(applied, flush_now); !followed) {
            fail(followed.error());
        }
        note_durable();
    }
    return archiver_ ? std::optional(std::min(durable_, applied)) : std::nullopt;
}

}  // namespace sluice::worker
