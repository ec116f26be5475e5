#include "pg_store/schema/migrate.hpp"

#include <algorithm>

#include "os/clock/clock.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/session.hpp"
#include "pg_store/schema/distribute.hpp"
#include "pg_store/schema/migration_table.hpp"
#include "pg_store/schema/schema_version.hpp"
#include "pg_store/schema/view_names.hpp"
#include "pg_store/schema/writer_lock.hpp"

namespace sluice::pg {
namespace {

constexpr const char* kFirst =
    "CREATE SCHEMA IF NOT EXISTS sluice_ledger; "
    "CREATE TABLE IF NOT EXISTS sluice_ledger.migrations (number integer PRIMARY KEY, "
    "name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())";

std::string name_of(const Migration& migration) {
    std::string number = std::to_string(migration.number);
    return std::string(4 - std::min<std::size_t>(4, number.size()), '0') + number + "_" +
           migration.name;
}

Result<Migrated> migrate(Connection& session) {
    session.script("BEGIN");
    session.script(kLockMigrations.sql);
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
