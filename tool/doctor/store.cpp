// Doctor: format, keys, disk, clock.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include <cerrno>
#include <filesystem>

#include "core/protocol/signature.hpp"
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

}  // namespace

std::string_view to_string(Health health) noexcept {
    switch (health) {
        case Health::kOk:
            return "ok";
        case Health::kNote:
            return "note";
        case Health::kProblem:
            return "problem";
    }
    return "problem";
}

void check_format(const store::StorePaths& paths, Findings& findings) {
    const auto format = store::read_store_format(paths);
    if (!format.ok()) {
        findings.push_back({"store", Health::kProblem, format.error().message,
                            format.error().code == ErrorCode::kNotFound
                                ? "see the message, or name another store with --store"
                            : format.error().code == ErrorCode::kPermission
                                ? "run doctor as root, or as the user that owns the store"
                                : "see the message"});
        return;
    }
    if (const Status writable = store::check_writable_format(*format); !writable.ok()) {
        findings.push_back({"store", Health::kProblem, writable.error().message,
                            "install the newer release again, or restore the backup from before "
                            "the upgrade"});
        return;
    }
    findings.push_back({"store", Health::kOk,
                        paths.root.string() + ", format " + std::to_string(format->format) +
                            "; a downgrade needs a release that writes format " +
                            std::to_string(format->min_writer) + " or later"});
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

void check_key(const store::StorePaths& paths, Findings& findings) {
    const auto key = store::MasterKey::load(paths.master_key);
    struct stat info {};
    const bool is_owner = ::lstat(paths.root.c_str(), &info) == 0 && info.st_uid == ::geteuid();
    if (!key.ok() && !is_owner && key.error().code == ErrorCode::kPermission) {
        findings.push_back({"key", Health::kNote, "only its owner can look at the master key",
                            "run doctor as root or as the store's owner"});
        return;
    }
    if (!key.ok()) {
        findings.push_back({"key", Health::kProblem, key.error().message,
                            "restore " + paths.master_key.string() +
                                " from the backup, owned by the store's owner, mode 0400"});
        return;
    }
    findings.push_back({"key", Health::kOk, "the master key is readable by its owner only"});
}

void check_command_key(const store::StorePaths& paths, Findings& findings) {
    const auto held = store::HeldCommandKeys::load(paths.command_key);
    struct stat info {};
    struct stat ledger {};
    if (!held.ok() && held.error().code == ErrorCode::kPermission && ::geteuid() != 0) {
        findings.push_back({"command key", Health::kNote, held.error().message,
                            "run doctor as root or as the store's owner"});
    } else if (!held.ok()) {
        findings.push_back({"command key", Health::kProblem, held.error().message,
                            "restore " + paths.command_key.string() +
                                " from the backup, owned by the worker's user, mode 0400"});
    } else if (::stat(paths.command_key.c_str(), &info) == 0 &&
               ::stat(paths.ledger.c_str(), &ledger) == 0 && info.st_uid != ledger.st_uid) {
        findings.push_back({"command key", Health::kProblem,
                            paths.command_key.string() + " belongs to " + user_name(info.st_uid) +
                                ", the ledger to " + user_name(ledger.st_uid),
                            mend_command(paths, paths.command_key)});
    } else {
        findings.push_back(
            {"command key", Health::kOk, "the command key is readable by its owner only"});
    }
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

void check_clock(const store::StorePaths& paths, Timestamp now, Findings& findings) {
    struct stat info {};
    if (::stat(paths.control.c_str(), &info) == 0 &&
        info.st_mtim.tv_sec > now.seconds + kClockBackSeconds) {
        findings.push_back({"clock", Health::kProblem,
                            "the clock is behind the store's last change",
                            "set the clock; limits, expiry and holds go by it"});
        return;
    }
    timex state{};
    if (::adjtimex(&state) == TIME_ERROR) {
        findings.push_back({"clock", Health::kNote,
                            "the kernel does not call the clock synchronised",
                            "run an NTP client (systemd-timesyncd, chrony)"});
        return;
    }
    findings.push_back({"clock", Health::kOk, "the clock is synchronised"});
}

}  // namespace sluice::cli
