#include "pg_store/connection/session.hpp"

#include <array>
#include <string>

namespace sluice::pg {
namespace {

/// A batch touches rows by their keys; a plan that reads a whole table, made while the table was
/// small, would be kept for as long as the session lives. A session whose worker vanished must not
/// hold its locks. Its name tells `sluice ledger copy` that a program may write.
constexpr std::array kWriterSettings{
    "SET enable_seqscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET enable_bitmapscan = off",
    "SET jit = off",
    "SET application_name = 'sluice writer'",
    "SET idle_in_transaction_session_timeout = '60s'",
    "SET tcp_keepalives_idle = 5",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 2",
    "SET tcp_user_timeout = 15000",
};

/// If the ledger is distributed over Citus nodes, a reader uses one session per Citus node, so that
/// all rows of an account are of one moment.
constexpr const char* kDistributedReader = "SET citus.max_adaptive_executor_pool_size = 1";
/// Citus would let nodes wait for each other's whole batches at any two rows of a table that is on
/// every Citus node. A batch writes rows there that are its node's own, or holds the lock
/// exclusively.
constexpr const char* kDistributedWriter = "SET citus.all_modifications_commutative = on";

/// Engines that speak PostgreSQL's protocol do not know all of these.
void set_if_known(Connection& session, const char* sql) {
    try {
        session.script(sql);
    } catch (const LedgerFailure&) {
        if (session.broken()) {
            throw;
        }
    }
}

std::string show(Connection& session, const char* setting) {
    const Rows rows = session.query_text("SHOW " + std::string(setting));
    return rows.empty() ? std::string() : rows.row(0).string();
}

/// Reads from Citus's catalogue whether the ledger is distributed: the extension may exist without
/// the ledger's tables being distributed. The check costs no round trip, because it is sent with
/// the statements that follow.
void read_distribution(Connection& session) {
    session.send_text("SELECT to_regclass('pg_dist_partition') IS NOT NULL", {},
                      [&session](Rows rows) { session.set_distributed(rows.row(0).boolean()); });
}

void set_up_distribution(Connection& session, bool writes) {
    if (!session.is_distributed()) {
        return;
    }
    const Rows rows = session.query_text(
        "SELECT EXISTS (SELECT FROM pg_dist_partition WHERE partmethod = 'h' AND "
        "logicalrelid = to_regclass('sluice_ledger.orders'))");
    session.set_distributed(rows.row(0).boolean());
    if (session.is_distributed()) {
        session.script(kDistributedReader);
        if (writes) {
            session.script(kDistributedWriter);
        }
    }
}

void make_durable(Connection& session) {
    const std::string commit = show(session, "synchronous_commit");
    if (commit != "on" && commit != "remote_apply") {
        session.script("SET synchronous_commit = on");
    }
}

void check_isolation(Connection& session) {
    const std::string level = show(session, "default_transaction_isolation");
    if (level != "read committed" && level != "serializable") {
        throw LedgerFailure(
            unsupported("PostgreSQL: default_transaction_isolation is \"" + level +
                        "\"; the ledger needs \"read committed\" or \"serializable\""));
    }
}

void check_writable(Connection& session) {
    if (show(session, "transaction_read_only") == "on") {
        throw LedgerFailure({ErrorCode::kIo,
                             "PostgreSQL: the server is a standby or read-only; the ledger "
                             "writes to the primary"});
    }
}

}  // namespace

void check_replicated(const Connection& session) {
    if (!session.warning().empty()) {
        throw LedgerFailure({ErrorCode::kIo, "PostgreSQL: a commit may be on the primary alone: " +
                                                 session.warning()});
    }
}

/// Commits a transaction with a record. Its COMMIT follows all others in the log, so that a standby
/// which confirms it has them.
void await_standbys(Connection& session, std::chrono::seconds patience) {
    bool confirmed = true;
    try {
        make_durable(session);
        confirmed = session.within(patience, [&session] {
            session.script("SELECT pg_logical_emit_message(true, 'sluice', '')");
        });
    } catch (const LedgerFailure& failure) {
        const ErrorCode code = failure.error().code;
        if (session.broken() ||
            (code != ErrorCode::kUnsupported && code != ErrorCode::kPermission)) {
            throw;
        }
    }
    if (!confirmed) {
        session.cancel();
        throw LedgerFailure(
            {ErrorCode::kIo, "PostgreSQL: it accepts writes, but no standby confirmed one within " +
                                 std::to_string(patience.count()) + " s"});
    }
    check_replicated(session);
}

std::unique_ptr<Connection> open_session(const Url& url, Access access, const Waiting& waiting,
                                         const StatementLimits& limits) {
    const bool writes = access == Access::kReadWrite;
    // Asks the server itself, because a pooler's knowledge of it may be older than a failover. A
    // former primary that is cut off still accepts writes; the next host may be the new primary.
    const Connection::Suits primary = [](Connection& session, std::chrono::seconds patience) {
        check_writable(session);
        await_standbys(session, patience);
    };
    std::unique_ptr<Connection> session =
        Connection::open(url, waiting, access == Access::kReadOnly ? Connection::Suits() : primary);
    check_pooler(url, *session);
    session->script("SET statement_timeout = " + std::to_string(limits.statement.count()) +
                    "; SET lock_timeout = " + std::to_string(limits.lock.count()));
    read_distribution(*session);
    const std::string encoding = show(*session, "server_encoding");
    if (encoding != "UTF8") {
        throw LedgerFailure(unsupported("PostgreSQL: the database's encoding is " + encoding +
                                        "; the ledger needs UTF8"));
    }
    set_up_distribution(*session, writes);
    if (writes) {
        check_isolation(*session);
        for (const char* setting : kWriterSettings) {
            set_if_known(*session, setting);
        }
    }
    return session;
}

}  // namespace sluice::pg
