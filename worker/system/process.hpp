// Process: children, signals, privileges, and the service manager.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::cli {

struct ChildOutput {
    int status = 0;      ///< Exit status, or -1 if a signal ended it.
    std::string output;  ///< Standard output and standard error, at most 4 MB.
};

/// Runs a program without a shell and collects its output.
/// @param arguments  The program (searched in PATH) and its arguments.
/// Returns kNotFound if there is no such program.
[[nodiscard]] Result<ChildOutput> run_child(const std::vector<std::string>& arguments);

/// Makes a process of root permanently that of the user and group that own the ledger (or the
/// store, if there is no ledger), so that the service can use every file that it creates. Root
/// stays root if the owner cannot enter the store; other users stay as they are. Read everything
/// that only root can read before this call.
[[nodiscard]] Status become_store_owner(const store::StorePaths& paths);

/// Notifies systemd (Type=notify): `READY=1`, `WATCHDOG=1`, `STOPPING=1`, `STATUS=...`. Does
/// nothing without NOTIFY_SOCKET. Never blocks. The protocol is one datagram, so libsystemd is not
/// linked.
void notify_service(std::string_view state) noexcept;

/// Makes SIGINT and SIGTERM set the returned flag instead of ending the process.
[[nodiscard]] const std::atomic<bool>& catch_stop_signals();

}  // namespace sluice::cli
