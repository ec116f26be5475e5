// Owner and mode of a file, where chown() may be refused.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace sluice {

/// Returns whether the file has this user and group. The filters of systemd's units refuse chown(),
/// also a call that changes nothing. -1 matches each of them, as it keeps them in chown().
[[nodiscard]] bool has_owner(const struct stat& info, uid_t user, gid_t group) noexcept;

/// Sets the owner of an open file, unless it has it, then the mode, because chown clears the
/// set-group-id bit.
///
/// @return 0 or an errno.
[[nodiscard]] int set_owner(int fd, uid_t user, gid_t group, mode_t mode) noexcept;

}  // namespace sluice
