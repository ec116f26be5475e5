#include "serve/http/socket_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace sluice::serve {

Status SocketFiles::make_room(const std::string& path, bool is_answered) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        return {};
    }
    if (!S_ISSOCK(info.st_mode) || is_answered) {
        return Error{ErrorCode::kBusy,
                     path + ": " + (is_answered ? "another server listens there" : "is no socket")};
    }
    ::unlink(path.c_str());
    return {};
}

Status SocketFiles::add(const std::string& path, const SocketGroups& groups) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        return Error{ErrorCode::kIo, path + ": was removed at once"};
    }
    files_.push_back({path, info.st_dev, info.st_ino});
    constexpr mode_t kMode = 0660;
    const bool is_given = std::ranges::any_of(groups, [&path](unsigned group) {
        return ::chown(path.c_str(), static_cast<uid_t>(-1), group) == 0;
    });
    return is_given && ::chmod(path.c_str(), kMode) == 0
               ? Status::success()
               : Status(Error{ErrorCode::kPermission,
                              path + ": cannot give the socket to nginx's group: the user of this "
                                     "program must be a member of it"});
}

void SocketFiles::remove() {
    for (const File& file : std::exchange(files_, {})) {
        struct stat info {};
        if (::lstat(file.path.c_str(), &info) == 0 && info.st_dev == file.device &&
            info.st_ino == file.inode) {
            ::unlink(file.path.c_str());
        }
    }
}

}  // namespace sluice::serve
