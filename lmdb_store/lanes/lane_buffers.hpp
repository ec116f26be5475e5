// Lane buffers: memory that lanes are read into, kept for the next move. A fresh megabyte for each
// lane of each transaction cost a mover of eight lanes two fifths of its time, in page faults.
// Internal to this folder.
#pragma once

#include <mutex>
#include <vector>

#include "lmdb_store/lanes/lane_file.hpp"

namespace sluice::store {

/// Threads: any.
class LaneBuffers {
public:
    /// kLaneBatchBytesMax bytes. nullptr: there is no memory.
    [[nodiscard]] AlignedBytes take() noexcept;
    void give_back(AlignedBytes buffer) noexcept;

private:
    std::mutex mutex_;
    std::vector<AlignedBytes> free_;
};

}  // namespace sluice::store
