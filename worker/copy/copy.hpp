// Copy: a ledger into another place, row by row, and the proof that both are equal.
//
// The source is read in one snapshot, with no worker beside it. The target is marked as unfinished
// until it was proved equal, table by table, and audited (rule D1); a copy that was interrupted is
// begun again by the same call. Sums, chains, checkpoints and ids are rows like any other: the
// worker that opens the copy goes on behind the checkpoint that the source had.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/ledger/row_digests.hpp"
#include "worker/copy/place.hpp"

namespace sluice::worker {

struct CopyOptions {
    std::uint64_t rows_max = 10'000;  ///< Of one transaction.
    /// The store whose worker may be writing the source, if that is a database; else nothing.
    std::optional<store::StorePaths> writer;
    /// Told how many rows were written so far. May be empty.
    std::function<void(std::uint64_t)> progress;
};

struct ComparedTable {
    std::string table;
    std::uint64_t rows_source = 0, rows_target = 0;
    Digest256 sha256_source{}, sha256_target{};

    [[nodiscard]] bool is_equal() const {
        return rows_source == rows_target && sha256_source == sha256_target;
    }
};

struct CopyProof {
    std::vector<ComparedTable> tables;  ///< All of them, by name.
    /// The target was a finished copy of this source before: nothing was written.
    bool was_there = false;
    /// Rows with texts that the target cannot hold as they were (bytes that are no UTF-8).
    std::uint64_t changed_rows = 0;
    /// What the audit of the target found.
    std::vector<std::string> findings;

    [[nodiscard]] bool holds() const;
    [[nodiscard]] std::uint64_t rows() const;
};

/// kBusy: a worker runs, or another copy goes to the target. kCorrupt: the source is damaged;
/// nothing was written. kConflict: the target holds another ledger, the source cannot be held by
/// such a target, or it went on meanwhile.
/// A proof that does not hold leaves the target unfinished.
[[nodiscard]] Result<CopyProof> copy_ledger(const LedgerPlace& from, const LedgerPlace& to,
                                            const CopyOptions& options);

}  // namespace sluice::worker
