// Lock file: what LMDB believes of its lock.mdb, checked before LMDB uses it, and write_lock(),
// which the locks of lanes use too. Internal to lmdb_store.
//
// Every reader of an environment writes to this file, nginx's workers among them. LMDB trusts the
// number of readers and the mutexes in it, and does not check them; wrong ones lead it outside the
// file. A process that changes the file between a check and its use still ends this process, or
// makes it wait for ever, but what it wrote before it was checked does nothing.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/values/result.hpp"

namespace sluice::store {

/// The return code of a damaged lock file, which no code of LMDB is equal to.
inline constexpr int kLockFileDamaged = -30'700;

/// The first page of a lock file, mapped for reading. It is unmapped with the object.
class LockFile {
public:
    LockFile() = default;
    /// Checks a file before LMDB opens it. A file that no process uses may hold anything, because
    /// LMDB initializes it again. Requires: this process does not have the environment open,
    /// because the call would drop its locks.
    [[nodiscard]] static Result<LockFile> open(const std::filesystem::path& path);

    /// Sets the number of reader slots that LMDB mapped.
    void set_readers_max(unsigned readers) noexcept { readers_max_ = readers; }
    /// Returns false if LMDB must not use the file any more. Costs some loads from memory.
    [[nodiscard]] bool is_sound() const noexcept;

private:
    struct Head;
    struct Unmap {
        void operator()(const Head* head) const noexcept;
    };
    LockFile(const Head* head, std::uint64_t bytes) noexcept;

    std::unique_ptr<const Head, Unmap> head_;
    std::uint64_t readers_max_ = 0;

    friend pid_t writer_thread(const std::filesystem::path& path);
};

/// Returns the lock of a range of a file, for fcntl(). 0 bytes mean up to the end.
[[nodiscard]] inline struct flock write_lock(off_t start, off_t bytes) noexcept {
    return {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = bytes, .l_pid = 0};
}

/// Returns the thread that has LMDB's writer lock in a lock file that this process has open, or 0.
/// Opens nothing, because closing the file would drop this process's locks of it.
/// @param path  As given to LockFile::open().
[[nodiscard]] pid_t writer_thread(const std::filesystem::path& path);

}  // namespace sluice::store
