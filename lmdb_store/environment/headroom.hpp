// Headroom: a stretch of zeros behind the last page of data.mdb, written before LMDB needs it.
//
// A commit that makes the file longer has to wait for the file's inode as well: measured
// on ext4, a commit of 96 KB took 0.37 ms where the file grew and 0.27 ms where zeros lay already.
// So the file grows by a chunk now and then and not with every commit. Reserving room (fallocate)
// does not help: writing into a reserved extent changes the file's tree of extents.
//
// The zeros are never needed: whatever fails here, LMDB makes the file longer by itself, as ever.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/files/file_io.hpp"

namespace sluice::store {

class Headroom {
public:
    /// One pwrite each: longer ones would be felt by the batch that has to wait for them.
    static constexpr std::uint64_t kChunkBytes = 512U << 10;

    /// @param folder  Of the environment. Elsewhere than on ext4 and XFS nothing is ever written.
    explicit Headroom(const std::filesystem::path& folder);

    /// Sees to it that a commit which adds about `bytes` finds zeros, if that is worth it: not for
    /// large commits, not beyond the map, not on a disk that is nearly full.
    /// Requires: the caller holds the writer lock. Waits for the disk, not for a sync.
    void prepare(const Environment& env, std::uint64_t bytes) noexcept;

private:
    void grow(const Environment& env) noexcept;
    [[nodiscard]] bool disk_has_room() const noexcept;

    Fd fd_;  ///< O_DIRECT: zeros need not pass through the page cache. Not open: nothing to do.
    std::uint64_t file_bytes_ = 0;      ///< As long it is at least, as far as is known.
    std::int64_t paused_until_ms_ = 0;  ///< After a failure.
};

}  // namespace sluice::store
