#include "lmdb_store/environment/reaction.hpp"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "lmdb_store/environment/lock_wait.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kWriteRoomMin = 1U << 20;

bool disk_lacks_room(const std::filesystem::path& folder) noexcept {
    struct statvfs disk {};
    return ::statvfs(folder.c_str(), &disk) == 0 &&
           static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < kWriteRoomMin;
}

}  // namespace

Reaction reaction_to(int rc) noexcept {
    switch (rc) {
        case MDB_MAP_FULL:
        case MDB_TXN_FULL:
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return Reaction::kBackpressure;
        case MDB_READERS_FULL:
        case MDB_MAP_RESIZED:
        case kLockHeld:
        case ENOMEM:
        case EBUSY:
        case EAGAIN:
        case EINTR:  // from the first sync of a commit, before the page that commits
        case EMFILE:
        case ENFILE:
            return Reaction::kRetry;
        default:
            return Reaction::kLatch;
    }
}

Reaction reaction_to(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::kFull:
        case ErrorCode::kNoSpace:
            return Reaction::kBackpressure;
        case ErrorCode::kIo:
        case ErrorCode::kCorrupt:
        case ErrorCode::kUnsupported:
            return Reaction::kLatch;
        default:  // a file cannot be opened or locked now
            return Reaction::kRetry;
    }
}

bool disk_is_full(const std::filesystem::path& folder) noexcept {
    const Fd fd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (fd.ok() && ::fallocate(fd.get(), 0, 0, kWriteRoomMin) == 0) {
        return false;
    }
    // Otherwise the file system may not have O_TMPFILE or fallocate().
    return errno == ENOSPC || errno == EDQUOT || disk_lacks_room(folder);
}

Error disk_error(int error, std::string_view doing, const std::filesystem::path& path) {
    Error failed = system_error(error, doing, path);
    switch (reaction_to(error)) {
        case Reaction::kRetry:
            failed.code = ErrorCode::kBusy;
            break;
        case Reaction::kBackpressure:
            failed.code = ErrorCode::kNoSpace;
            break;
        case Reaction::kLatch:
            failed.code = ErrorCode::kIo;
            break;
    }
    return failed;
}

}  // namespace sluice::store
