#include "lmdb_store/lanes/lane_buffers.hpp"

#include <new>
#include <utility>

namespace sluice::store {
namespace {

/// Lanes that are mostly filled at a time; of a buffer only what was read into is resident.
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
        // It is freed instead.
    }
}

}  // namespace sluice::store
