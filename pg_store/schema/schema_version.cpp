#include "pg_store/schema/schema_version.hpp"

#include "pg_store/connection/connection.hpp"
#include "pg_store/schema/migration_table.hpp"

namespace sluice::pg {

namespace {

bool is_earlier_format(int stored) noexcept {
    return stored != 0 && stored < kMigrations.front().number;
}

/// Returns the error of a schema of an earlier format, which is neither migrated nor read.
Error earlier_format(int stored) {
    return {ErrorCode::kUnsupported,
            "ledger: written by an earlier sluice (schema " + std::to_string(stored) +
                "); rebuild it in an empty database: sluice ledger migrate --ledger URL, then on "
                "every node sluice ledger rebuild --from ARCHIVE --ledger URL"};
}

Error newer_schema(int stored) {
    return {ErrorCode::kUnsupported, "the ledger's schema has version " + std::to_string(stored) +
                                         ", this program knows version " +
                                         std::to_string(schema_version()) +
                                         ": use the sluice that migrated it, or a newer one"};
}

Error unfinished(const std::string& from) {
    return {ErrorCode::kConflict, "the database holds an unfinished copy of " + from +
                                      ": run the same `sluice ledger copy` again, or drop it (DROP "
                                      "SCHEMA sluice_ledger CASCADE)"};
}

}  // namespace

int schema_version() noexcept {
    return kMigrations.back().number;
}

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

Status check_known(Connection& session, int stored, bool takes_unfinished) {
    if (is_earlier_format(stored)) {
        return earlier_format(stored);
    }
    if (stored > schema_version()) {
        return newer_schema(stored);
    }
    const std::string from = stored == 0 || takes_unfinished ? std::string() : copy_mark(session);
    return from.empty() ? Status::success() : Status(unfinished(from));
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
    if (Status known = check_known(session, stored, takes_unfinished); !known) {
        return known;
    }
    if (stored == schema_version()) {
        return Status::success();
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
            throw LedgerFailure(
                conflict("another ledger is being copied into this database: nothing of this batch "
                         "was stored. Start the worker again when the copy is finished"));
        }
        if (stored != schema_version()) {
            throw LedgerFailure(unsupported(
                "the ledger's schema was changed meanwhile, to version " + std::to_string(stored) +
                "; this program knows version " + std::to_string(schema_version()) +
                ": nothing of this batch was stored. Install the sluice that migrated it, and "
                "start the worker again"));
        }
    });
}

namespace {

/// Locks as batches do if the ledger is distributed over Citus nodes (txn.hpp).
void lock_nodes(Connection& session) {
    const Rows rows = session.query_text("SELECT node FROM sluice_ledger.heads ORDER BY node");
    for (RowReader row : rows) {
        RowWriter node;
        node.text(row.text());
        session.send(kLockNode, node);
    }
    session.sync();
    session.script(kLockExclusive.sql);
}

}  // namespace

void lock_out_batches(Connection& session) {
    if (session.is_distributed()) {
        lock_nodes(session);
    }
    session.script("UPDATE sluice_ledger.heads SET applied_seq = applied_seq");
    session.script(kLockExclusive.sql);
}

void lock_out_writers(Connection& session) {
    session.script(kLockMigrations.sql);
    lock_out_batches(session);
}

}  // namespace sluice::pg
