#include "lmdb_store/environment/reaction.hpp"

#include <lmdb.h>

#include <cerrno>

#include "os/files/file_io.hpp"

namespace sluice::store {

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
