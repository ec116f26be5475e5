// BorrowedConnection: the connection of a transaction, which goes back to the ledger when it ends.
// Internal to this room.
#pragma once

#include <functional>
#include <memory>

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

using BorrowedConnection = std::unique_ptr<Connection, std::function<void(Connection*)>>;

/// A base, so that the connection is there before the reads that refer to it.
struct ConnectionHolder {
    BorrowedConnection borrowed_;
};

}  // namespace sluice::pg
