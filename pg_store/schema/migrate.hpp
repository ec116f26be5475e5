// Migrate: the schema of the PostgreSQL ledger, brought up to date step by step.
//
// Migrations are numbered files (pg_store/schema/migrations), applied in one transaction under a
// lock: any number of programs may try at once, and each may be killed at any instant. Batches of
// workers that run are done before it begins, and those that wait for it find the new number.
//
// Numbers begin with 5: 1 to 4 are the schema of an earlier format, which is refused, not migrated.
#pragma once

#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

class Connection;

struct Migrated {
    int before = 0;  ///< 0: there was no ledger.
    int now = 0;
    std::vector<std::string> applied;  ///< `0005_ledger`, in order.
    bool could_be_spread = false;      ///< The database has Citus, which distribute() would use.
};

/// kUnsupported: the schema is newer than this program, or of an earlier format. kPermission: the
/// user may not.
[[nodiscard]] Result<Migrated> migrate(const Url& url);

/// The schema's version, as this program needs it.
[[nodiscard]] int schema_version() noexcept;
/// kNotFound: there is no ledger. kUnsupported: it is older, newer or of an earlier format.
/// kConflict: a copy that was not finished. Throws LedgerFailure if the server cannot be asked.
/// Internal to this room.
/// @param takes_unfinished  For who makes that copy.
[[nodiscard]] Status check_schema(Connection& session, bool takes_unfinished = false);

// An unfinished copy is marked by a row of the table of migrations with a number that no migration
// will have. So every program refuses it, one that does not know of copies too, and a worker that
// was connected before the copy began finds it in the fence of its next batch. Internal to this
// room, as is what follows.
inline constexpr int kCopyMark = 2'147'483'647;
/// Shuts out batches, migrations and other copies, until the transaction ends.
void shut_out_all(Connection& session);
/// The ledger that is being copied here; empty: none is.
[[nodiscard]] std::string copy_mark(Connection& session);
void put_copy_mark(Connection& session, const std::string& from);
/// Queues the look at the schema's number that every batch takes once it has passed the gate, which
/// migrate() holds alone. The sync() that follows throws kUnsupported if it is another one: the
/// batch must not commit. Internal to this room.
void send_fence(Connection& session);

}  // namespace sluice::pg
