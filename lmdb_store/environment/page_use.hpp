// Page use: how many pages of an environment are in use, and which readers hold freed ones.
//
// A process that keeps a snapshot keeps LMDB from reusing the pages that were freed since, and the
// file grows. A process that was killed leaves its reader slot behind.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/values/result.hpp"

namespace sluice::store {

class Environment;

struct PageUse {
    std::uint64_t bytes_used = 0;  ///< All pages up to the last one, less the reusable ones.
    std::uint64_t bytes_map = 0;
};

/// Counts the free pages that no reader holds. Walks the free list, and reads 8 bytes for each of
/// its transactions. Returns 0 or LMDB's code.
[[nodiscard]] int count_page_use(Environment& env, PageUse& use) noexcept;

struct ReaderFindings {
    int dead_count = 0;  ///< Slots of dead processes, which were freed.
    std::uint64_t oldest_behind =
        0;  ///< Transactions since the oldest snapshot; 0 if none is held.
    std::int64_t oldest_process = 0;  ///< The process that holds it.
    unsigned slots = 0;               ///< Slots of the lock file.
    unsigned slots_wanted = 0;        ///< Its slots once no process has the environment open.
};

/// Reports the readers of an environment, for `sluice doctor`. Blocks for the disk. Call it before
/// this process opens the environment, because opening frees the slots of dead processes.
/// @param folder  registry/, queue/ or ledger/.
[[nodiscard]] Result<ReaderFindings> check_readers(const std::filesystem::path& folder);

}  // namespace sluice::store
