// Preallocation: writes zeros after the last page of data.mdb before LMDB needs the room.
//
// A commit that makes the file longer also waits for the file's inode. Measured on ext4, a commit
// of 96 KB took 0.37 ms where the file grew and 0.27 ms where zeros were written before. So the
// file grows by chunks, and not with every commit. fallocate() does not help, because a write into
// a reserved extent changes the file's tree of extents.
//
// The zeros only save time: if a write fails, LMDB makes the file longer by itself.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lmdb_store/environment/environment.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

class Preallocation {
public:
    /// Written by one pwrite. A longer chunk would noticeably delay the batch that waits for it.
    static constexpr std::uint64_t kChunkBytes = 512U << 10;

    /// @param folder  The environment's. Only on ext4 and XFS is anything written.
    explicit Preallocation(const std::filesystem::path& folder);

    /// Writes zeros if a commit of about `bytes` would make the file longer. Does nothing for large
    /// commits, beyond the map, and on a nearly full disk. Waits for the disk, but not for a sync.
    /// Requires: the caller holds the writer lock.
    void prepare(const Environment& env, std::uint64_t bytes) noexcept;

private:
    void grow(const Environment& env) noexcept;
    [[nodiscard]] bool disk_has_room() const noexcept;

    Fd fd_;  ///< O_DIRECT, because zeros need no page cache. Not open on other file systems.
    std::uint64_t file_bytes_ = 0;      ///< The file has at least this length.
    std::int64_t paused_until_ms_ = 0;  ///< Set after a failure.
};

}  // namespace sluice::store
