#include "worker/system/privileges.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/file_io.hpp"

namespace sluice::cli {
namespace {

/// Can the owner reach the store at all? If a folder above it is root's alone, only root uses the
/// store, and the process may stay root.
bool owner_can_enter(const store::StorePaths& paths, const struct stat& owner) {
    if (::setegid(owner.st_gid) != 0 || ::seteuid(owner.st_uid) != 0) {
        return false;
    }
    const bool can = ::faccessat(AT_FDCWD, paths.format.c_str(), R_OK, AT_EACCESS) == 0;
    return ::seteuid(0) == 0 && ::setegid(0) == 0 && can;
}

}  // namespace

Status become_store_owner(const store::StorePaths& paths) {
    struct stat info {};
    if (::geteuid() != 0 ||
        (::stat(paths.ledger.c_str(), &info) != 0 && ::stat(paths.root.c_str(), &info) != 0) ||
        info.st_uid == 0 || !owner_can_enter(paths, info)) {
        return Status::success();
    }
    // Its other groups too: the queue may belong to the group of the nginx workers.
    const passwd* const owner = ::getpwuid(info.st_uid);
    const int groups =
        owner != nullptr ? ::initgroups(owner->pw_name, info.st_gid) : ::setgroups(0, nullptr);
    if (groups != 0 || ::setgid(info.st_gid) != 0 || ::setuid(info.st_uid) != 0) {
        return system_error(errno, "become the owner of", paths.ledger);
    }
    return Status::success();
}

}  // namespace sluice::cli
