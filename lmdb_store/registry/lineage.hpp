// Lineage: the history of a registry. Each change has a number, and a digest that no other change
// has.
//
// The digest lets a follower tell a later state of its source from another state with the same
// number, as a source has that was restored from a backup. It covers the digest of the change
// before and 16 random bytes, so it names one commit of one store and all commits before it. The
// rows are kept for ever, and take 132 bytes of disk for each change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::store {

struct RegistryTables;
class ReadTxn;
class WriteTxn;

/// A state in the history of a source.
struct RegistryRevision {
    std::string source;        ///< UUID of the store.
    std::uint64_t number = 0;  ///< Increases with every change.
    std::string digest;        ///< 32 bytes, of the state and all states before it.
    friend bool operator==(const RegistryRevision&, const RegistryRevision&) = default;
};

/// An earlier state of the same source.
struct PastRevision {
    std::uint64_t number = 0;
    std::uint64_t digest = 0;  ///< The first 8 bytes of its digest, big-endian.
    friend bool operator==(const PastRevision&, const PastRevision&) = default;
};

// These functions throw StoreFailure.

/// Returns the revision of the last committed state.
[[nodiscard]] RegistryRevision revision_of(const RegistryTables& tables, const ReadTxn& txn,
                                           const std::string& store_uuid);
/// Requires: record_revision() was not called yet.
[[nodiscard]] RegistryRevision revision_of(const RegistryTables& tables, const WriteTxn& txn,
                                           const std::string& store_uuid);
/// Records this transaction as one revision. Call it once, before the commit.
void record_revision(const RegistryTables& tables, const WriteTxn& txn);
/// Returns all recorded revisions by number, the present one last.
[[nodiscard]] std::vector<PastRevision> history_of(const RegistryTables& tables,
                                                   const ReadTxn& txn);

}  // namespace sluice::store
