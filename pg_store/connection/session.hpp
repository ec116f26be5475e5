// Session: a connection with the settings that the ledger relies on. Internal to pg_store.
#pragma once

#include <chrono>
#include <memory>

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

/// Longest time that the server spends on a statement, and on one lock of it. 0 means no limit.
struct StatementLimits {
    std::chrono::milliseconds statement{0}, lock{0};
};

/// Connects. Throws kIo if only a standby answers a request to write, since after a failover the
/// primary may be elsewhere. Throws kUnsupported if the database's encoding is not UTF8, or if its
/// isolation level hides the commits of other sessions after a lock was granted.
[[nodiscard]] std::unique_ptr<Connection> open_session(const Url& url, Access access,
                                                       const Waiting& waiting,
                                                       const StatementLimits& limits = {});

/// Waits until the synchronous standbys have all commits so far. PostgreSQL may show commits that
/// no standby has, after a crash or a cancelled wait of a COMMIT. Throws kIo if no standby
/// confirmed in time. Returns at once on engines without such standbys.
void await_standbys(Connection& session, std::chrono::seconds patience);
/// Throws kIo if the server warned during a COMMIT that the commit may be on this server only.
void check_replicated(const Connection& session);

/// Checks a pooler between this program and the server. The ledger prepares statements and changes
/// settings, so it needs a server session of its own. Throws kUnsupported for a pooler that gives
/// each transaction another session, or that passes a session on with its settings. Opens further
/// sessions only if there is a pooler: the server itself answers under the number that it gave at
/// the start of the session. Changes nothing in a session that other programs share.
void check_pooler(const Url& url, Connection& session);

}  // namespace sluice::pg
