// Session: a connection with the settings that the ledger relies on. Internal to this room.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

enum class Access : std::uint8_t {
    kRead,  ///< Of the first server that answers, or the one that the URL wants.
    /// Of the one that accepts writes, and whose standbys have what it committed before: a server
    /// that is a standby, or that was cut off from its standbys, is kIo.
    kReadPrimary,
    /// As kReadPrimary. Commits are durable when they are acknowledged, on the standbys too if the
    /// server is set up so.
    kWrite,
};

/// Connects. A standby that is asked to write is kIo, since after a failover the primary may be
/// elsewhere. kUnsupported: the database's encoding is not UTF8, or its isolation level is one in
/// which locks do not show what others committed.
[[nodiscard]] std::unique_ptr<Connection> open_session(const Url& url, Access access,
                                                       const Waiting& waiting);

/// Waits until the standbys that commits wait for have all that was committed so far. PostgreSQL
/// shows more than that: after a crash, or when the wait of a COMMIT was cancelled, it shows what
/// no standby has. kIo: none confirmed it in time. Engines without such standbys return at once.
void await_standbys(Connection& session, std::chrono::seconds patience);
/// kIo: the server warned during a COMMIT, so that it may be on this server only.
void check_replicated(const Connection& session);

}  // namespace sluice::pg
