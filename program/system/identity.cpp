#include "program/system/identity.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "core/values/actor.hpp"
#include "core/values/shell_word.hpp"
#include "os/files/file_io.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kPasswordsBytesMax = 1U << 20;

/// Returns the user who logged in, or nothing for a service.
std::optional<uid_t> login_user() {
    constexpr uid_t kUnset = static_cast<uid_t>(-1);
    std::ifstream file("/proc/self/loginuid");
    uid_t user = kUnset;
    return file >> user && user != kUnset ? std::optional(user) : std::nullopt;
}

std::string name_of(uid_t user) {
    const passwd* const entry = ::getpwuid(user);
    return entry != nullptr ? entry->pw_name : "uid " + std::to_string(user);
}

/// Copies root's `~/.pgpass` to memory that `owner` may read, and names it to libpq.
void keep_passwords(uid_t owner) {
    const char* const home = std::getenv("HOME");
    if (std::getenv("PGPASSFILE") != nullptr || home == nullptr) {
        return;
    }
    const auto passwords = read_file(std::string(home) + "/.pgpass", kPasswordsBytesMax);
    if (!passwords.ok()) {
        return;
    }
    const int memory = ::memfd_create("pgpass", MFD_CLOEXEC);
    if (memory >= 0 && write_all(memory, *passwords) == 0 && ::fchmod(memory, 0600) == 0 &&
        ::fchown(memory, owner, static_cast<gid_t>(-1)) == 0) {
        const std::string name = "/proc/self/fd/" + std::to_string(memory);  // open until the end
        ::setenv("PGPASSFILE", name.c_str(), 1);
    }
}

/// Requires: the process is root's. Returns false and sets errno if root's rights are left.
bool take_identity(const struct stat& owner, const passwd* user) {
    const int groups =
        user != nullptr ? ::initgroups(user->pw_name, owner.st_gid) : ::setgroups(0, nullptr);
    if (groups != 0 || ::setresgid(owner.st_gid, owner.st_gid, owner.st_gid) != 0 ||
        ::setresuid(owner.st_uid, owner.st_uid, owner.st_uid) != 0 ||
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return false;
    }
    errno = EPERM;
    return ::setuid(0) != 0;  // else a capability was kept
}

/// Returns true if a user may enter `folder`. Requires: root.
bool can_enter(const std::filesystem::path& folder, uid_t user, gid_t group) {
    if (::setegid(group) != 0 || ::seteuid(user) != 0) {
        return false;
    }
    const bool can = ::faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) == 0;
    return ::seteuid(0) == 0 && ::setegid(0) == 0 && can;
}

}  // namespace

Status become_new_owner(const std::filesystem::path& store,
                        const std::optional<std::string>& group) {
    const passwd* const user = ::geteuid() == 0 ? ::getpwnam("sluice") : nullptr;
    const std::filesystem::path above = std::filesystem::absolute(store).parent_path();
    std::error_code failure;
    std::filesystem::create_directories(above, failure);
    if (failure) {
        return system_error(failure.value(), "create", above);
    }
    if (user == nullptr || !can_enter(above, user->pw_uid, user->pw_gid)) {
        return Status::success();
    }
    const struct group* const members = group ? ::getgrnam(group->c_str()) : nullptr;
    if (group && members == nullptr) {
        return not_found("there is no group \"" + *group + "\"");
    }
    Status made =
        make_folder_for(store, user->pw_uid, members != nullptr ? members->gr_gid : user->pw_gid);
    return made ? become_owner_of(store) : made;
}

bool leaves_root_for(const std::filesystem::path& folder) {
    struct stat owner {};
    return ::geteuid() == 0 && ::stat(folder.c_str(), &owner) == 0 && owner.st_uid != 0;
}

Status become_owner_of(const std::filesystem::path& folder) {
    struct stat owner {};
    if (::geteuid() != 0 || ::stat(folder.c_str(), &owner) != 0 || owner.st_uid == 0) {
        return Status::success();
    }
    static_cast<void>(current_user());  // root's name, before it changes
    keep_passwords(owner.st_uid);
    const passwd* const user = ::getpwuid(owner.st_uid);
    if (!take_identity(owner, user)) {
        return system_error(errno, "become the owner of", folder);
    }
    if (user != nullptr) {
        ::setenv("HOME", user->pw_dir, 1);
    }
    if (::access(folder.c_str(), R_OK | X_OK) != 0) {
        return Error{ErrorCode::kPermission,
                     "\"" + folder.string() + "\" belongs to user " + name_of(owner.st_uid) +
                         ", who cannot enter it: a program that root starts works on a store as "
                         "its owner. Move the store to a folder that this user can enter, or give "
                         "it to root: chown -hR root " +
                         shell_word(folder.native())};
    }
    return Status::success();
}

Status make_folder_for(const std::filesystem::path& folder, uid_t user, gid_t group) {
    std::error_code ignored;  // mkdir() says why
    std::filesystem::create_directories(folder.parent_path(), ignored);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_error(errno, "create", folder);
    }
    const Fd opened(open_retrying(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    struct stat info {};
    if (!opened.ok() || ::fstat(opened.get(), &info) != 0) {
        return system_error(errno, "open", folder);
    }
    const auto names = names_in("/proc/self/fd/" + std::to_string(opened.get()));
    if (info.st_uid != 0 || !names.ok() || !names->empty()) {
        return names.ok() ? Status::success() : Status(names.error());
    }
    return ::fchown(opened.get(), user, group) == 0
               ? Status::success()
               : Status(system_error(errno, "set the owner of", folder));
}

std::string current_user() {
    static const std::string name = [] {
        const std::optional<uid_t> login = login_user();
        return login ? name_of(*login) : name_of(::getuid()) + std::string(kNoLogin);
    }();
    return name;
}

}  // namespace sluice::cli
