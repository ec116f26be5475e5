// Lock wait: how long a thread waits for a lock that another process has, and who has it.
//
// Every process of a store may hold its locks, nginx's workers among them. So each wait of a
// command has a limit, and its error names the process.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "os/clock/clock.hpp"

namespace sluice::store {

/// The return code of a wait that ended at its limit, which no code of LMDB is equal to.
inline constexpr int kLockHeld = -30'701;
/// The limit of a thread without a LockLimit.
inline constexpr std::chrono::seconds kLockWaitMax{10};

/// Limits each wait of this thread for a lock, while it lives.
class LockLimit {
public:
    explicit LockLimit(std::chrono::milliseconds limit) noexcept;
    /// No limit, for a thread that nothing waits for.
    LockLimit() noexcept;
    ~LockLimit();
    LockLimit(const LockLimit&) = delete;
    LockLimit& operator=(const LockLimit&) = delete;

private:
    std::chrono::milliseconds before_;
};

/// Returns when a wait that begins now ends.
[[nodiscard]] Clock::time_point lock_deadline() noexcept;
/// Returns true if this thread may wait for any time.
[[nodiscard]] bool waits_for_locks_without_limit() noexcept;

/// Returns the lock of a range of a file, for fcntl(). 0 bytes mean up to the end.
[[nodiscard]] inline struct flock write_lock(off_t start, off_t bytes) noexcept {
    return {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = bytes, .l_pid = 0};
}

/// Returns `process 12 (nginx)`, or "another process" for 0.
[[nodiscard]] std::string named(pid_t process);
/// Returns the process with a lock of an open file (F_OFD_SETLK) that covers `byte`, or 0.
/// @param likely    The process that is tried first, or 0.
/// @param searches  Then tries all others.
[[nodiscard]] pid_t owner_of_open_file(const std::filesystem::path& path, std::uint64_t byte,
                                       pid_t likely, bool searches);
/// Returns who has a lock that keeps this process from locking `byte` of an open file, as text for
/// people; empty if none does, or this process.
/// @param likely  As for owner_of_open_file().
[[nodiscard]] std::string holder_of_byte(const std::filesystem::path& path, int byte, pid_t likely,
                                         bool searches);
/// Returns who has LMDB's lock of a lock file, byte 0, as text for people; empty if none does, or
/// this process. Opens nothing, because closing the file would drop this process's locks of it.
[[nodiscard]] std::string holder_of_file(const std::filesystem::path& path);
/// Returns the process of a thread, or 0 if the thread is gone.
[[nodiscard]] pid_t process_of(pid_t thread);

}  // namespace sluice::store
