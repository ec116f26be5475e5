#include "worker/serve/mounts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sluice::serve {
namespace {

/// Returns 0, or the error of opening the file as the effective user.
int error_of(const std::string& path, int mode) {
    return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ? 0 : errno;
}

}  // namespace

Mounts::Mounts(const store::StorePaths& paths) {
    const std::string lock = paths.ledger / "lock.mdb";
    lock_ = error_of(lock, W_OK) == 0 ? lock : "";
    for (const auto& path : {paths.master_key, paths.command_key, paths.archive, paths.exports,
                             paths.snapshots, paths.registry / "data.mdb", paths.queue / "data.mdb",
                             paths.queue / "lock.mdb", paths.bulk, paths.lanes}) {
        if (error_of(path, R_OK) == EACCES) {
            closed_.push_back(path);
        }
    }
}

std::string Mounts::lost() const {
    if (!lock_.empty() && error_of(lock_, W_OK) == EROFS) {
        return lock_;
    }
    const auto open = std::find_if(closed_.begin(), closed_.end(), [](const std::string& path) {
        return error_of(path, R_OK) == 0;
    });
    return open == closed_.end() ? std::string() : *open;
}

}  // namespace sluice::serve
