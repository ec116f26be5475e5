#include "pg_store/connection/examine.hpp"

#include <unistd.h>

#include "pg_store/connection/session.hpp"

namespace sluice::pg {
namespace {

/// Returns the statement that takes a lock of this process only, so that the proof delays no batch.
std::string lock_of_this_process(const char* function) {
    return "SELECT " + std::string(function) + "(1397511492, " + std::to_string(::getpid()) + ")";
}

/// Returns true if the lock was not granted in time (SQLSTATE 55P03).
bool waits_for(Connection& session, const std::string& lock) {
    session.script("BEGIN; SET LOCAL lock_timeout = '200ms'");
    bool waited = false;
    try {
        session.script(lock);
    } catch (const LedgerFailure& failure) {
        waited = failure.error().message.find("55P03") != std::string::npos;
        if (!waited) {
            throw;
        }
    }
    session.script("ROLLBACK");
    return waited;
}

/// Returns true if a lock that `holder` has makes `other` wait, shared and exclusively, as batches
/// take the writer lock.
bool lock_blocks(Connection& holder, Connection& other) {
    const std::string alone = lock_of_this_process("pg_advisory_xact_lock");
    const std::string shared = lock_of_this_process("pg_advisory_xact_lock_shared");
    holder.script("BEGIN; " + alone);
    const bool blocks = waits_for(other, alone) && waits_for(other, shared);
    holder.script("ROLLBACK");
    holder.script("BEGIN; " + shared);
    const bool excludes = waits_for(other, alone) && !waits_for(other, shared);
    holder.script("ROLLBACK");
    return blocks && excludes && !waits_for(other, alone);
}

/// Examines the server that workers use; a standby only if there is no primary.
std::unique_ptr<Connection> open_best(const Url& url) {
    try {
        return open_session(url, Access::kReadPrimary, {});
    } catch (const LedgerFailure&) {
        return open_session(url, Access::kReadOnly, {});
    }
}

void examine_replication(Connection& session, Examined& found) {
    const Rows rows = session.query_text(
        "SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names'), count(*), "
        "count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')), "
        "count(sync_state) = count(*) FROM pg_stat_replication");
    RowReader row = rows.row(0);
    found.standby = row.boolean();
    found.synchronous_names = row.string();
    found.standbys = row.i8();
    found.synchronous = row.i8();
    found.may_see_replication = row.boolean();
}

}  // namespace

Result<Examined> examine(const Url& url) {
    try {
        Examined found;
        const auto holder = open_best(url);
        const auto other = open_best(url);
        examine_replication(*holder, found);
        found.lock_blocks = found.standby || lock_blocks(*holder, *other);
        return found;
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::pg
