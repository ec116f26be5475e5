#include "os/files/file_owner.hpp"

#include <unistd.h>

#include <cerrno>

namespace sluice {

bool has_owner(const struct stat& info, uid_t user, gid_t group) noexcept {
    return (user == static_cast<uid_t>(-1) || user == info.st_uid) &&
           (group == static_cast<gid_t>(-1) || group == info.st_gid);
}

int set_owner(int fd, uid_t user, gid_t group, mode_t mode) noexcept {
    struct stat info {};
    const bool is_owned = ::fstat(fd, &info) == 0 && has_owner(info, user, group);
    if (!is_owned && ::fchown(fd, user, group) != 0) {
        return errno;
    }
    return ::fchmod(fd, mode) == 0 ? 0 : errno;
}

}  // namespace sluice
