#include "lmdb_store/environment/lock_wait.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kNoLimit = std::chrono::milliseconds::max();
thread_local std::chrono::milliseconds the_limit = kLockWaitMax;

/// A line of /proc/locks or of a descriptor's fdinfo.
struct LockLine {
    std::string kind;  ///< POSIX, OFDLCK or FLOCK.
    std::string mode;  ///< READ or WRITE.
    pid_t pid = 0;     ///< -1 for OFDLCK.
    ino_t inode = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// Parses "1: POSIX  ADVISORY  WRITE 123 08:01:456 0 0". Returns false for a lock that is waited
/// for.
bool parse(const std::string& line, LockLine& lock) {
    std::istringstream words(line);
    std::string number;
    std::string advisory;
    std::string file;
    std::string last;
    if (!(words >> number >> lock.kind >> advisory >> lock.mode >> lock.pid >> file >> lock.first >>
          last)) {
        return false;
    }
    constexpr std::uint64_t kEndOfFile = ~std::uint64_t{0};
    lock.last = last == "EOF" ? kEndOfFile : std::strtoull(last.c_str(), nullptr, 10);
    lock.inode = std::strtoull(file.c_str() + file.rfind(':') + 1, nullptr, 10);
    return lock.kind != "->";
}

ino_t inode_of(const fs::path& path) noexcept {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

/// Returns true if a descriptor of the process has a lock that covers `byte` of the file. /proc
/// shows it to the same user only.
bool has_lock(const fs::path& process, const fs::path& path, ino_t inode, std::uint64_t byte) {
    std::error_code denied;
    for (const fs::directory_entry& file : fs::directory_iterator(process / "fd", denied)) {
        std::error_code gone;
        if (fs::read_symlink(file.path(), gone) != path) {
            continue;
        }
        std::ifstream info(process / "fdinfo" / file.path().filename());
        for (std::string line; std::getline(info, line);) {
            LockLine lock;
            if (line.starts_with("lock:") && parse(line.substr(5), lock) && lock.inode == inode &&
                lock.first <= byte && byte <= lock.last) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

LockLimit::LockLimit(std::chrono::milliseconds limit) noexcept : before_(the_limit) {
    the_limit = limit;
}

LockLimit::LockLimit() noexcept : LockLimit(kNoLimit) {}

LockLimit::~LockLimit() {
    the_limit = before_;
}

Clock::time_point lock_deadline() noexcept {
    return waits_for_locks_without_limit() ? Clock::time_point::max() : steady_now() + the_limit;
}

bool waits_for_locks_without_limit() noexcept {
    return the_limit == kNoLimit;
}

std::string named(pid_t process) {
    if (process == 0) {
        return "another process";
    }
    std::ifstream file("/proc/" + std::to_string(process) + "/comm");
    std::string name;
    std::getline(file, name);
    return "process " + std::to_string(process) + (name.empty() ? "" : " (" + name + ")");
}

pid_t owner_of_open_file(const fs::path& path, std::uint64_t byte, pid_t likely, bool searches) {
    const ino_t inode = inode_of(path);
    std::error_code ignored;
    const fs::path real = fs::canonical(path, ignored);
    if (likely != 0 && has_lock("/proc/" + std::to_string(likely), real, inode, byte)) {
        return likely;
    }
    if (!searches) {
        return 0;
    }
    for (const fs::directory_entry& process : fs::directory_iterator("/proc", ignored)) {
        const long pid = std::strtol(process.path().filename().c_str(), nullptr, 10);
        if (pid > 0 && pid != ::getpid() && has_lock(process.path(), real, inode, byte)) {
            return static_cast<pid_t>(pid);
        }
    }
    return 0;
}

std::string holder_of_byte(const fs::path& path, int byte, pid_t likely, bool searches) {
    const Fd fd(open_retrying(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    struct flock lock = write_lock(byte, 1);
    if (!fd.ok() || ::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
        return {};
    }
    const pid_t pid = lock.l_pid > 0 ? lock.l_pid
                                     : owner_of_open_file(path, static_cast<std::uint64_t>(byte),
                                                          likely, searches);
    return pid == ::getpid() ? std::string()
                             : "byte " + std::to_string(byte) + " of \"" + path.string() +
                                   "\" is locked by " + named(pid);
}

std::string holder_of_file(const fs::path& path) {
    const ino_t inode = inode_of(path);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        LockLine lock;
        if (parse(line, lock) && lock.inode == inode && lock.kind != "FLOCK" &&
            lock.mode == "WRITE" && lock.first == 0 && lock.pid != ::getpid()) {
            const pid_t pid = lock.pid > 0 ? lock.pid : owner_of_open_file(path, 0, 0, true);
            return "\"" + path.string() + "\" is locked by " + named(pid);
        }
    }
    return {};
}

pid_t process_of(pid_t thread) {
    std::ifstream status("/proc/" + std::to_string(thread) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Tgid:")) {
            return static_cast<pid_t>(std::strtol(line.c_str() + 5, nullptr, 10));
        }
    }
    return 0;
}

}  // namespace sluice::store
