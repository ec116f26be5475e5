// Doctor: format, keys, disk, clock.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include <cerrno>
#include <filesystem>

#include "core/protocol/signature.hpp"
#include "core/values/shell_word.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/destinations/destination_store.hpp"
#include "lmdb_store/environment/lmdb_version.hpp"
#include "lmdb_store/store/command_key.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/files/file_io.hpp"
#include "tool/doctor/doctor.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFreeBytesMin = 1ull << 30;
constexpr std::int64_t kClockBackSeconds = 5;

std::string format_remedy(const store::StorePaths& paths, ErrorCode code) {
    std::error_code ignored;
    const bool is_new = !fs::exists(paths.root, ignored) || fs::is_empty(paths.root, ignored);
    switch (code) {
        case ErrorCode::kNotFound:
            return is_new
                       ? "make one with `" + sluice_command(paths, "init --group GROUP") +
                             "`, where GROUP is that of nginx's workers (Debian: www-data), or "
                             "name it with --store"
                       : std::string("name the store with --store; if this was one: ") + kRestore;
        case ErrorCode::kPermission:
            return is_own_store(paths) ? mend_command(paths, paths.format) : access_remedy(paths);
        case ErrorCode::kUnsupported:
            return "install the release of sluice that wrote the store";
        default:
            return kRestore;
    }
}

/// State of the file of a key, whatever is in it.
enum class KeyFile : std::uint8_t { kRight, kMissing, kToMend, kNotToBeSeen };

KeyFile look_at_key(const store::StorePaths& paths, const fs::path& key) {
    struct stat info {};
    struct stat root {};
    if (::lstat(key.c_str(), &info) != 0) {
        return errno == ENOENT ? KeyFile::kMissing : KeyFile::kNotToBeSeen;
    }
    const bool is_right = ::stat(paths.root.c_str(), &root) == 0 && S_ISREG(info.st_mode) &&
                          info.st_uid == root.st_uid && (info.st_mode & 0077U) == 0 &&
                          (info.st_mode & 0400U) != 0;
    return is_right ? KeyFile::kRight : KeyFile::kToMend;
}

std::string owner_text(const store::StorePaths& paths, const fs::path& key) {
    struct stat info {};
    struct stat root {};
    const bool is_known = ::stat(key.c_str(), &info) == 0 && ::stat(paths.root.c_str(), &root) == 0;
    return key.string() + (is_known ? " belongs to " + user_name(info.st_uid) + ", the store to " +
                                          user_name(root.st_uid)
                                    : " cannot be looked at");
}

/// @param otherwise  What helps if the file itself is as it should be, or is missing.
std::string key_remedy(const store::StorePaths& paths, const fs::path& key,
                       const std::string& otherwise) {
    switch (look_at_key(paths, key)) {
        case KeyFile::kToMend:
            return mend_command(paths, key);
        case KeyFile::kNotToBeSeen:
            return access_remedy(paths);
        case KeyFile::kRight:
        case KeyFile::kMissing:
            return otherwise;
    }
    return otherwise;
}

}  // namespace

Finding check_format(const store::StorePaths& paths) {
    const auto format = store::read_store_format(paths);
    if (!format.ok()) {
        return {"store", Health::kProblem, format.error().message,
                format_remedy(paths, format.error().code)};
    }
    if (const Status writable = store::check_writable_format(*format); !writable.ok()) {
        return {"store", Health::kProblem, writable.error().message,
                "install the newer release again, or restore the backup from before "
                "the upgrade"};
    }
    return {"store", Health::kOk,
            paths.root.string() + ", format " + std::to_string(format->format) +
                "; a downgrade needs a release that writes format " +
                std::to_string(format->min_writer) + " or later"};
}

bool check_lmdb(const store::StorePaths& paths, Findings& findings) {
    const std::size_t before = findings.size();
    const auto refuse = [&findings](const Status& known) {
        if (!known.ok() && known.error().code == ErrorCode::kUnsupported) {
            findings.push_back(
                {"lmdb", Health::kProblem, known.error().message,
                 "use the LMDB that wrote the store, 0.9: ldd and `dpkg -l liblmdb0` "
                 "show which one is installed"});
        }
    };
    refuse(store::check_library());
    for (const fs::path& folder :
         {paths.registry, paths.queue, paths.ledger, store::DestinationPaths(paths).folder}) {
        refuse(store::check_format(folder / "data.mdb"));
    }
    if (findings.size() == before) {
        findings.push_back(
            {"lmdb", Health::kOk, store::lmdb_name() + " wrote and reads the store"});
    }
    return findings.back().health == Health::kOk;
}

std::string copy_key(const store::StorePaths& paths, const fs::path& key) {
    struct stat root {};
    static_cast<void>(::stat(paths.root.c_str(), &root));
    return "copy it from the backup: install -o " + user_name(root.st_uid) + " -m 0400 BACKUP/" +
           key.filename().string() + " " + shell_word(key.native());
}

Finding check_key(const store::StorePaths& paths) {
    const auto key = store::MasterKey::load(paths.master_key);
    if (!key.ok() && !is_own_store(paths) && key.error().code == ErrorCode::kPermission) {
        return {"key", Health::kNote, "only its owner can look at the master key",
                access_remedy(paths)};
    }
    if (!key.ok()) {
        return {"key", Health::kProblem, key.error().message,
                key_remedy(paths, paths.master_key, copy_key(paths, paths.master_key))};
    }
    if (look_at_key(paths, paths.master_key) == KeyFile::kToMend) {
        return {"key", Health::kProblem, owner_text(paths, paths.master_key),
                mend_command(paths, paths.master_key)};
    }
    return {"key", Health::kOk, "the master key is readable by its owner only"};
}

Finding check_command_key(const store::StorePaths& paths) {
    const auto held = store::HeldCommandKeys::load(paths.command_key);
    if (!held.ok() && held.error().code == ErrorCode::kPermission && !is_own_store(paths)) {
        return {"command key", Health::kNote, held.error().message, access_remedy(paths)};
    }
    if (!held.ok()) {
        const std::string otherwise =
            copy_key(paths, paths.command_key) + "; without one, `" +
            sluice_command(paths, "key rotate") +
            "` makes a new key, and commands that wait become dead letters";
        return {"command key", Health::kProblem, held.error().message,
                key_remedy(paths, paths.command_key, otherwise)};
    }
    if (look_at_key(paths, paths.command_key) == KeyFile::kToMend) {
        return {"command key", Health::kProblem, owner_text(paths, paths.command_key),
                mend_command(paths, paths.command_key)};
    }
    return {"command key", Health::kOk, "the command key is readable by its owner only"};
}

void check_disk(const store::StorePaths& paths, Findings& findings) {
    struct statvfs info {};
    if (::statvfs(paths.root.c_str(), &info) != 0) {
        return;
    }
    const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
    const std::uint64_t all = std::uint64_t{info.f_blocks} * info.f_frsize;
    const std::string text =
        std::to_string(free >> 20u) + " of " + std::to_string(all >> 20u) + " MB are free";
    const bool scarce = free < kFreeBytesMin && free < all / 10;
    findings.push_back({"disk", scarce ? Health::kProblem : Health::kOk, text,
                        scarce ? "free some room: a full disk stops acceptance with 503" : ""});
}

void check_archive(const store::StorePaths& paths, Findings& findings) {
    const auto queues = store::archived_queues(paths.archive);
    if (queues.ok()) {
        findings.push_back({"archive", Health::kOk, "every segment of the archive has its head"});
    } else if (queues.error().code == ErrorCode::kCorrupt) {
        findings.push_back({"archive", Health::kProblem,
                            queues.error().message +
                                "; a rebuild refuses it, and while it is the newest segment, "
                                "the worker archives nothing",
                            "restore its bytes with `cat BACKUP/archive/SEGMENT > " +
                                shell_word(paths.archive.native()) +
                                "/SEGMENT`, where BACKUP is a backup that has it; without one: "
                                "docs/operations.md, A damaged archive"});
    }
}

Finding check_clock(const store::StorePaths& paths, Timestamp now) {
    struct stat info {};
    if (::stat(paths.control.c_str(), &info) == 0 &&
        info.st_mtim.tv_sec > now.seconds + kClockBackSeconds) {
        return {"clock", Health::kProblem, "the clock is behind the store's last change",
                "set the clock; limits, expiry and holds go by it"};
    }
    timex state{};
    if (::adjtimex(&state) == TIME_ERROR) {
        return {"clock", Health::kNote, "the kernel does not call the clock synchronised",
                "run an NTP client (systemd-timesyncd, chrony)"};
    }
    return {"clock", Health::kOk, "the clock is synchronised"};
}

}  // namespace sluice::cli
