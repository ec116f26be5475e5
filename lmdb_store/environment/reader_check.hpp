// Reader check: which processes read an environment, for `sluice doctor`.
//
// While a process keeps a snapshot, LMDB cannot reuse the pages that were freed since, and the file
// grows. A process that died leaves its reader's slot behind.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/values/result.hpp"

namespace sluice::store {

struct ReaderFindings {
    int dead_count = 0;               ///< Slots of dead processes; they are free now.
    std::uint64_t oldest_behind = 0;  ///< Transactions since the oldest snapshot in use; 0: none.
    std::int64_t oldest_process = 0;  ///< Who has it.
    unsigned slots = 0;               ///< Of the lock file as it is.
    unsigned slots_wanted = 0;        ///< It gets them when no process has the environment open.
};

/// @param folder  registry/, queue/ or ledger/. Call it before anything else opens the environment
///                in this process: opening frees the slots of the dead. Blocks for the disk.
[[nodiscard]] Result<ReaderFindings> look_at_readers(const std::filesystem::path& folder);

}  // namespace sluice::store
