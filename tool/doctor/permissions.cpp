// Doctor: kinds, owners and access bits of the store's files and folders, and how they are mended.
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "core/values/shell_word.hpp"
#include "lmdb_store/registry/published.hpp"
#include "os/files/file_io.hpp"
#include "program/cli/output.hpp"
#include "tool/doctor/doctor.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kOthers = 0007;
constexpr unsigned kNotInGroup = 0027;
constexpr unsigned kGroupAndOthers = 0077;
constexpr unsigned kSharedBits = S_ISGID | S_ISVTX;

/// Kind, owner and mode that a file or folder of the store should have.
struct Expected {
    fs::path path;
    mode_t kind = S_IFREG;
    unsigned forbidden = kOthers;
    bool is_owned = true;              ///< Belongs to the owner of the store.
    std::optional<unsigned> children;  ///< Bits that are forbidden to the files of a folder.
    bool is_shared = false;            ///< nginx's workers create files in it.

    [[nodiscard]] unsigned right_mode(unsigned mode) const noexcept {
        const bool lacks = is_shared && (mode & S_IWGRP) != 0;
        return (mode & 07777U & ~forbidden) | (lacks ? kSharedBits : 0U);
    }
    [[nodiscard]] Expected child(const std::string& name) const {
        return {path / name, S_IFREG, *children, !is_shared, std::nullopt, false};
    }
};

std::vector<Expected> expected_files(const store::StorePaths& paths) {
    const auto folder = [](const fs::path& path, unsigned forbidden) {
        return Expected{path, S_IFDIR, forbidden, true, std::nullopt, false};
    };
    const auto file = [](const fs::path& path, unsigned forbidden) {
        return Expected{path, S_IFREG, forbidden, true, std::nullopt, false};
    };
    const auto shared = [](const fs::path& path) {
        return Expected{path, S_IFDIR, kOthers, true, kOthers, true};
    };
    const auto closed = [](const fs::path& path) {
        return Expected{path, S_IFDIR, kGroupAndOthers, true, kGroupAndOthers, false};
    };
    return {folder(paths.root, kNotInGroup),
            folder(paths.registry, kNotInGroup),
            file(paths.registry / "data.mdb", kGroupAndOthers),
            file(paths.registry / "lock.mdb", kGroupAndOthers),
            file(store::published_file(paths), kNotInGroup),
            file(store::generation_file(paths), kNotInGroup),
            folder(paths.queue, kNotInGroup),
            file(paths.queue / "data.mdb", kOthers),
            file(paths.queue / "lock.mdb", kOthers),
            file(paths.control, kOthers),
            shared(paths.bulk),
            shared(paths.lanes),
            closed(paths.ledger),
            closed(paths.archive)};
}

std::string octal(unsigned mode) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%04o", mode & 07777U);
    return text.data();
}

/// Reports what is not as it should be. No remedy acts on a name that may alternate meanwhile.
class PermissionCheck {
public:
    PermissionCheck(const store::StorePaths& paths, uid_t owner, Findings& findings)
        : paths_(paths), owner_(owner), findings_(findings) {}

    void look(const Expected& expected) {
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
        if (expected.is_owned && info.st_uid != owner_) {
            add(name + " belongs to " + user_name(info.st_uid) + " and should belong to " +
                    user_name(owner_) + ", the owner of the store",
                mend_command(paths_, expected.path));
        }
        const auto names = expected.children ? names_in(expected.path) : std::vector<std::string>();
        for (const std::string& child : names.ok() ? *names : std::vector<std::string>()) {
            look(expected.child(child));
        }
    }
    [[nodiscard]] bool clean() const noexcept { return clean_; }

private:
    bool inspect(const Expected& expected, struct stat& info) {
        const fs::path& path = expected.path;
        if (::lstat(path.c_str(), &info) != 0) {
            if (errno != ENOENT || expected.kind == S_IFDIR) {  // files come and go
                add(system_error(errno, "look at", path).message, "run doctor as root");
            }
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
    void add(std::string text, std::string remedy) {
        clean_ = false;
        findings_.push_back({"permissions", Health::kProblem, std::move(text), std::move(remedy)});
    }

    const store::StorePaths& paths_;
    uid_t owner_;
    Findings& findings_;
    bool clean_ = true;
};

// -- Mending --------------------------------------------------------------------------------------

std::optional<Expected> expected_of(const store::StorePaths& paths, const fs::path& path) {
    for (const Expected& each : expected_files(paths)) {
        if (each.path == path) {
            return each;
        }
        if (each.children && each.path == path.parent_path()) {
            return each.child(path.filename());
        }
    }
    return path == paths.command_key
               ? std::optional(Expected{path, S_IFREG, kGroupAndOthers, true, std::nullopt, false})
               : std::nullopt;
}

/// A file by descriptors: no name is looked up twice, and no link is followed.
struct Held {
    Fd folder;
    Fd file;
    struct stat info {};
};

Result<Held> hold(const fs::path& root, const fs::path& below) {
    constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Held held;
    held.file = Fd(::open(root.c_str(), kFolder));
    fs::path shown = root;
    for (auto part = below.begin(); held.file.ok() && part != below.end(); ++part) {
        shown /= *part;
        const bool is_last = std::next(part) == below.end();
        held.folder = std::move(held.file);
        held.file = Fd(::openat(held.folder.get(), part->c_str(),
                                is_last ? O_PATH | O_NOFOLLOW | O_CLOEXEC : kFolder));
    }
    if (!held.file.ok() || ::fstat(held.file.get(), &held.info) != 0) {
        return system_error(errno, "open", shown);
    }
    return held;
}

/// Moves away what is no file of the store.
Status set_aside(const Held& held, const fs::path& path) {
    const std::string name = path.filename();
    const std::string refused = name + ".refused";
    if (::renameat2(held.folder.get(), name.c_str(), held.folder.get(), refused.c_str(),
                    RENAME_NOREPLACE) != 0) {
        return system_error(errno, "move away", path);
    }
    std::printf("%s is %s.refused now\n", printable(path.native()).c_str(),
                printable(name).c_str());
    return Status::success();
}

Status mend_mode(const Held& held, const Expected& expected, uid_t owner) {
    const fs::path& path = expected.path;
    if (expected.is_owned && held.info.st_uid != owner &&
        ::fchownat(held.file.get(), "", owner, static_cast<gid_t>(-1), AT_EMPTY_PATH) != 0) {
        return system_error(errno, "change the owner of", path);
    }
    // After the owner, because that change clears bits. fchmod() takes no such descriptor.
    const unsigned right = expected.right_mode(held.info.st_mode);
    const std::string by_number = "/proc/self/fd/" + std::to_string(held.file.get());
    if (::chmod(by_number.c_str(), right) != 0) {
        return system_error(errno, "change the mode of", path);
    }
    std::printf("%s has mode %s%s\n", printable(path.native()).c_str(), octal(right).c_str(),
                expected.is_owned ? (" and belongs to " + user_name(owner)).c_str() : "");
    return Status::success();
}

}  // namespace

std::string user_name(uid_t user) {
    const passwd* const entry = ::getpwuid(user);
    return entry != nullptr ? entry->pw_name : std::to_string(user);
}

std::string mend_command(const store::StorePaths& paths, const fs::path& path) {
    const bool is_default = paths.root == kDefaultStore;
    return "sluice " + (is_default ? "" : "--store " + shell_word(paths.root.native()) + " ") +
           "doctor --mend " + shell_word(path.native());
}

void check_permissions(const store::StorePaths& paths, Findings& findings) {
    struct stat root {};
    std::error_code error;
    const store::StorePaths real(fs::canonical(paths.root, error));
    if (error || ::stat(real.root.c_str(), &root) != 0) {
        return;
    }
    PermissionCheck check(real, root.st_uid, findings);
    for (const Expected& each : expected_files(real)) {
        check.look(each);
    }
    if (check.clean()) {
        findings.push_back({"permissions", Health::kOk, "owners and modes are right"});
    }
}

Status mend(const store::StorePaths& paths, const fs::path& path) {
    std::error_code error;
    const store::StorePaths real(fs::canonical(paths.root, error));
    if (error) {
        return system_error(error.value(), "open", paths.root);
    }
    const fs::path given = fs::absolute(path).lexically_normal();
    const fs::path below = given.lexically_relative(fs::absolute(paths.root).lexically_normal());
    const bool is_below = !below.empty() && *below.begin() != "..";
    const fs::path wanted = is_below && below != "." ? real.root / below : given;
    const auto expected = expected_of(real, is_below && below == "." ? real.root : wanted);
    if (!expected) {
        return Error{ErrorCode::kInvalid,
                     "\"" + path.string() +
                         "\" is no file of the store whose owner and mode doctor checks; nothing "
                         "was changed"};
    }
    const fs::path inside = expected->path.lexically_relative(real.root);
    struct stat root {};
    if (::stat(real.root.c_str(), &root) != 0) {
        return system_error(errno, "inspect", real.root);
    }
    const auto held = hold(real.root, inside == "." ? fs::path() : inside);
    if (!held.ok()) {
        return held.error();
    }
    if ((held->info.st_mode & S_IFMT) != expected->kind) {
        return set_aside(*held, expected->path);
    }
    if (expected->kind == S_IFREG && held->info.st_nlink != 1) {
        return Error{ErrorCode::kPermission,
                     "\"" + path.string() +
                         "\" has further names (hard links); nothing was changed. Find out who "
                         "made them"};
    }
    return mend_mode(*held, *expected, root.st_uid);
}

}  // namespace sluice::cli
