// Lineage: every change of a registry has a number and a digest that no other change has, so that a
// follower can tell a later state of its source from another one with the same number, as a source
// that was restored from a backup makes it. Internal to this room.
//
// The digest of a change covers that of the change before it and 16 random bytes: it names one
// commit of one store, and all that led to it. The rows stay for ever, 132 bytes of disk for each
// change.
#pragma once

#include <string>
#include <vector>

#include "lmdb_store/registry/revision.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {

/// Of the last committed state. Throws StoreFailure, as the others do.
[[nodiscard]] RegistryRevision revision_of(const RegistryTables& tables, const ReadTxn& txn,
                                           const std::string& store_uuid);
/// Before record_revision().
[[nodiscard]] RegistryRevision revision_of(const RegistryTables& tables, const WriteTxn& txn,
                                           const std::string& store_uuid);
/// What this transaction changes is one more revision. Call it once, before the commit.
void record_revision(const RegistryTables& tables, const WriteTxn& txn);
/// All that the store recorded so far, and the present one last.
[[nodiscard]] std::vector<PastRevision> history_of(const RegistryTables& tables,
                                                   const ReadTxn& txn);

}  // namespace sluice::store
