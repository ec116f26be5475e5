// Doctor: kinds, owners and access bits of the store's files and folders.
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/values/shell_word.hpp"
#include "os/files/file_io.hpp"
#include "tool/doctor/doctor.hpp"
#include "tool/doctor/expected.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

std::string group_name(gid_t group) {
    const struct group* const entry = ::getgrgid(group);
    return entry != nullptr ? entry->gr_name : std::to_string(group);
}

/// Reports what is not as it should be. No remedy acts on a name that may alternate meanwhile.
class PermissionCheck {
public:
    PermissionCheck(const store::StorePaths& paths, const Owners& owners, Findings& findings)
        : paths_(paths), owners_(owners), findings_(findings) {}

    void visit(const Expected& expected) {
        struct stat info {};
        if (!inspect(expected, info)) {
            return;
        }
        const unsigned right = expected.right_mode(info.st_mode);
        const std::string& name = expected.path.native();
        if (right != (info.st_mode & 07777U)) {
            add(name + " has mode " + octal(info.st_mode) + " and should have " + octal(right),
                mend_command(paths_, expected.path));
        }
        if (expected.is_owned && info.st_uid != owners_.user) {
            add(name + " belongs to " + user_name(info.st_uid) + " and should belong to " +
                    user_name(owners_.user) + ", the owner of the store",
                mend_command(paths_, expected.path));
        }
        if (expected.is_of_group() && info.st_gid != owners_.group) {
            add(name + " is of the group " + group_name(info.st_gid) + " and should be of " +
                    group_name(owners_.group) + ", the group of the store",
                mend_command(paths_, expected.path));
        }
        if (!expected.children) {
            return;
        }
        for (const std::string& child : names_in(expected.path).value_or({})) {
            if (expected.path / child != paths_.lane_cells) {  // it has a row of its own
                visit(expected.child(child));
            }
        }
    }
    [[nodiscard]] bool clean() const noexcept { return clean_; }

private:
    bool inspect(const Expected& expected, struct stat& info) {
        const fs::path& path = expected.path;
        if (::lstat(path.c_str(), &info) != 0) {
            explain(expected, errno);
            return false;
        }
        if ((info.st_mode & S_IFMT) == expected.kind) {
            return true;
        }
        add(path.string() +
                (S_ISLNK(info.st_mode) ? " is a symbolic link" : " is of the wrong kind") +
                " and should be a " + (expected.kind == S_IFDIR ? "folder" : "regular file"),
            "find out who made it; " + mend_command(paths_, path));
        return false;
    }
    /// Files come and go. The folder of one that may not be looked at was reported before.
    void explain(const Expected& expected, int error) {
        const bool is_missing = error == ENOENT && expected.kind == S_IFDIR;
        if (is_missing && expected.is_remade) {
            add(expected.path.string() + " is missing; what was in it is in the backup",
                mend_command(paths_, expected.path));
        } else if (is_missing) {
            add(expected.path.string() + " is missing", kRestore);
        } else if (error != ENOENT && (clean_ || (error != ENOTDIR && error != EACCES))) {
            add(system_error(error, "look at", expected.path).message, access_remedy(paths_));
        }
    }
    void add(std::string text, std::string remedy) {
        clean_ = false;
        findings_.push_back({"permissions", Health::kProblem, std::move(text), std::move(remedy)});
    }

    const store::StorePaths& paths_;
    Owners owners_;
    Findings& findings_;
    bool clean_ = true;
};

}  // namespace

std::string user_name(uid_t user) {
    const passwd* const entry = ::getpwuid(user);
    return entry != nullptr ? entry->pw_name : std::to_string(user);
}

bool is_own_store(const store::StorePaths& paths) {
    struct stat info {};
    return ::stat(paths.root.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

std::string access_remedy(const store::StorePaths& paths) {
    return is_own_store(paths) || ::geteuid() == 0
               ? "mend what the rows \"permissions\" name; if there is none, the file system "
                 "forbids it: findmnt -T " +
                     shell_word(paths.root.native())
               : "run doctor as root or as the store's owner";
}

std::string sluice_command(const store::StorePaths& paths, const std::string& words) {
    const bool is_default = paths.root == kDefaultStore;
    return "sluice " + (is_default ? "" : "--store " + shell_word(paths.root.native()) + " ") +
           words;
}

std::string mend_command(const store::StorePaths& paths, const fs::path& path) {
    return sluice_command(paths, "doctor --mend " + shell_word(path.native()));
}

void check_permissions(const store::StorePaths& paths, Findings& findings) {
    struct stat root {};
    std::error_code error;
    const store::StorePaths real(fs::canonical(paths.root, error));
    if (error || ::stat(real.root.c_str(), &root) != 0) {
        return;
    }
    const Owners owners = owners_of(root);
    PermissionCheck check(real, owners, findings);
    for (const Expected& each : expected_files(real, owners.has_group)) {
        check.visit(each);
    }
    if (check.clean()) {
        findings.push_back({"permissions", Health::kOk, "owners and modes are right"});
    }
}

}  // namespace sluice::cli
