// Writer lock: the advisory lock that events of all nodes hold shared, and that commands and
// migrations hold exclusively (docs/postgresql.md). A transaction holds it until its end.
#pragma once

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

// "SLUC", and the first of sluice's locks.
inline constexpr Statement kLockShared{"SELECT pg_advisory_xact_lock_shared(1397511491, 1)"};
inline constexpr Statement kLockExclusive{"SELECT pg_advisory_xact_lock(1397511491, 1)"};
/// Migrations and copies hold it.
inline constexpr Statement kLockMigrations{"SELECT pg_advisory_xact_lock(1397511491, 2)"};
/// A batch holds it from when all that it writes is written.
inline constexpr Statement kLockBatchOrder{"SELECT pg_advisory_xact_lock(1397511491, 4)"};
/// Locks a node if the ledger is distributed over Citus nodes; otherwise the node's head is locked.
/// Two nodes whose numbers are equal by chance only wait for each other.
inline constexpr Statement kLockNode{
    "SELECT pg_advisory_xact_lock(1397511493, ('x' || left(md5($1), 8))::bit(32)::integer)"};

/// Locks batches out until the transaction ends, in the order in which batches lock: the heads of
/// the nodes, then the writer lock. Writes each head, so that a serializable batch that began
/// before must begin again.
void lock_out_batches(Connection& session);
/// Locks out batches, migrations and copies until the transaction ends.
void lock_out_writers(Connection& session);

}  // namespace sluice::pg
