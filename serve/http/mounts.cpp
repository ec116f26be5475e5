#include "serve/http/mounts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "lmdb_store/destinations/destination_store.hpp"

namespace sluice::serve {
namespace {

/// Returns 0, or the error of opening the file as the effective user.
int error_of(const std::string& path, int mode) {
    return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ? 0 : errno;
}

}  // namespace

Mounts::Mounts(const store::StorePaths& paths) {
    const std::string lock = paths.ledger / "lock.mdb";
    if (error_of(lock, W_OK) == 0) {
        locks_.push_back(lock);
        // The first destination makes it; the process then ends, and its next start may write it.
        locks_.push_back(store::DestinationPaths(paths).folder / "lock.mdb");
    }
    for (const auto& path :
         {paths.master_key, paths.command_key, store::DestinationPaths(paths).key, paths.archive,
          paths.exports, paths.snapshots, paths.registry / "data.mdb", paths.queue / "data.mdb",
          paths.queue / "lock.mdb", paths.bulk, paths.lanes}) {
        if (error_of(path, R_OK) == EACCES) {
            closed_.push_back(path);
        }
    }
}

std::string Mounts::lost() const {
    const auto first = [](const std::vector<std::string>& paths, int mode, int error) {
        const auto found = std::ranges::find(
            paths, error, [mode](const std::string& path) { return error_of(path, mode); });
        return found == paths.end() ? std::string() : *found;
    };
    const std::string lock = first(locks_, W_OK, EROFS);
    return lock.empty() ? first(closed_, R_OK, 0) : lock;
}

}  // namespace sluice::serve
