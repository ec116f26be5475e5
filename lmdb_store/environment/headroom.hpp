// Headroom: a stretch of zeros behind the last page of data.mdb, written before LMDB needs it.
//
// A commit that makes the file longer has to wait for the file's inode as well: measured
// on ext4, a commit of 96 KB took 0.37 ms where the file grew and 0.27 ms where zeros lay already.
// So the file grows by a chunk now and then and not with every commit. Reserving room (fallocate)
// does not help: writing into a reserved extent changes the file's tree of extents.
//
// The zeros only save time: if a write here fails, LMDB makes the file longer by itself.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lmdb_store/environment/environment.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

class Headroom {
public:
    /// Written by one pwrite: a longer chunk would make the batch that waits for it noticeably
    /// slower.
    static constexpr std::uint64_t kChunkBytes = 512U << 10;

    /// @param folder  Of the environment. Elsewhere than on ext4 and XFS nothing is ever written.
    explicit Headroom(const std::filesystem::path& folder);

    /// Writes zeros, if need be, so that a commit of about `bytes` finds them. Not for large
    /// commits, not beyond the map, not on a disk that is nearly full.
    /// Requires: the caller holds the writer lock. Waits for the disk, not for a sync.
    void prepare(const Environment& env, std::uint64_t bytes) noexcept;

private:
    void grow(const Environment& env) noexcept;
    [[nodiscard]] bool disk_has_room() const noexcept;

    Fd fd_;  ///< O_DIRECT: zeros need not pass through the page cache. Not open: nothing to do.
    std::uint64_t file_bytes_ = 0;  ///< Length that the file is known to have; it may be longer.
    std::int64_t paused_until_ms_ = 0;  ///< After a failure.
};

}  // namespace sluice::store
