// Lock file: what LMDB believes of its lock.mdb, checked before LMDB uses it, and waits for its
// mutexes. Internal to lmdb_store.
//
// Every reader of an environment writes to this file, nginx's workers among them. LMDB trusts the
// number of readers and the mutexes in it, and does not check them; wrong ones lead it outside the
// file. A process that changes the file between a check and its use still ends this process, or
// makes it wait for ever, but what it wrote before it was checked does nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/values/result.hpp"

namespace sluice::store {

/// The return code of a damaged lock file, which no code of LMDB is equal to.
inline constexpr int kLockFileDamaged = -30'700;

/// The first page of a lock file, mapped. It is unmapped with the object.
class LockFile {
public:
    enum class Mutex : std::uint8_t {
        kReaders,  ///< Held while a reader takes a slot, and while slots of the dead are freed.
        kWriter,   ///< Held by the thread that has a write transaction.
    };

    LockFile() = default;
    /// Checks a file before LMDB opens it. A file that no process uses may hold anything, because
    /// LMDB initializes it again. Waits while another process keeps LMDB from opening it, within
    /// the limit of lock_wait.hpp, and returns kBusy then. Requires: this process does not have the
    /// environment open, because the call would drop its locks.
    [[nodiscard]] static Result<LockFile> open(const std::filesystem::path& path);

    /// Sets the number of reader slots that LMDB mapped.
    void set_readers_max(unsigned readers) noexcept { readers_max_ = readers; }
    /// Returns false if LMDB must not use the file any more. Costs some loads from memory.
    [[nodiscard]] bool is_sound() const noexcept;
    /// Calls `lock`, which locks the mutex within LMDB, once the mutex is free, so that LMDB does
    /// not wait. Returns what `lock` returned, or kLockHeld at the limit of lock_wait.hpp.
    template <class Lock>
    [[nodiscard]] int lock_when_free(Mutex mutex, Lock&& lock) const noexcept {
        bool woken = false;
        int rc = wait_until_free(mutex, woken);
        rc = rc == 0 ? lock() : rc;
        if (woken) {
            pass_on(mutex);
        }
        return rc;
    }
    /// Returns the thread that has the mutex, in a lock file that this process has open, or 0.
    /// Opens nothing, because closing the file would drop this process's locks of it.
    /// @param path  As given to open().
    [[nodiscard]] static pid_t owner(const std::filesystem::path& path, Mutex mutex);

private:
    struct Head;
    struct Unmap {
        void operator()(Head* head) const noexcept;
    };
    LockFile(Head* head, std::uint64_t bytes) noexcept;
    /// @param woken  Set if an unlock woke this thread, which another waiter then still needs.
    [[nodiscard]] int wait_until_free(Mutex mutex, bool& woken) const noexcept;
    void pass_on(Mutex mutex) const noexcept;
    [[nodiscard]] static int& word_of(Head& head, Mutex mutex) noexcept;

    std::unique_ptr<Head, Unmap> head_;
    std::uint64_t readers_max_ = 0;
};

/// Returns which other processes have the locks of LMDB's lock file, as text for people; empty if
/// none has. Opens nothing that LMDB has open.
/// @param path  As given to LockFile::open().
[[nodiscard]] std::string holders_of_lock_file(const std::filesystem::path& path);

}  // namespace sluice::store
