#include "pg_store/schema/migrate.hpp"

#include <algorithm>

#include "os/clock/clock.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/session.hpp"
#include "pg_store/schema/distributed_tables.hpp"
#include "pg_store/schema/migration_table.hpp"
#include "pg_store/schema/schema_version.hpp"
#include "pg_store/schema/view_names.hpp"
#include "pg_store/schema/writer_lock.hpp"

namespace sluice::pg {
namespace {

constexpr const char* kLock = "SELECT pg_advisory_xact_lock(1397511491, 2)";
constexpr const char* kFirst =
    "CREATE SCHEMA IF NOT EXISTS sluice_ledger; "
    "CREATE TABLE IF NOT EXISTS sluice_ledger.migrations (number integer PRIMARY KEY, "
    "name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())";

std::string name_of(const Migration& migration) {
    std::string number = std::to_string(migration.number);
    return std::string(4 - std::min<std::size_t>(4, number.size()), '0') + number + "_" +
           migration.name;
}

/// As batches do where the ledger is spread over machines (txn.hpp).
void lock_nodes(Connection& session) {
    const Rows rows = session.query_text("SELECT node FROM sluice_ledger.heads ORDER BY node");
    for (int i = 0; i < rows.count(); ++i) {
        RowWriter node;
        node.text(rows.row(i).text());
        session.send(kLockNode, node);
    }
    session.sync();
    session.script(kLockExclusive.sql);
}

/// In the order in which batches take theirs: the heads of the nodes, then the gate. Each head is
/// written, so that a serializable batch that began before finds that it must begin again.
void lock_out_batches(Connection& session) {
    if (session.is_distributed()) {
        lock_nodes(session);
    }
    session.script("UPDATE sluice_ledger.heads SET applied_seq = applied_seq");
    session.script(kLockExclusive.sql);
}

Result<Migrated> migrate(Connection& session) {
    session.script("BEGIN");
    session.script(kLock);
    Migrated result;
    result.before = stored_version(session);
    if (const Status known = check_known(session, result.before); !known) {
        return known.error();
    }
    result.now = schema_version();
    if (result.before != 0) {
        lock_out_batches(session);
    }
    if (result.before < result.now) {
        session.script(kFirst);
    }
    for (const Migration& migration : kMigrations) {
        if (migration.number <= result.before) {
            continue;
        }
        session.script(with_view_names(migration.sql));
        RowWriter row;
        row.i4(migration.number).text(migration.name);
        session.send_text("INSERT INTO sluice_ledger.migrations (number, name) VALUES ($1, $2)",
                          row);
        session.sync();
        result.applied.push_back(name_of(migration));
    }
    if (session.is_distributed() && !result.applied.empty()) {
        (void)distribute_rest(session);  // the tables that are new
    }
    session.script("COMMIT");
    result.could_be_distributed = could_be_distributed(session);
    return result;
}

}  // namespace

void lock_out_writers(Connection& session) {
    session.script(kLock);
    lock_out_batches(session);
}

Result<Migrated> migrate(const Url& url) {
    constexpr int kTries = 10;  // of a serializable one that meets batches or another migration
    for (int tried = 1;; ++tried) {
        try {
            const std::unique_ptr<Connection> session = open_session(url, Access::kWrite, {});
            return migrate(*session);
        } catch (const LedgerFailure& failure) {
            if (failure.error().code != ErrorCode::kBusy || tried == kTries) {
                return failure.error();
            }
        }
    }
}

}  // namespace sluice::pg
