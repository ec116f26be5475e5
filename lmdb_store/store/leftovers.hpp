// Leftovers: `NAME.new.PID`, temporary files and folders of commands that were killed while they
// replaced a file of the store. Some hold keys or bank accounts.
//
// A process that replaces such a file holds the command key's lock (shared) meanwhile. A process
// that removes leftovers holds it alone, so that the process of each is gone; a process id would
// not tell, because containers have their own. Only names that sluice gives, in folders where only
// sluice writes, are removed; none next to a file that a person named. The archive's and the lanes'
// temporary files are removed by their writers.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// The folder below `snapshots` in which `sluice ledger snapshot` works, under the lock (flock) of
/// `snapshots`.
inline constexpr const char* kUnfinishedSnapshot = "unfinished";

/// Returns a lock that keeps this process's temporary files, or no descriptor if the store has no
/// command key. Waits for `sluice key rotate`.
[[nodiscard]] Result<Fd> hold_temporary_files(const StorePaths& paths);
/// Calls replace_file() while it holds the lock of hold_temporary_files().
[[nodiscard]] Status replace_store_file(const StorePaths& paths, const std::filesystem::path& path,
                                        std::string_view bytes, const FileOwner& owner = {});

/// Returns the temporary files and folders that are there, also those of living processes.
[[nodiscard]] std::vector<std::filesystem::path> temporary_files(const StorePaths& paths);
/// Removes the temporary files and folders. If a process works on such a file now, removes nothing,
/// and a later call removes them.
void remove_leftovers(const StorePaths& paths);

}  // namespace sluice::store
