#include "lmdb_store/queue/lock_holders.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "lmdb_store/environment/lock_file.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

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

/// Returns the process of a thread, or 0 if the thread is gone.
pid_t process_of(pid_t thread) {
    std::ifstream status("/proc/" + std::to_string(thread) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Tgid:")) {
            return static_cast<pid_t>(std::strtol(line.c_str() + 5, nullptr, 10));
        }
    }
    return 0;
}

std::string named(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(file, name);
    return "process " + std::to_string(pid) + (name.empty() ? "" : " (" + name + ")");
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

/// Returns the process with a lock of an open file that covers `byte`, or 0.
/// @param likely  The process that is tried first, or 0.
/// @param searches  Then tries all others.
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

void add(std::string& text, const std::string& holder) {
    text += (text.empty() ? "" : ", ") + holder;
}

/// Names the holder of a LaneLock, unless this process is it.
/// @param claimer  The process that says that it has the lock of the claimers, or 0.
void add_lane_lock(const StorePaths& paths, int byte, pid_t claimer, bool searches,
                   std::string& text) {
    const Fd fd(open_retrying(paths.lane_cells.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    struct flock lock = write_lock(byte, 1);
    if (!fd.ok() || ::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
        return;
    }
    const pid_t pid = lock.l_pid > 0
                          ? lock.l_pid
                          : owner_of_open_file(paths.lane_cells, static_cast<std::uint64_t>(byte),
                                               claimer, searches);
    if (pid != ::getpid()) {
        add(text, "byte " + std::to_string(byte) + " of \"" + paths.lane_cells.string() +
                      "\" is locked by " + (pid != 0 ? named(pid) : "another process"));
    }
}

/// The locks for which a process waits before it has a lane.
void add_lane_locks(const StorePaths& paths, bool searches, std::string& text) {
    const Result<ControlFile> control = ControlFile::open(paths);
    const auto claimer =
        control ? static_cast<pid_t>(control->words().lane_claimer.load()) : pid_t{0};
    add_lane_lock(paths, 1, claimer, searches, text);  // LaneLock::Byte::kClaimers
    if (claimer != 0) {
        add_lane_lock(paths, 2, claimer, searches, text);  // it finds the ends of lanes
    }
}

/// LMDB locks byte 0 of a lock file while it opens the environment.
void add_lock_file(const fs::path& path, std::string& text) {
    const ino_t inode = inode_of(path);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        LockLine lock;
        if (parse(line, lock) && lock.inode == inode && lock.kind == "POSIX" &&
            lock.mode == "WRITE" && lock.first == 0 && lock.pid != ::getpid()) {
            add(text, "\"" + path.string() + "\" is locked by " + named(lock.pid));
            return;
        }
    }
}

void add_writer_lock(const fs::path& path, std::string& text) {
    const pid_t thread = writer_thread(path);
    const pid_t pid = thread != 0 ? process_of(thread) : 0;
    if (pid != 0 && pid != ::getpid()) {
        add(text, "the writer lock of \"" + path.string() + "\" is held by " + named(pid));
    }
}

}  // namespace

std::string describe_lock_holders(const StorePaths& paths, bool searches) {
    std::string text;
    add_lane_locks(paths, searches, text);
    add_lock_file(paths.queue / "lock.mdb", text);
    add_lock_file(paths.registry / "lock.mdb", text);
    add_writer_lock(paths.queue / "lock.mdb", text);
    return text;
}

}  // namespace sluice::store
