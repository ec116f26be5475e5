#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "lmdb_store/environment/lmdb_version.hpp"
#include "lmdb_store/registry/published.hpp"
#include "ngx_module/conf/directives.hpp"

namespace sluice::ngx {
namespace {

namespace fs = std::filesystem;

struct Identity {
    std::string user;
    uid_t uid;
    gid_t gid;
    std::vector<gid_t> groups;
};

struct Need {
    fs::path path;
    int mode;  ///< As for access().
    const char* verb;
};

/// Returns the identity of nginx's workers after setuid(), setgid() and initgroups().
Identity worker_identity(const ngx_core_conf_t& core) {
    const bool stays_itself = geteuid() != 0 || core.master == 0;  // without a master: no setuid()
    if (stays_itself || core.user == static_cast<ngx_uid_t>(NGX_CONF_UNSET_UINT)) {
        const passwd* self = getpwuid(geteuid());
        return {
            self != nullptr ? self->pw_name : std::to_string(geteuid()), geteuid(), getegid(), {}};
    }
    Identity identity{
        core.username, static_cast<uid_t>(core.user), static_cast<gid_t>(core.group), {}};
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

std::string denied(const Identity& identity, const fs::path& path, const char* verb, int error) {
    if (error == ENOENT || error == ENOTDIR) {
        return "\"" + path.string() +
               "\" does not exist: make a store with \"sluice init\"; if this " +
               "was one, see \"sluice doctor\"";
    }
    if (error == EROFS) {
        return "\"" + path.string() + "\" is on a read-only file system: mount it writable";
    }
    return "user \"" + identity.user + "\" may not " + verb + " \"" + path.string() + "\" (" +
           std::strerror(error) +
           "): add that user to the store's group, or set \"user\" to one that is in it";
}

/// Finds the first directory on the way to `path` that denies access.
std::optional<std::string> check_parents(const Identity& identity, const fs::path& path) {
    fs::path walked;
    for (const fs::path& part : path.parent_path()) {
        walked /= part;
        if (!allowed(walked, X_OK)) {
            return denied(identity, walked, "pass through", errno);
        }
    }
    return std::nullopt;
}

std::optional<std::string> check_needs(const Identity& identity, const std::vector<Need>& needs) {
    for (const Need& need : needs) {
        if (std::optional<std::string> problem = check_parents(identity, need.path)) {
            return problem;
        }
        if (!allowed(need.path, need.mode)) {
            return denied(identity, need.path, need.verb, errno);
        }
    }
    return std::nullopt;
}

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
        problem = check_needs(identity, needs);
        problem = problem ? problem : check_lmdb(paths);
    });
    looker.join();
    return problem;
}

}  // namespace sluice::ngx
