#include "worker/drain/worker_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace sluice::worker {
namespace {

/// What the holder wrote: digits. It may not have written it yet.
std::string holder_of(int file) {
    std::array<char, 32> text{};
    const ssize_t bytes = ::pread(file, text.data(), text.size(), 0);
    std::string pid(text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    pid.erase(pid.find_last_not_of('\n') + 1);
    return pid.empty() ? "unknown" : pid;
}

}  // namespace

Result<WorkerLock> WorkerLock::take(const store::StorePaths& paths) {
    const std::string path = paths.worker_lock.string();
    cli::UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file.valid()) {
        return cli::system_error(path, errno);
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            return cli::system_error(path, errno);
        }
        return Error{ErrorCode::kBusy, "a worker is running on this store (pid " +
                                           holder_of(file.get()) +
                                           "): there can be only one, stop that one first"};
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    // Only for people: the lock is held, whatever the file says. A full disk is no reason.
    const bool empty = ::ftruncate(file.get(), 0) == 0;
    const ssize_t written = empty ? ::pwrite(file.get(), pid.data(), pid.size(), 0) : 0;
    static_cast<void>(written);
    return WorkerLock(std::move(file));
}

}  // namespace sluice::worker
