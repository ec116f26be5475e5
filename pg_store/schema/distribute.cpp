#include "pg_store/schema/distribute.hpp"

#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/session.hpp"
#include "pg_store/schema/migrate.hpp"
#include "pg_store/schema/schema_version.hpp"

namespace sluice::pg {
namespace {

bool says(Connection& session, const std::string& condition) {
    return session.query_text("SELECT " + condition).row(0).boolean();
}

/// A cluster whose coordinator has no copy of the reference tables would tell a node's checkpoint
/// from another machine than the one that decides about commits.
void check_cluster(Connection& session) {
    if (!has_citus(session)) {
        throw LedgerFailure({ErrorCode::kUnsupported,
                             "the database has no Citus: install it and CREATE EXTENSION citus "
                             "first, or leave the ledger on one server"});
    }
    if (!says(session, "EXISTS (SELECT 1 FROM pg_dist_node WHERE groupid = 0 AND isactive)")) {
        throw LedgerFailure(
            {ErrorCode::kConflict,
             "Citus does not know its coordinator: SELECT citus_set_coordinator_host('HOST') there "
             "first, with the name under which the other machines reach it"});
    }
}

}  // namespace

Result<Distributed> distribute(const Url& url) {
    try {
        const std::unique_ptr<Connection> session = open_session(url, Access::kWrite, {});
        if (Status fits = check_schema(*session); !fits) {
            return fits.error();
        }
        check_cluster(*session);
        session->script("BEGIN");
        lock_out_writers(*session);
        Distributed done = distribute_rest(*session);
        session->script("COMMIT");
        check_replicated(*session);
        return done;
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::pg
