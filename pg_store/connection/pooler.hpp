// Pooler: what stands between this program and the server, and whether the ledger can live with it.
// Internal to this room.
#pragma once

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

/// The ledger prepares statements and sets what its session relies on, so its session must be one
/// of the server's, all the time. Throws kUnsupported with what to do: a pooler that gives each
/// transaction another session, or one that hands a session on with what was set in it. Opens
/// further sessions, but only if there is a pooler: the server itself answers under the number that
/// it gave when the session began. Nothing is set in a session that other programs share.
void check_pooler(const Url& url, Connection& session);

}  // namespace sluice::pg
