// The schema's version: what a program finds before it opens a ledger, and what every batch looks
// at behind the gate, so that nothing is written into a schema that was changed meanwhile. Internal
// to this room but for schema_version().
#pragma once

#include <string>

#include "core/values/result.hpp"

namespace sluice::pg {

class Connection;

/// As this program needs it.
[[nodiscard]] int schema_version() noexcept;

/// 0: there is no ledger. The mark of a copy is no version.
[[nodiscard]] int stored_version(Connection& session);

/// kUnsupported: a ledger that is newer than this program, or of an earlier format, which is never
/// changed into this one. kConflict: a copy that was not finished.
/// @param stored            stored_version().
/// @param takes_unfinished  For who makes that copy.
[[nodiscard]] Status check_known(Connection& session, int stored, bool takes_unfinished = false);
/// As check_known(). kNotFound: there is no ledger. kUnsupported also for one that is older.
/// Throws LedgerFailure if the server cannot be asked.
[[nodiscard]] Status check_schema(Connection& session, bool takes_unfinished = false);

/// Queues the look at the schema's number that every batch takes once it has passed the gate, which
/// migrate() holds alone. The sync() that follows throws kUnsupported if it is another one: the
/// batch must not commit.
void send_fence(Connection& session);

// An unfinished copy is marked by a row of the table of migrations with a number that no migration
// will have. So every program refuses it, one that does not know of copies too, and a worker that
// was connected before the copy began finds it in the fence of its next batch.
inline constexpr int kCopyMark = 2'147'483'647;
/// The ledger that is being copied here; empty: none is.
[[nodiscard]] std::string copy_mark(Connection& session);
void put_copy_mark(Connection& session, const std::string& from);

}  // namespace sluice::pg
