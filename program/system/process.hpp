// Process: children, signals, and the service manager.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::cli {

struct ChildOutput {
    int status = 0;      ///< Exit status, or the negative number of the signal that ended it.
    std::string output;  ///< Standard output and standard error, at most 4 MB.
};

/// Reads until the other end is closed. Leaves what comes after `bytes_max` bytes or some more.
[[nodiscard]] std::string read_pipe(int fd, std::size_t bytes_max = SIZE_MAX);

/// Runs a program without a shell and collects its output.
/// @param arguments  The program (searched in PATH) and its arguments.
/// Returns kNotFound if there is no such program.
[[nodiscard]] Result<ChildOutput> run_child(const std::vector<std::string>& arguments);

/// Forks a child that keeps the rights which its parent gives up. The child has no standard
/// streams, calls serve(its end of a socket), and ends when that returns.
/// @param type  Type of the socket, such as SOCK_STREAM.
/// @param socket  Gets the parent's end. The child ends, if it reads, when that is shut down: a
///                later child has a copy of it, so that closing it is not enough.
/// @return 0 or an errno.
[[nodiscard]] int fork_keeper(int type, const std::function<void(int socket)>& serve, Fd& socket,
                              pid_t& child);
/// Waits for the end of a child. Returns its status, as waitpid() does.
int wait_for_child(pid_t child) noexcept;

/// Notifies systemd (Type=notify): `READY=1`, `WATCHDOG=1`, `STOPPING=1`, `STATUS=...`. Does
/// nothing without NOTIFY_SOCKET. Never blocks. The protocol is one datagram, so libsystemd is not
/// linked.
void notify_service(std::string_view state) noexcept;

/// Makes a signal of damage end the process with a sentence and status 1: SIGBUS if a mapped file
/// of the store became shorter, SIGSEGV and SIGABRT if its contents or this program are wrong.
/// Other processes write to these files, so that no check made before can exclude it.
void catch_damage();

/// Makes SIGINT and SIGTERM set the returned flag instead of ending the process.
[[nodiscard]] const std::atomic<bool>& catch_stop_signals();

}  // namespace sluice::cli
