// The gate: the advisory lock that events of all nodes hold shared, and that commands, and
// migrations, hold alone (docs/postgresql.md). A transaction holds it until its end.
#pragma once

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

// "SLUC", and the first of sluice's locks.
inline constexpr Statement kLockShared{"SELECT pg_advisory_xact_lock_shared(1397511491, 1)"};
inline constexpr Statement kLockExclusive{"SELECT pg_advisory_xact_lock(1397511491, 1)"};
/// The node's own lock where the ledger is spread over machines; elsewhere its head is. Nodes whose
/// numbers happen to be the same only wait for each other.
inline constexpr Statement kLockNode{
    "SELECT pg_advisory_xact_lock(1397511493, ('x' || left(md5($1), 8))::bit(32)::integer)"};

}  // namespace sluice::pg
