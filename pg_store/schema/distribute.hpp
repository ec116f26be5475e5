// Distribute: the ledger of a Citus cluster, spread over its machines by account.
//
// Rows of an account lie together on one machine; what belongs to no account, or is joined with the
// rows of many, is a reference table, which every machine has whole.
#pragma once

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"
#include "pg_store/schema/distributed_tables.hpp"

namespace sluice::pg {

/// Spreads what is not spread yet: in one transaction that waits for the batches under way, like
/// migrate(), which must have run. Rows that are there go along.
/// kUnsupported: the database has no Citus. kConflict: its coordinator is not named, or the ledger
/// is an unfinished copy.
[[nodiscard]] Result<Distributed> distribute(const Url& url);

}  // namespace sluice::pg
