#include "lmdb_store/environment/lock_file.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <map>
#include <mutex>

#include "lmdb_store/environment/lmdb_format.hpp"
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

template <class Number>
Number load(const Number& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);  // other processes write to it
}

/// The lock files that this process has open. Never destroyed, because threads may use it while the
/// process exits.
struct OpenFiles {
    std::mutex mutex;
    std::map<const void*, std::filesystem::path> heads;
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

LockFile::LockFile(const Head* head, std::uint64_t bytes) noexcept
    : head_(head), readers_max_(bytes / kCacheLine - sizeof(Head) / kCacheLine) {
    constexpr std::uint64_t kWriter = sizeof(pthread_mutex_t) == 40 ? kCacheLine : 2 * kCacheLine;
    static_assert(offsetof(Head, txn_id) == 8 + sizeof(pthread_mutex_t) &&
                  offsetof(Head, writer_mutex) == kWriter && sizeof(Head) == kWriter + kCacheLine);
}

void LockFile::Unmap::operator()(const Head* head) const noexcept {
    const std::lock_guard lock(open_files().mutex);
    open_files().heads.erase(head);
    ::munmap(const_cast<Head*>(head), sizeof(Head));
}

Result<LockFile> LockFile::open(const std::filesystem::path& path) {
    const Result<Fd> fd = open_plain(path, O_RDONLY);
    if (!fd) {
        return fd.error();
    }
    struct stat info {};
    void* head = MAP_FAILED;
    if (::fstat(fd->get(), &info) != 0 ||
        (head = ::mmap(nullptr, sizeof(Head), PROT_READ, MAP_SHARED, fd->get(), 0)) == MAP_FAILED) {
        return system_error(errno, "map", path);
    }
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    LockFile file(static_cast<const Head*>(head), bytes);
    const bool in_use = is_in_use(fd->get());
    const bool whole = bytes >= sizeof(Head) + kCacheLine;
    const auto& words = *static_cast<const Head*>(head);
    if (in_use && whole && load(words.magic) == kLmdbMagic &&
        load(words.format) != kLmdbLockFormat) {
        return Error{ErrorCode::kUnsupported,
                     "\"" + path.string() +
                         "\" is in use by a process with another version of LMDB, and sluice needs "
                         "LMDB 0.9; nothing is damaged, and nothing was changed: end that process"};
    }
    if (in_use && (!whole || !file.is_sound())) {
        return Error{ErrorCode::kCorrupt,
                     "\"" + path.string() +
                         "\" is damaged, and should be the lock file of LMDB: it was not used, and "
                         "nothing was changed. Stop nginx, \"sluice worker\" and every other "
                         "sluice program; the first that starts again initializes it"};
    }
    const std::lock_guard lock(open_files().mutex);
    open_files().heads.emplace(head, path);
    return file;
}

pid_t writer_thread(const std::filesystem::path& path) {
    constexpr int kThread = 0x3FFFFFFF;  // FUTEX_TID_MASK: a robust mutex holds its owner's thread
    const std::lock_guard lock(open_files().mutex);
    for (const auto& [head, opened] : open_files().heads) {
        if (opened == path) {
            const auto* file = static_cast<const LockFile::Head*>(head);
            return load(file->writer_mutex.__data.__lock) & kThread;
        }
    }
    return 0;
}

bool LockFile::is_sound() const noexcept {
    return head_ == nullptr ||
           (load(head_->magic) == kLmdbMagic && load(head_->readers) <= readers_max_ &&
            load(head_->readers_mutex.__data.__kind) == mutex_kind() &&
            load(head_->writer_mutex.__data.__kind) == mutex_kind());
}

}  // namespace sluice::store
