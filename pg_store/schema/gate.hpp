// The gate: the advisory lock that events of all nodes hold shared, and that commands, and
// migrations, hold alone (docs/postgresql.md). A transaction holds it until its end.
#pragma once

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

// "SLUC", and the first of sluice's locks.
inline constexpr Statement kGateShared{"SELECT pg_advisory_xact_lock_shared(1397511491, 1)"};
inline constexpr Statement kGateAlone{"SELECT pg_advisory_xact_lock(1397511491, 1)"};

}  // namespace sluice::pg
