// Copy: copies a ledger row by row, and proves that both are equal.
//
// The source is read in one snapshot while no worker runs. The target is marked as unfinished until
// it was proved equal, table by table, and audited (rule D1). The same call restarts a copy that
// was interrupted. Sums, chains, checkpoints and ids are rows like any other, so the worker that
// opens the copy resumes after the source's checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/ledger/differences.hpp"
#include "lmdb_store/store/format.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::worker {

struct LedgerPlace {
    std::optional<pg::Url> url{};  ///< Absent for a folder.
    std::filesystem::path folder;  ///< Absolute, without a slash at the end.

    /// Returns the place for messages and marks, without a password.
    [[nodiscard]] std::string shown() const { return url ? url->shown() : folder.string(); }
    /// Compares names. Two different URLs may still lead to one database.
    [[nodiscard]] bool is(const LedgerPlace& other) const;
    /// Returns the store whose own ledger the folder is, or would be, if there is one.
    [[nodiscard]] std::optional<store::StorePaths> store() const;
};

/// Returns kInvalid for a malformed URL.
[[nodiscard]] Result<LedgerPlace> parse_place(std::string_view text);

struct CopyOptions {
    std::uint64_t rows_max = 10'000;  ///< Rows of one transaction.
    /// The store whose worker may be writing the source, if the source is a database.
    std::optional<store::StorePaths> writer{};
    /// Receives the number of rows written so far. May be empty.
    std::function<void(std::uint64_t)> progress;
    /// No worker will open the copy. So workers of the source may run meanwhile, and a folder may
    /// take the ledger of a fleet.
    bool is_snapshot = false;
};

struct ComparedTable {
    std::string table;
    std::uint64_t rows_source = 0, rows_target = 0;
    Digest256 sha256_source{}, sha256_target{};

    [[nodiscard]] bool is_equal() const {
        return rows_source == rows_target && sha256_source == sha256_target;
    }
};

/// Pairs the digests of each table.
[[nodiscard]] std::vector<ComparedTable> side_by_side(
    const std::vector<store::TableDigest>& source, const std::vector<store::TableDigest>& target);

struct CopyProof {
    std::vector<ComparedTable> tables{};  ///< All tables, sorted by name.
    /// True if the target was a finished copy already, so that nothing was written.
    bool was_there = false;
    /// Rows whose texts had to be changed for the target, because they are not valid UTF-8.
    std::uint64_t changed_rows = 0;
    /// Findings of the target's audit.
    std::vector<std::string> findings{};

    [[nodiscard]] bool holds() const;
    [[nodiscard]] std::uint64_t rows() const;
};

/// Returns kBusy if a worker runs or another copy writes the target; kCorrupt, without writing
/// anything, if the source is damaged; kConflict if the target holds another ledger, cannot hold
/// this source, or the source has advanced. If the proof does not hold, the target stays
/// unfinished.
[[nodiscard]] Result<CopyProof> copy_ledger(const LedgerPlace& from, const LedgerPlace& to,
                                            const CopyOptions& options);

}  // namespace sluice::worker
