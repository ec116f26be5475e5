// Stored ledger: the ledger that an audit compares with, in one snapshot. Inner header.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/copy/row_sink.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/ledger/differences.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "worker/copy/copy.hpp"

namespace sluice::worker {

/// Throws LedgerFailure.
class StoredLedger : public Interface {
public:
    [[nodiscard]] virtual bool is_embedded() const = 0;
    /// Everything below reads this state, until the next call.
    [[nodiscard]] virtual Status take_snapshot() = 0;
    virtual void drop_snapshot() = 0;
    /// Requires: a snapshot.
    [[nodiscard]] virtual WholeReader& reader() = 0;
    /// Compares every table: first the digests, then the rows of tables that differ.
    /// @param temporary  A folder for copies.
    [[nodiscard]] virtual Status compare(store::EmbeddedLedger& right,
                                         const std::filesystem::path& temporary,
                                         std::vector<ComparedTable>& tables,
                                         const store::DifferenceVisitor& visit) = 0;
};

[[nodiscard]] Result<std::unique_ptr<StoredLedger>> open_stored(const LedgerPlace& place);

}  // namespace sluice::worker
