// Gives files and folders of a store their owner, group and mode.
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "core/values/shell_word.hpp"
#include "lmdb_store/lanes/cells.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "os/files/file_io.hpp"
#include "program/cli/output.hpp"
#include "program/system/identity.hpp"
#include "tool/doctor/doctor.hpp"
#include "tool/doctor/expected.hpp"
#include "worker/drain/worker_lock.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

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

/// Moves away what is no file of the store. In a folder of which doctor checks each entry it would
/// be found again, so from there it goes to the store's root.
Status set_aside(const store::StorePaths& real, const Held& held, const fs::path& path) {
    const std::string name = path.filename();
    const fs::path parent = path.parent_path();
    const auto folders = expected_files(real, true);
    const bool is_listed = std::ranges::any_of(
        folders, [&parent](const Expected& each) { return each.path == parent && each.children; });
    const fs::path refused = (is_listed ? real.root : parent) / (name + ".refused");
    const Fd root(::open(real.root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!root.ok() ||
        ::renameat2(held.folder.get(), name.c_str(), is_listed ? root.get() : held.folder.get(),
                    refused.filename().c_str(), RENAME_NOREPLACE) != 0) {
        return system_error(errno, "move away", path);
    }
    std::printf("%s is %s now\n", printable(path.native()).c_str(),
                printable(refused.native()).c_str());
    return Status::success();
}

Status mend_mode(const Held& held, const Expected& expected, const Owners& owners) {
    const fs::path& path = expected.path;
    const uid_t user = expected.is_owned ? owners.user : held.info.st_uid;
    const gid_t group = expected.is_of_group() ? owners.group : held.info.st_gid;
    if ((held.info.st_uid != user || held.info.st_gid != group) &&
        ::fchownat(held.file.get(), "", user, group, AT_EMPTY_PATH) != 0) {
        return system_error(errno, "change the owner of", path);
    }
    // After the owner, because that change clears bits. fchmod() takes no such descriptor.
    const unsigned right = expected.right_mode(held.info.st_mode);
    const std::string by_number = "/proc/self/fd/" + std::to_string(held.file.get());
    if (::chmod(by_number.c_str(), right) != 0) {
        return system_error(errno, "change the mode of", path);
    }
    return Status::success();
}

/// Returns true if it holds only hints, and has other contents: zeros are as good.
bool is_worn(const store::StorePaths& paths, const Expected& expected) {
    Status opened;
    if (expected.path == paths.control) {
        const auto control = store::ControlFile::open(paths);
        opened = control.ok() ? opened : control.error();
    } else if (expected.path == paths.lane_cells) {
        const auto cells = store::LaneCells::open(paths.lane_cells);
        opened = cells.ok() ? opened : cells.error();
    }
    return !opened.ok() && opened.error().code == ErrorCode::kCorrupt;
}

/// Makes a folder or a file of hints again. It works by names, so the caller has the rights of the
/// store's owner only.
Status remake(const store::StorePaths& paths, const Expected& expected, const Owners& owners) {
    const FileOwner owner{owners.user, owners.has_group ? owners.group : static_cast<gid_t>(-1),
                          static_cast<mode_t>(expected.required)};
    if (expected.path == paths.control) {
        return store::ControlFile::create(paths, owner);
    }
    if (expected.path == paths.lane_cells) {
        return store::LaneCells::create(paths.lane_cells, owner);
    }
    return ::mkdir(expected.path.c_str(), 0700) != 0
               ? Status(system_error(errno, "create", expected.path))
               : set_owner(expected.path, owner);
}

/// @param held  What lies there, or nullptr for nothing.
Status remake_hints(const store::StorePaths& paths, const Expected& expected, const Owners& owners,
                    const Held* held) {
    const auto holder = worker::WorkerLock::holder(paths);
    if (holder.ok() && *holder) {
        return Error{ErrorCode::kBusy, "the worker runs (pid " + std::to_string(**holder) +
                                           "): stop it and nginx first"};
    }
    if (Status became = become_owner_of(paths.root); !became.ok()) {
        return became;
    }
    if (held != nullptr && !is_worn(paths, expected)) {
        return Status::success();
    }
    Status made = remake(paths, expected, owners);
    if (made.ok()) {
        std::printf("%s is a new one\n", printable(expected.path.native()).c_str());
    }
    return made;
}

Result<Held> hold(const store::StorePaths& real, const Expected& expected) {
    const fs::path inside = expected.path.lexically_relative(real.root);
    auto held = hold(real.root, inside == "." ? fs::path() : inside);
    const bool is_file = held.ok() && expected.kind == S_IFREG && S_ISREG(held->info.st_mode);
    if (is_file && held->info.st_nlink != 1) {
        return Error{ErrorCode::kPermission,
                     "\"" + expected.path.string() +
                         "\" has further names (hard links); nothing was changed. Find out who "
                         "made them, and remove them: find / -xdev -samefile " +
                         shell_word(expected.path.native())};
    }
    return held;
}

Status mend_found(const store::StorePaths& real, const Expected& expected, const Owners& owners) {
    const auto held = hold(real, expected);
    if (!held.ok()) {
        const bool is_missing = held.error().code == ErrorCode::kNotFound;
        return is_missing && expected.is_remade ? remake_hints(real, expected, owners, nullptr)
                                                : Status(held.error());
    }
    if ((held->info.st_mode & S_IFMT) != expected.kind) {
        return set_aside(real, *held, expected.path);
    }
    if (Status mended = mend_mode(*held, expected, owners); !mended.ok()) {
        return mended;
    }
    std::printf("%s has mode %s%s\n", printable(expected.path.native()).c_str(),
                octal(expected.right_mode(held->info.st_mode)).c_str(),
                expected.is_owned ? (" and belongs to " + user_name(owners.user)).c_str() : "");
    return expected.is_remade && expected.kind == S_IFREG
               ? remake_hints(real, expected, owners, &*held)
               : Status::success();
}

Status give_group_to(const store::StorePaths& real, const Expected& expected,
                     const Owners& owners) {
    const auto held = hold(real, expected);
    if (!held.ok()) {  // the first change of the registry makes some files
        return held.error().code == ErrorCode::kNotFound ? Status::success() : Status(held.error());
    }
    if ((held->info.st_mode & S_IFMT) != expected.kind) {
        return conflict("\"" + expected.path.string() +
                        "\" is not what sluice made there: `sluice doctor` names the remedy");
    }
    return mend_mode(*held, expected, owners);
}

}  // namespace

Status mend(const store::StorePaths& paths, const fs::path& path) {
    std::error_code error;
    const store::StorePaths real(fs::canonical(paths.root, error));
    struct stat root {};
    if (error || ::stat(real.root.c_str(), &root) != 0) {
        return system_error(error ? error.value() : errno, "open", paths.root);
    }
    const fs::path given = fs::absolute(path).lexically_normal();
    const fs::path below = given.lexically_relative(fs::absolute(paths.root).lexically_normal());
    const bool is_below = !below.empty() && *below.begin() != "..";
    const fs::path wanted = is_below && below != "." ? real.root / below : given;
    const Owners owners = owners_of(root);
    const auto expected =
        expected_of(real, owners.has_group, is_below && below == "." ? real.root : wanted);
    if (!expected) {
        return invalid("\"" + path.string() +
                       "\" is no file of the store whose owner and mode doctor checks; nothing "
                       "was changed");
    }
    return mend_found(real, *expected, owners);
}

Status give_group(const store::StorePaths& paths, const std::string& name) {
    const struct group* const found = ::getgrnam(name.c_str());
    if (found == nullptr) {
        return not_found("there is no group \"" + name + "\"");
    }
    std::error_code error;
    const store::StorePaths real(fs::canonical(paths.root, error));
    struct stat root {};
    if (error || ::stat(real.root.c_str(), &root) != 0) {
        return system_error(error ? error.value() : errno, "open", paths.root);
    }
    const Owners owners{root.st_uid, found->gr_gid, true};
    std::vector<Expected> files = expected_files(real, true);
    for (const fs::path& shared : {real.bulk, real.lanes}) {
        for (const std::string& file : names_in(shared).value_or({})) {
            files.push_back({shared / file, S_IFREG, 0007, 0660, false, std::nullopt, false});
        }
    }
    std::ranges::reverse(files);  // the store's folder last: it lets the group in
    for (const Expected& each : files) {
        if (Status given = give_group_to(real, each, owners); !given.ok()) {
            return given;
        }
    }
    return Status::success();
}

}  // namespace sluice::cli
