// The schema's version. A program checks it before it opens a ledger, and every batch checks it
// under the writer lock, so that nothing is written into a schema that was changed meanwhile.
// Internal to pg_store except schema_version().
#pragma once

#include <string>

#include "core/values/result.hpp"

namespace sluice::pg {

class Connection;

/// Returns the version that this program needs.
[[nodiscard]] int schema_version() noexcept;

/// Returns 0 if there is no ledger. The mark of a copy is not a version.
[[nodiscard]] int stored_version(Connection& session);

/// kUnsupported: a ledger that is newer than this program, or of an earlier format, which is never
/// changed into this one. kConflict: a copy that was not finished.
/// @param stored            stored_version().
/// @param takes_unfinished  For the program that makes that copy.
[[nodiscard]] Status check_known(Connection& session, int stored, bool takes_unfinished = false);
/// As check_known(). kNotFound: there is no ledger. kUnsupported also for one that is older.
/// Throws LedgerFailure if the server cannot be asked.
[[nodiscard]] Status check_schema(Connection& session, bool takes_unfinished = false);

/// Queues the check of the schema's number that every batch makes under the writer lock, which
/// migrate() holds exclusively. The sync() that follows throws kUnsupported if the number differs:
/// the batch must not commit.
void send_fence(Connection& session);

// An unfinished copy is marked by a row of the table of migrations with a number that no migration
// will have. So every program refuses it, one that does not know of copies too, and a worker that
// was connected before the copy began finds it in the fence of its next batch.
inline constexpr int kCopyMark = 2'147'483'647;
/// Returns the name of the ledger that is being copied here, or an empty text.
[[nodiscard]] std::string copy_mark(Connection& session);
void put_copy_mark(Connection& session, const std::string& from);

}  // namespace sluice::pg
