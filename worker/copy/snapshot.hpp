// Snapshot: a sealed copy of the ledger, from which an audit replays when the archive no longer
// reaches back to the first input (controls K9).
//
// A snapshot is a folder `<store>/snapshots/<time>` with the ledger's rows (`data.mdb`) and a file
// `snapshot`: the position of each node, rows and SHA-256 of each table, and a seal by the store's
// command key over all of them. The seal needs a key that an editor of the ledger lacks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "core/commands/seal.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "worker/copy/copy.hpp"

namespace sluice::worker {

struct SnapshotMade {
    std::filesystem::path folder;
    CopyProof proof;  ///< Holds.
};

/// Copies the ledger as one read transaction sees it; workers may run meanwhile. One that was
/// interrupted leaves `<snapshots>/unfinished`, which the next one replaces.
/// @param snapshots  Made if it is missing, with mode 0700.
/// @param keys  Seal with the first of them.
/// @return kCorrupt if the ledger is damaged, kConflict if a snapshot of this instant exists.
[[nodiscard]] Result<SnapshotMade> make_snapshot(const LedgerPlace& from,
                                                 const std::filesystem::path& snapshots,
                                                 const CommandKeys& keys, Timestamp made,
                                                 std::function<void(std::uint64_t)> progress);

/// Returns the folder of the newest snapshot, or nothing if there is none.
[[nodiscard]] Result<std::optional<std::filesystem::path>> newest_snapshot(
    const std::filesystem::path& snapshots);

/// Copies a snapshot's rows into a new folder, and checks them against the seal. Returns kConflict
/// if they differ or none of the keys made the seal, and kUnsupported for another format.
[[nodiscard]] Status restore_snapshot(const std::filesystem::path& snapshot,
                                      const CommandKeys& keys, const std::filesystem::path& folder);

}  // namespace sluice::worker
