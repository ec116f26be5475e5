// The meaning of LMDB's codes, and the remedy of each.
#include <cerrno>
#include <filesystem>
#include <string>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/lock_file.hpp"
#include "lmdb_store/environment/lock_wait.hpp"

namespace sluice::store {
namespace fs = std::filesystem;

namespace {

ErrorCode code_of(int rc) noexcept {
    switch (rc) {
        case MDB_MAP_FULL:
        case MDB_TXN_FULL:
            return ErrorCode::kFull;
        case MDB_PANIC:  // a meta page could not be written; the process must restart
            return ErrorCode::kIo;
        case MDB_CORRUPTED:
        case MDB_PAGE_NOTFOUND:
        case MDB_INVALID:
        case MDB_INCOMPATIBLE:
        case kLockFileDamaged:
            return ErrorCode::kCorrupt;
        case MDB_VERSION_MISMATCH:
            return ErrorCode::kUnsupported;
        case MDB_READERS_FULL:
        case MDB_MAP_RESIZED:
        case kLockHeld:
            return ErrorCode::kBusy;
        case MDB_NOTFOUND:
            return ErrorCode::kNotFound;
        default:  // an errno, or a bug of ours, such as a bad transaction
            return code_of_errno(rc);
    }
}

const char* remedy_of(int rc) noexcept {
    if (rc == EAGAIN) {  // LMDB could not register this process as a reader
        return "; a process of another PID namespace has the same process id: repeat the command, "
               "in the container of nginx if there is one";
    }
    switch (code_of(rc)) {
        case ErrorCode::kIo:
            return "; check the disk, then restart this process";
        case ErrorCode::kCorrupt:
            return "; nothing was changed: stop everything that uses it and restore it from a "
                   "backup";
        case ErrorCode::kUnsupported:
            return "; it was written by another version of LMDB";
        default:
            return "";
    }
}

}  // namespace

Error lmdb_error(int rc, std::string_view doing, const fs::path& path) {
    if (rc == kLockFileDamaged) {
        return {ErrorCode::kCorrupt,
                "cannot " + std::string(doing) + " \"" + path.string() +
                    "\": another process damaged its lock.mdb; nothing was changed. Stop nginx, "
                    "\"sluice worker\" and every other sluice program; the first that starts again "
                    "initializes it"};
    }
    if (rc == kLockHeld) {
        const std::string holders = holders_of_lock_file(path / "lock.mdb");
        return {ErrorCode::kBusy, "cannot " + std::string(doing) + " \"" + path.string() +
                                      "\", because " +
                                      (holders.empty() ? "another process had its lock" : holders) +
                                      "; nothing was changed"};
    }
    return {code_of(rc), "cannot " + std::string(doing) + " \"" + path.string() +
                             "\": " + mdb_strerror(rc) + remedy_of(rc)};
}

}  // namespace sluice::store
