#include "pg_store/schema/migrate.hpp"

#include <algorithm>

#include "os/clock/clock.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/session.hpp"
#include "pg_store/schema/gate.hpp"
#include "pg_store/schema/migration_table.hpp"
#include "pg_store/schema/spread_tables.hpp"

namespace sluice::pg {
namespace {

constexpr const char* kLock = "SELECT pg_advisory_xact_lock(1397511491, 2)";
constexpr const char* kFirst =
    "CREATE SCHEMA IF NOT EXISTS sluice_ledger; "
    "CREATE TABLE IF NOT EXISTS sluice_ledger.migrations (number integer PRIMARY KEY, "
    "name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())";

/// 0: none. The mark of a copy is none of them.
int stored_version(Connection& session) {
    const Rows exists = session.query_text(
        "SELECT count(*) FROM information_schema.tables "
        "WHERE table_schema = 'sluice_ledger' AND table_name = 'migrations'");
    if (exists.empty() || exists.row(0).i8() == 0) {
        return 0;
    }
    return static_cast<int>(
        session
            .query_text("SELECT coalesce(max(number), 0) FROM sluice_ledger.migrations WHERE "
                        "number < " +
                        std::to_string(kCopyMark))
            .row(0)
            .i8());
}

/// The first number of this format: those before it count the schema of an earlier one.
constexpr int kFirstNumber = kMigrations.front().number;

bool is_earlier_format(int stored) noexcept {
    return stored != 0 && stored < kFirstNumber;
}

/// It is never changed into this one, and never read as if it were this one.
Error earlier_format() {
    return {ErrorCode::kUnsupported,
            "ledger: written by an earlier sluice (format 1); build it anew in an empty database: "
            "sluice ledger migrate --ledger URL, then on every node sluice ledger rebuild --from "
            "ARCHIVE --ledger URL"};
}

Error newer_schema(int stored) {
    return {ErrorCode::kUnsupported, "the ledger's schema has version " + std::to_string(stored) +
                                         ", this program knows version " +
                                         std::to_string(schema_version()) +
                                         ": use the sluice that migrated it, or a newer one"};
}

Error unfinished(const std::string& from) {
    return {ErrorCode::kConflict,
            "the database holds an unfinished copy of " + from +
                ": run the same `sluice ledger copy` again, or drop it (DROP SCHEMA sluice_ledger "
                "CASCADE)"};
}

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
    session.script(kGateAlone.sql);
}

/// In the order in which batches take theirs: the heads of the nodes, then the gate. Each head is
/// written, so that a serializable batch that began before finds that it must begin again.
void shut_out_batches(Connection& session) {
    if (session.is_spread()) {
        lock_nodes(session);
    }
    session.script("UPDATE sluice_ledger.heads SET applied_seq = applied_seq");
    session.script(kGateAlone.sql);
}

Result<Migrated> migrate(Connection& session) {
    session.script("BEGIN");
    session.script(kLock);
    Migrated result;
    if (const int stored = stored_version(session); is_earlier_format(stored)) {
        return earlier_format();
    } else if (stored != 0) {
        shut_out_batches(session);
        if (const std::string from = copy_mark(session); !from.empty()) {
            return unfinished(from);
        }
    }
    result.before = stored_version(session);
    result.now = schema_version();
    if (result.before > result.now) {
        return newer_schema(result.before);
    }
    if (result.before < result.now) {
        session.script(kFirst);
    }
    for (const Migration& migration : kMigrations) {
        if (migration.number <= result.before) {
            continue;
        }
        session.script(migration.sql);
        RowWriter row;
        row.i4(migration.number).text(migration.name);
        session.send_text("INSERT INTO sluice_ledger.migrations (number, name) VALUES ($1, $2)",
                          row);
        session.sync();
        result.applied.push_back(name_of(migration));
    }
    if (session.is_spread() && !result.applied.empty()) {
        (void)distribute_rest(session);  // the tables that are new
    }
    session.script("COMMIT");
    result.could_be_spread = could_be_spread(session);
    return result;
}

}  // namespace

int schema_version() noexcept {
    return kMigrations.back().number;
}

void shut_out_all(Connection& session) {
    session.script(kLock);
    shut_out_batches(session);
}

std::string copy_mark(Connection& session) {
    const Rows rows = session.query_text(
        "SELECT name FROM sluice_ledger.migrations WHERE number = " + std::to_string(kCopyMark));
    return rows.empty() ? std::string() : rows.row(0).string();
}

void put_copy_mark(Connection& session, const std::string& from) {
    session.send_text("DELETE FROM sluice_ledger.migrations WHERE number = " +
                      std::to_string(kCopyMark));
    if (!from.empty()) {
        RowWriter row;
        row.i4(kCopyMark).text(from);
        session.send_text("INSERT INTO sluice_ledger.migrations (number, name) VALUES ($1, $2)",
                          row);
    }
    session.sync();
}

Status check_schema(Connection& session, bool takes_unfinished) {
    const int stored = stored_version(session);
    if (is_earlier_format(stored)) {
        return earlier_format();
    }
    if (stored > schema_version()) {
        return newer_schema(stored);
    }
    if (stored == schema_version()) {
        const std::string from = takes_unfinished ? std::string() : copy_mark(session);
        return from.empty() ? Status::success() : Status(unfinished(from));
    }
    const std::string what =
        stored == 0 ? "the database holds no sluice ledger"
                    : "the ledger's schema has version " + std::to_string(stored) +
                          ", this program needs version " + std::to_string(schema_version());
    return Error{stored == 0 ? ErrorCode::kNotFound : ErrorCode::kUnsupported,
                 what + ": run `sluice ledger migrate --ledger URL` first"};
}

void send_fence(Connection& session) {
    static constexpr Statement kNumber{
        "SELECT coalesce(max(number), 0)::bigint FROM sluice_ledger.migrations"};
    session.send(kNumber, {}, [](Rows rows) {
        const int stored = static_cast<int>(rows.row(0).i8());
        if (stored == kCopyMark) {
            throw LedgerFailure({ErrorCode::kConflict,
                                 "another ledger is being copied into this database: nothing of "
                                 "this batch was stored. Start the worker again when the copy is "
                                 "finished"});
        }
        if (stored != schema_version()) {
            throw LedgerFailure({ErrorCode::kUnsupported,
                                 "the ledger's schema was changed meanwhile, to version " +
                                     std::to_string(stored) + "; this program knows version " +
                                     std::to_string(schema_version()) +
                                     ": nothing of this batch was stored. Install the sluice that "
                                     "migrated it, and start the worker again"});
        }
    });
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
