// Session: a connection with the settings that the ledger relies on. Internal to this room.
#pragma once

#include <memory>

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

/// Connects. For writing: commits are durable when they are acknowledged, on the standbys too if
/// the server is set up so; a standby is kIo, since after a failover the primary may be elsewhere.
/// kUnsupported: the database's encoding is not UTF8, or its isolation level is one in which
/// locks do not show what others committed.
[[nodiscard]] std::unique_ptr<Connection> open_session(const Url& url, bool writes,
                                                       const Waiting& waiting);

}  // namespace sluice::pg
