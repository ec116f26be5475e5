#include "worker/drain/worker_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
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

}  // namespace

Result<std::optional<std::uint64_t>> WorkerLock::holder(const store::StorePaths& paths) {
    const std::string path = paths.worker_lock.string();
    const Result<Fd> opened = open_plain(path, O_RDONLY);
    if (!opened) {
        return opened.error();
    }
    const Fd& file = *opened;
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) {
        return std::optional<std::uint64_t>();
    }
    if (errno != EWOULDBLOCK) {
        return system_error(errno, "lock", path);
    }
    return std::optional<std::uint64_t>(std::strtoull(holder_of(file.get()).c_str(), nullptr, 10));
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
    const std::string path = paths.worker_lock.string();
    Result<Fd> opened = open_plain(path, O_RDWR);
    if (!opened) {
        return opened.error();
    }
    Fd& file = *opened;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            return system_error(errno, "lock", path);
        }
        return Error{ErrorCode::kBusy, "a worker is running on this store (pid " +
                                           holder_of(file.get()) +
                                           "): there can be only one, stop that one first"};
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    // The pid is only for people. The lock is held even if a full disk prevents writing it.
    const bool empty = ::ftruncate(file.get(), 0) == 0;
    const ssize_t written = empty ? ::pwrite(file.get(), pid.data(), pid.size(), 0) : 0;
    static_cast<void>(written);
    return WorkerLock(std::move(file));
}

}  // namespace sluice::worker
