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

void ArchiveFollower::add(const std::vector<OwnedInput>& inputs, std::size_t first,
                          std::size_t count, const std::optional<AppliedBatch>& batch) {
    if (!archiver_) {
        return;
    }
    try {
        if (Status added = archiver_->add(inputs, first, count, batch, now_ms()); !added) {
            fail(added.error());
        }
    } catch (const LedgerFailure& failure) {
        fail(failure.error());
    } catch (const std::bad_alloc&) {
        fail({ErrorCode::kBusy, "not enough memory"});
    }
}

Status ArchiveFollower::open_if_due() {
    if (archiver_ || steady_now() < retry_at_) {
        return Status::success();
    }
    auto opened = Archiver::open(*parts_);
    if (!opened) {
        return opened.error();
    }
    archiver_ = std::move(*opened);
    return Status::success();
}

Status ArchiveFollower::follow(SequenceNumber applied, bool flush_now) {
    if (Status opened = open_if_due(); !opened || !archiver_) {
        return opened;
    }
    if (const auto behind = archiver_->catch_up(applied, now_ms()); !behind) {
        return behind.error();
    }
    return flush_now || archiver_->flush_is_due() ? archiver_->flush() : Status::success();
}

Status ArchiveFollower::complete(SequenceNumber upto) {
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
    return flushed;
}

Status ArchiveFollower::edit(const ForgetJob& job) {
    if (!archiver_) {
        return Error{ErrorCode::kBusy, "the archive cannot be written now"};
    }
    Status edited = archiver_->edit(job);
    if (!edited) {
        fail(edited.error());
    }
    return edited;
}

std::optional<SequenceNumber> ArchiveFollower::turn(SequenceNumber applied, bool flush_now) {
    if (!parts_) {
        return applied;
    }
    if (Status followed = follow(applied, flush_now); !followed) {
        fail(followed.error());
    }
    if (!archiver_) {
        return std::nullopt;
    }
    return std::min(archiver_->durable_seq(), applied);
}

}  // namespace sluice::worker
