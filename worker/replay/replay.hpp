// Replay: applies archives into a ledger of its own, and compares every row of every table with the
// ledger in use (controls K9).
//
// It looks for nothing in particular. A ledger is a function of its inputs, so a row that differs
// was changed by something other than sluice, or the archive is not the one of this ledger.
// If the archive no longer reaches back to the first input, the replay begins with the newest
// sealed snapshot. Workers may run meanwhile: the ledger is read in one snapshot, and the replay
// ends where that ends. Memory is bounded; the temporary folder needs as much room as the ledger.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/ledger/differences.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/copy/copy.hpp"
#include "worker/drain/store_seals.hpp"

namespace sluice::worker {

struct ReplayOptions {
    LedgerPlace ledger;  ///< The one that is audited.
    /// Folders of archives: at least one, of a fleet one for each node.
    std::vector<std::filesystem::path> archives;
    /// The store whose queue holds what its archive lacks yet. Absent: archives alone.
    std::optional<store::StorePaths> own;
    std::filesystem::path temporary;  ///< An empty folder.
    /// Folder of snapshots. The newest is where the replay begins if the archive no longer reaches
    /// back.
    std::filesystem::path snapshots;
    ArchiveSeals* seals = nullptr;        ///< As RebuildOptions has it, and for snapshots.
    std::uint64_t differences_max = 100;  ///< Differences of one table that are kept.
    /// Receives the inputs replayed so far and how many there are. May be empty.
    std::function<void(std::uint64_t done, std::uint64_t of)> progress;
    std::function<bool()> stops;  ///< Returns true to end with kBusy. May be empty.
};

struct ReplayOutcome {
    std::uint64_t inputs = 0;
    std::vector<ComparedTable> tables{};  ///< Source: the ledger. Target: the replay. By name.
    std::vector<store::RowDifference> differences{};
    std::uint64_t more = 0;  ///< Differences beyond `differences_max`.
    /// The snapshot that the replay began with. Edits that are older than it are not found.
    std::optional<std::filesystem::path> snapshot;

    [[nodiscard]] bool is_equal() const { return differences.empty(); }
    [[nodiscard]] std::uint64_t rows() const;
};

/// Returns kConflict if the archives cannot be compared with the ledger: of another store, cut, or
/// too short. kBusy: a forget is under way, or it was stopped.
[[nodiscard]] Result<ReplayOutcome> replay_ledger(const ReplayOptions& options);

}  // namespace sluice::worker
