// The digest of all rows of a ledger, by which a test compares two ledgers.
#pragma once

#include "lmdb_store/ledger/dump.hpp"
#include "lmdb_store/ledger/table_hash.hpp"

namespace sluice::store {

/// Returns the SHA-256 over the rest of the canonical dump.
inline Digest256 ledger_digest(LedgerRows& rows) {
    TableHash hash;
    while (rows.next()) {
        hash.add(rows.table());
        hash.add(rows.key());
        hash.add(rows.value());
    }
    return hash.take();
}

}  // namespace sluice::store
