#include "worker/drain/worker_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

namespace sluice::worker {
namespace {

/// Reads the digits of the holder's pid, which it may not have written yet.
std::string holder_of(int file) {
    std::array<char, 32> text{};
    const ssize_t bytes = ::pread(file, text.data(), text.size(), 0);
    std::string pid(text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    pid.erase(pid.find_last_not_of('\n') + 1);
    return pid.empty() ? "unknown" : pid;
}

/// Returns no descriptor if the folder is missing: a worker applies without its archive.
Result<Fd> open_folder(const store::StorePaths& paths) {
    Fd folder(open_retrying(paths.archive.c_str(), O_RDONLY | O_DIRECTORY));
    return folder.ok() || errno == ENOENT ? Result<Fd>(std::move(folder))
                                          : system_error(errno, "open", paths.archive);
}

/// Locks an open file or folder, and never waits. Returns whether no other process holds it.
Result<bool> locked(const Fd& file, int how, const std::filesystem::path& path) {
    if (!file.ok() || ::flock(file.get(), how | LOCK_NB) == 0) {
        return true;
    }
    return errno == EWOULDBLOCK ? Result<bool>(false) : system_error(errno, "lock", path);
}

/// Makes a missing file again if the folder is locked, which says that no worker runs: one whose
/// file was removed still holds the folder.
Result<Fd> open_or_remake(const std::filesystem::path& path, const Fd& folder) {
    Result<Fd> opened = open_plain(path, O_RDWR);
    if (opened || opened.error().code != ErrorCode::kNotFound || !folder.ok()) {
        return opened;
    }
    Fd made(open_retrying(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    return made.ok() ? Result<Fd>(std::move(made)) : system_error(errno, "create", path);
}

Error is_running(const std::string& pid) {
    return {ErrorCode::kBusy, "a worker is running on this store (pid " + pid +
                                  "): there can be only one, stop that one first"};
}

/// Returns the pid in the file, or "unknown".
std::string pid_in(const std::filesystem::path& path) {
    const Result<Fd> file = open_plain(path, O_RDONLY);
    return file ? holder_of(file->get()) : "unknown";
}

}  // namespace

Result<std::optional<std::uint64_t>> WorkerLock::holder(const store::StorePaths& paths) {
    const auto folder = open_folder(paths);
    const auto free =
        folder ? locked(*folder, LOCK_SH, paths.archive) : Result<bool>(folder.error());
    if (!free) {
        return free.error();
    }
    const Result<Fd> file = open_plain(paths.worker_lock, O_RDONLY);
    const bool is_missing = !file && file.error().code == ErrorCode::kNotFound;
    if (!file && !is_missing) {
        return file.error();
    }
    const auto both = *free && file ? locked(*file, LOCK_SH, paths.worker_lock) : free;
    if (!both) {
        return both.error();
    }
    if (*both) {
        return std::optional<std::uint64_t>();
    }
    const std::string pid = file ? holder_of(file->get()) : "unknown";
    return std::optional<std::uint64_t>(std::strtoull(pid.c_str(), nullptr, 10));
}

Result<WorkerLock> WorkerLock::take_soon(const store::StorePaths& paths) {
    constexpr int kTries = 10;
    constexpr std::chrono::milliseconds kBetween{20};
    Result<WorkerLock> taken = take(paths);
    for (int i = 1; i < kTries && !taken && taken.error().code == ErrorCode::kBusy; ++i) {
        std::this_thread::sleep_for(kBetween);
        taken = take(paths);
    }
    return taken;
}

Result<WorkerLock> WorkerLock::take(const store::StorePaths& paths) {
    const std::filesystem::path& path = paths.worker_lock;
    Result<Fd> folder = open_folder(paths);
    if (!folder) {
        return folder.error();
    }
    if (const auto held = locked(*folder, LOCK_EX, paths.archive); !held || !*held) {
        return held ? is_running(pid_in(path)) : held.error();
    }
    Result<Fd> opened = open_or_remake(path, *folder);
    if (!opened) {
        return opened.error();
    }
    Fd& file = *opened;
    if (const auto held = locked(file, LOCK_EX, path); !held || !*held) {
        return held ? is_running(holder_of(file.get())) : held.error();
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    // The pid is only for people. The lock is held even if a full disk prevents writing it.
    const bool empty = ::ftruncate(file.get(), 0) == 0;
    const ssize_t written = empty ? ::pwrite(file.get(), pid.data(), pid.size(), 0) : 0;
    static_cast<void>(written);
    return WorkerLock(std::move(*folder), std::move(file));
}

}  // namespace sluice::worker
