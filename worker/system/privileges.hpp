// Privileges: a program that root starts for a store goes on as the store's owner, so that the
// service can use every file that the program makes.
#pragma once

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::cli {

/// If root runs the process, it becomes the user and group that own the ledger (without one: the
/// store), for good (unless
/// they cannot enter the store: then root keeps it). Other users stay as they are. Read everything
/// that only root can read before this call.
[[nodiscard]] Status become_store_owner(const store::StorePaths& paths);

}  // namespace sluice::cli
