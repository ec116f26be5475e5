// The schema's version. A program checks it before it opens a ledger, and every batch checks it
// under the writer lock, so that nothing is written into a schema that was changed meanwhile.
// The writer lock is an advisory lock that events of all nodes hold shared, and that commands and
// migrations hold exclusively (docs/postgresql.md), until the end of the transaction. Internal to
// pg_store except schema_version().
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/values/result.hpp"
#include "pg_store/connection/session.hpp"

namespace sluice::pg {

/// Returns the version that this program needs.
[[nodiscard]] int schema_version() noexcept;

/// Returns 0 if there is no ledger. The mark of a copy is not a version.
[[nodiscard]] int stored_version(Connection& session);

/// Returns kUnsupported for a ledger that is newer than this program or of an earlier format, which
/// is never migrated, and kConflict for an unfinished copy.
/// @param stored            stored_version().
/// @param takes_unfinished  Accept an unfinished copy, for the program that makes the copy.
[[nodiscard]] Status check_known(Connection& session, int stored, bool takes_unfinished = false);
/// Returns an error as check_known() does, kNotFound if there is no ledger, and kUnsupported also
/// for an older one. Throws LedgerFailure if the server cannot be asked.
[[nodiscard]] Status check_schema(Connection& session, bool takes_unfinished = false);

/// Runs `use` in a new session of a ledger with this program's schema. Returns its result, or the
/// error of a LedgerFailure.
template <class Use>
auto in_session(const Url& url, Access access, const Waiting& waiting, Use&& use,
                bool takes_unfinished = false, const StatementLimits& limits = {})
    -> decltype(use(std::unique_ptr<Connection>())) {
    try {
        std::unique_ptr<Connection> session = open_session(url, access, waiting, limits);
        if (Status fits = check_schema(*session, takes_unfinished); !fits) {
            return fits.error();
        }
        return use(std::move(session));
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

/// Runs a change of the schema again while it returns kBusy: a serializable one that meets batches
/// or another change, or one that waits for a batch that waits for it. A statement that a person
/// cancelled (SQLSTATE 57014; no time limit holds here) ends it. Returns its last result.
template <class Change>
auto again_while_busy(Change&& change) -> decltype(change()) {
    constexpr int kTries = 10;
    for (int tried = 1;; ++tried) {
        auto changed = change();
        const bool is_busy = !changed.ok() && changed.error().code == ErrorCode::kBusy &&
                             !changed.error().message.ends_with("(SQLSTATE 57014)");
        if (!is_busy || tried == kTries) {
            return changed;
        }
    }
}

/// Queues the check of the schema's number that every batch makes under the writer lock, which
/// migrate() holds exclusively. The sync() that follows throws kUnsupported if the number differs:
/// the batch must not commit.
void send_fence(Connection& session);

// An unfinished copy is marked by a row of the table of migrations with a number that no migration
// will have. So every program refuses the copy, even one without this check, and a worker that was
// connected before the copy began finds the number in the fence of its next batch.
inline constexpr int kCopyMark = 2'147'483'647;
/// Returns the name of the ledger that is being copied here, or an empty text.
[[nodiscard]] std::string copy_mark(Connection& session);
void put_copy_mark(Connection& session, const std::string& from);

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
