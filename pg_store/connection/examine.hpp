// Examine: what a person should know about the server that holds the ledger (`sluice doctor`).
#pragma once

#include <cstdint>
#include <string>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

struct Examined {
    /// Proved with two sessions: while one holds an advisory lock, the other waits for it. If it
    /// does not wait, the nodes of a fleet do not exclude each other.
    bool lock_blocks = false;
    bool standby = false;             ///< The server that answered is a standby.
    std::string synchronous_names;    ///< `synchronous_standby_names`.
    std::int64_t standbys = 0;        ///< Standbys that stream from it now.
    std::int64_t synchronous = 0;     ///< Synchronous ones among them, as far as this user may see.
    bool may_see_replication = true;  ///< Rights of pg_monitor.
};

/// Opens two sessions, and changes nothing. Returns kIo if no server can be reached.
[[nodiscard]] Result<Examined> examine(const Url& url);

}  // namespace sluice::pg
