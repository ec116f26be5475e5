#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/values/shell_word.hpp"
#include "lmdb_store/environment/lmdb_version.hpp"
#include "lmdb_store/links/published_file.hpp"
#include "lmdb_store/registry/published.hpp"
#include "ngx_module/conf/directives.hpp"

namespace sluice::ngx {
namespace {

namespace fs = std::filesystem;

struct Identity {
    std::string user;
    uid_t uid;
    gid_t gid;
    std::vector<gid_t> groups{};
    bool is_default = false;  ///< nginx sets its default user after it has read the configuration.
};

struct Need {
    fs::path path;
    int mode;  ///< As for access().
    const char* verb;
};

/// Returns the identity of nginx's workers after setuid(), setgid() and initgroups().
Identity worker_identity(const ngx_core_conf_t& core) {
    const bool stays_itself = geteuid() != 0 || core.master == 0;  // without a master: no setuid()
    const bool is_default = core.user == static_cast<ngx_uid_t>(NGX_CONF_UNSET_UINT);
    if (stays_itself || is_default) {
        const passwd* self = getpwuid(geteuid());
        return {.user = self != nullptr ? self->pw_name : std::to_string(geteuid()),
                .uid = geteuid(),
                .gid = getegid(),
                .is_default = !stays_itself};
    }
    Identity identity{core.username, static_cast<uid_t>(core.user), static_cast<gid_t>(core.group)};
    int count = 64;
    identity.groups.resize(static_cast<std::size_t>(count));
    while (getgrouplist(core.username, identity.gid, identity.groups.data(), &count) < 0) {
        identity.groups.resize(static_cast<std::size_t>(count));
    }
    identity.groups.resize(static_cast<std::size_t>(count));
    return identity;
}

/// Changes the identity of the calling thread for file access; Linux has credentials by thread.
void become(const Identity& identity) {
    if (geteuid() != 0) {
        return;
    }
    syscall(SYS_setgroups, identity.groups.size(), identity.groups.data());
    setfsgid(identity.gid);
    setfsuid(identity.uid);
}

bool allowed(const fs::path& path, int mode) {
    // AT_EACCESS uses the file system ids of this thread, with ACLs and capabilities. A kernel
    // before 5.8 lacks this call; the workers then report a denied access at their start.
    return syscall(SYS_faccessat2, AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ||
           errno == ENOSYS;
}

std::string group_name(gid_t gid) {
    const group* const entry = getgrgid(gid);
    return entry != nullptr ? entry->gr_name : std::to_string(gid);
}

bool is_below(const fs::path& path, const fs::path& root) {
    return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

/// Looks for what keeps the workers from the files of a store, and names what helps.
class AccessCheck {
public:
    AccessCheck(const store::StorePaths& paths, const Identity& identity)
        : root_(paths.root), identity_(identity) {}

    [[nodiscard]] std::optional<std::string> find(const std::vector<Need>& needs) const {
        for (const Need& need : needs) {
            if (std::optional<std::string> problem = find_above(need.path)) {
                return problem;
            }
            if (!allowed(need.path, need.mode)) {
                return denied(need.path, need.verb, errno);
            }
        }
        return std::nullopt;
    }

private:
    /// Finds the first directory on the way to `path` that denies access.
    [[nodiscard]] std::optional<std::string> find_above(const fs::path& path) const {
        fs::path walked;
        for (const fs::path& part : path.parent_path()) {
            walked /= part;
            if (!allowed(walked, X_OK)) {
                return denied(walked, "pass through", errno);
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string denied(const fs::path& path, const char* verb, int error) const {
        const std::string name = "\"" + path.string() + "\"";
        if (error == ENOENT || error == ENOTDIR) {
            return name + (is_new() ? " does not exist: make a store with " +
                                          command("init" + group_option())
                                    : " is missing: " + doctor());
        }
        if (error == EROFS) {
            return name + " is on a read-only file system: mount it writable";
        }
        return "user \"" + identity_.user + "\" may not " + verb + " " + name + " (" +
               std::strerror(error) + "): " + access_remedy(path);
    }

    /// Returns true if there is no store, and nothing that `sluice init` would refuse.
    [[nodiscard]] bool is_new() const {
        std::error_code ignored;
        return !fs::exists(root_, ignored) || fs::is_empty(root_, ignored);
    }

    [[nodiscard]] std::string access_remedy(const fs::path& path) const {
        if (!is_below(path, root_)) {
            return "let it pass (chmod o+x " + shell_word(path.native()) +
                   "), or keep the store in another folder";
        }
        struct stat info {};
        const bool is_known = ::stat(root_.c_str(), &info) == 0;
        const bool has_group = is_known && (info.st_mode & S_IXGRP) != 0 && info.st_gid != 0;
        const bool is_member =
            info.st_gid == identity_.gid ||
            std::ranges::find(identity_.groups, info.st_gid) != identity_.groups.end();
        if (has_group && !is_member) {
            return "add it to the group of the store: `usermod -aG " + group_name(info.st_gid) +
                   " " + identity_.user + "`";
        }
        return has_group ? doctor() : "let its group in: " + command("store set" + group_option());
    }

    /// In quotes, because nginx appends file and line to a message.
    [[nodiscard]] std::string command(const std::string& words) const {
        return "`sluice --store " + shell_word(root_.native()) + " " + words + "`";
    }
    [[nodiscard]] std::string group_option() const {
        if (identity_.is_default) {
            return " --group GROUP";
        }
        return identity_.uid == 0 ? "" : " --group " + group_name(identity_.gid);
    }
    [[nodiscard]] std::string doctor() const { return command("doctor") + " names the remedy"; }

    fs::path root_;
    const Identity& identity_;
};

/// Returns why the worker processes cannot use the queue, whose LMDB is known before they open it.
std::optional<std::string> check_lmdb(const store::StorePaths& paths) {
    Status known = store::check_library();
    known = known ? store::check_format(paths.queue / "data.mdb") : known;
    return known ? std::nullopt : std::optional(known.error().message);
}

std::vector<Need> needs_of(const store::StorePaths& paths) {
    return {
        {paths.format, R_OK, "read"},
        {store::published_file(paths), R_OK, "read"},
        {store::generation_file(paths), R_OK, "read"},
        {store::links_generation_file(paths), R_OK, "read"},
        {paths.queue / "data.mdb", R_OK | W_OK, "write"},
        {paths.queue / "lock.mdb", R_OK | W_OK, "write"},
        {paths.control, R_OK | W_OK, "write"},
        {paths.bulk, R_OK | W_OK | X_OK, "create files in"},
    };
}

}  // namespace

std::optional<std::string> check_store_access(const store::StorePaths& paths,
                                              const ngx_core_conf_t& core) {
    const Identity identity = worker_identity(core);
    const std::vector<Need> needs = needs_of(paths);
    std::optional<std::string> problem;
    std::thread looker([&] {
        become(identity);
        problem = AccessCheck(paths, identity).find(needs);
        problem = problem ? problem : check_lmdb(paths);
    });
    looker.join();
    return problem;
}

std::string format_problem(const Error& error, const store::StorePaths& paths,
                           const ngx_core_conf_t& core) {
    const auto problem =
        error.code == ErrorCode::kNotFound ? check_store_access(paths, core) : std::nullopt;
    return problem ? *problem : error.message;
}

}  // namespace sluice::ngx
