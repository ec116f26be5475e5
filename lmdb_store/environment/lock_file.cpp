#include "lmdb_store/environment/lock_file.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>

#include "lmdb_store/environment/lmdb_format.hpp"
#include "lmdb_store/environment/lock_wait.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kCacheLine = 64;

/// Returns how glibc marks a mutex as LMDB makes them: shared between processes, and robust.
int mutex_kind() noexcept {
    static const int kind = [] {
        pthread_mutexattr_t shared;
        pthread_mutex_t mutex;
        pthread_mutexattr_init(&shared);
        pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&mutex, &shared);
        const int made = mutex.__data.__kind;
        pthread_mutex_destroy(&mutex);
        pthread_mutexattr_destroy(&shared);
        return made;
    }();
    return kind;
}

/// Returns true if another process has LMDB's lock on the file.
bool is_in_use(int fd) noexcept {
    struct flock lock = write_lock(0, 1);
    return ::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/// Returns true if another process keeps this one from using the file, as LMDB does for a moment
/// when it initializes it.
bool is_kept_away(int fd) noexcept {
    struct flock lock = write_lock(0, 1);
    lock.l_type = F_RDLCK;
    return ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Status wait_for_file(int fd, const std::filesystem::path& path) {
    constexpr std::chrono::milliseconds kPoll{5};
    if (waits_for_locks_without_limit()) {
        return Status::success();  // LMDB waits
    }
    const Clock::time_point deadline = lock_deadline();
    while (is_kept_away(fd)) {
        if (steady_now() >= deadline) {
            return busy("cannot open \"" + path.parent_path().string() + "\", because " +
                        holder_of_file(path) + "; nothing was changed");
        }
        std::this_thread::sleep_for(kPoll);
    }
    return Status::success();
}

timespec until(Clock::time_point deadline) noexcept {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - steady_now());
    constexpr std::int64_t kSecond = 1'000'000'000;
    return {left.count() / kSecond, left.count() % kSecond};
}

template <class Number>
Number load(const Number& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);  // other processes write to it
}

/// The lock files that this process has open. Never destroyed, because threads may use it while the
/// process exits.
struct OpenFiles {
    std::mutex mutex;
    std::map<void*, std::filesystem::path> heads;
};

OpenFiles& open_files() {
    static auto* const the_files = new OpenFiles;
    return *the_files;
}

}  // namespace

/// The layout of LMDB 0.9. The writer's mutex begins at 64 on amd64, and at 128 on arm64, where a
/// mutex has 48 bytes instead of 40.
struct LockFile::Head {
    std::uint32_t magic, format;
    pthread_mutex_t readers_mutex;
    std::uint64_t txn_id;
    std::uint32_t readers;
    alignas(kCacheLine) pthread_mutex_t writer_mutex;
};

LockFile::LockFile(Head* head, std::uint64_t bytes) noexcept
    : head_(head), readers_max_(bytes / kCacheLine - sizeof(Head) / kCacheLine) {
    constexpr std::uint64_t kWriter = sizeof(pthread_mutex_t) == 40 ? kCacheLine : 2 * kCacheLine;
    static_assert(offsetof(Head, txn_id) == 8 + sizeof(pthread_mutex_t) &&
                  offsetof(Head, writer_mutex) == kWriter && sizeof(Head) == kWriter + kCacheLine);
}

void LockFile::Unmap::operator()(Head* head) const noexcept {
    const std::lock_guard lock(open_files().mutex);
    open_files().heads.erase(head);
    ::munmap(head, sizeof(Head));
}

Result<LockFile> LockFile::open(const std::filesystem::path& path) {
    const Result<Fd> fd = open_plain(path, O_RDWR);
    if (!fd) {
        return fd.error();
    }
    if (Status free = wait_for_file(fd->get(), path); !free) {
        return free.error();
    }
    struct stat info {};
    void* head = MAP_FAILED;
    if (::fstat(fd->get(), &info) != 0 ||
        (head = ::mmap(nullptr, sizeof(Head), PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0)) ==
            MAP_FAILED) {
        return system_error(errno, "map", path);
    }
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    LockFile file(static_cast<Head*>(head), bytes);
    const bool in_use = is_in_use(fd->get());
    const bool whole = bytes >= sizeof(Head) + kCacheLine;
    const auto& words = *static_cast<const Head*>(head);
    if (in_use && whole && load(words.magic) == kLmdbMagic &&
        load(words.format) != kLmdbLockFormat) {
        return unsupported(
            "\"" + path.string() +
            "\" is in use by a process with another version of LMDB, and sluice needs "
            "LMDB 0.9; nothing is damaged, and nothing was changed: end that process");
    }
    if (in_use && (!whole || !file.is_sound())) {
        return corrupt("\"" + path.string() +
                       "\" is damaged, and should be the lock file of LMDB: it was not used, and "
                       "nothing was changed. Stop nginx, \"sluice worker\" and every other "
                       "sluice program; the first that starts again initializes it");
    }
    const std::lock_guard lock(open_files().mutex);
    open_files().heads.emplace(head, path);
    return file;
}

int& LockFile::word_of(Head& head, Mutex mutex) noexcept {
    return mutex == Mutex::kWriter ? head.writer_mutex.__data.__lock
                                   : head.readers_mutex.__data.__lock;
}

pid_t LockFile::owner(const std::filesystem::path& path, Mutex mutex) {
    const std::lock_guard lock(open_files().mutex);
    for (const auto& [head, opened] : open_files().heads) {
        if (opened == path) {
            return load(word_of(*static_cast<Head*>(head), mutex)) & FUTEX_TID_MASK;
        }
    }
    return 0;
}

/// Waits as pthread_mutex_lock() does, and leaves the lock to LMDB, which repairs what a dead owner
/// left. Between the last look and LMDB's lock another process may take it; its hold is then waited
/// for without a limit.
int LockFile::wait_until_free(Mutex mutex, bool& woken) const noexcept {
    if (head_ == nullptr || waits_for_locks_without_limit()) {
        return 0;
    }
    int& word = word_of(*head_, mutex);
    int seen = load(word);
    if ((seen & FUTEX_TID_MASK) == 0) {
        return 0;
    }
    const Clock::time_point deadline = lock_deadline();
    for (; (seen & FUTEX_TID_MASK) != 0; seen = load(word)) {
        const timespec left = until(deadline);
        if (left.tv_sec < 0 || left.tv_nsec < 0) {
            return kLockHeld;
        }
        constexpr int kWaiters = static_cast<int>(FUTEX_WAITERS);
        const int awaited = seen | kWaiters;  // or the unlock would wake no thread
        if (seen != awaited && !__atomic_compare_exchange_n(&word, &seen, awaited, false,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            continue;
        }
        woken = ::syscall(SYS_futex, &word, FUTEX_WAIT, awaited, &left, nullptr, 0) == 0 || woken;
    }
    return 0;
}

/// An unlock wakes one thread. So the one that was woken notes that others may wait, or wakes the
/// next if it does not have the mutex: LMDB has released that of the readers before it returns. A
/// note in a mutex without an owner would be taken for one, and all would wait for ever.
void LockFile::pass_on(Mutex mutex) const noexcept {
    int& word = word_of(*head_, mutex);
    if ((load(word) & FUTEX_TID_MASK) == ::gettid()) {
        __atomic_fetch_or(&word, static_cast<int>(FUTEX_WAITERS), __ATOMIC_RELAXED);
    } else {
        ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    }
}

std::string holders_of_lock_file(const std::filesystem::path& path) {
    std::string text = holder_of_file(path);
    for (const auto mutex : {LockFile::Mutex::kWriter, LockFile::Mutex::kReaders}) {
        const pid_t thread = LockFile::owner(path, mutex);
        const pid_t pid = thread != 0 ? process_of(thread) : 0;
        if (thread == 0 || pid == ::getpid()) {
            continue;
        }
        const char* const what = mutex == LockFile::Mutex::kWriter ? "writer" : "readers'";
        text += (text.empty() ? "the " : ", the ") + std::string(what) + " lock of \"" +
                path.string() + "\" is held by " +
                (pid != 0 ? named(pid)
                          : "no process (it names thread " + std::to_string(thread) +
                                "): stop nginx and all sluice programs; the first that starts "
                                "again initializes it");
    }
    return text;
}

bool LockFile::is_sound() const noexcept {
    return head_ == nullptr ||
           (load(head_->magic) == kLmdbMagic && load(head_->readers) <= readers_max_ &&
            load(head_->readers_mutex.__data.__kind) == mutex_kind() &&
            load(head_->writer_mutex.__data.__kind) == mutex_kind());
}

}  // namespace sluice::store
