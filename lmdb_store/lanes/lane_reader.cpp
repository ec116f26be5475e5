#include "lmdb_store/lanes/lane_reader.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "lmdb_store/environment/reaction.hpp"

namespace sluice::store {
namespace {

/// More than the lanes that usually hold records at a time. Only pages that were read into are
/// resident.
constexpr std::size_t kBuffersKept = 64;

}  // namespace

AlignedBytes LaneBuffers::take() noexcept {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
        return allocate_aligned(kLaneBatchBytesMax);
    }
    AlignedBytes buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
}

void LaneBuffers::give_back(AlignedBytes buffer) noexcept {
    const std::lock_guard lock(mutex_);
    if (buffer == nullptr || free_.size() >= kBuffersKept) {
        return;
    }
    try {
        free_.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {
        // The buffer is freed instead.
    }
}

Result<std::string_view> LaneFileSource::read(std::uint64_t offset, std::uint64_t bytes) {
    if (buffer_ == nullptr) {
        buffer_ = buffers_.take();
        if (buffer_ == nullptr) {
            return Error{ErrorCode::kBusy, "not enough memory to read a lane"};
        }
    }
    if (offset < from_ || offset + bytes > to_) {
        const std::uint64_t known =
            expected_end_ > offset ? std::min(read_ahead_, expected_end_ - offset) : 0;
        const std::uint64_t wanted = std::max(bytes, known);
        // The beginning of a batch whose rest was not read stays, so that each byte is read once.
        const std::uint64_t kept = offset >= from_ && offset < to_ ? to_ - offset : 0;
        if (kept > 0) {
            std::memmove(buffer_.get(), buffer_.get() + (offset - from_), kept);
        }
        forget();
        if (const int error = file_.read(offset + kept, buffer_.get() + kept, wanted - kept);
            error != 0) {
            return disk_error(error, "read", file_.path());
        }
        from_ = offset;
        to_ = offset + wanted;
    }
    return std::string_view(buffer_.get() + (offset - from_), bytes);
}

Status LaneFileSource::sync() {
    const int error = file_.sync();
    return error == 0 ? Status::success() : Status(disk_error(error, "sync", file_.path()));
}

}  // namespace sluice::store
