// Privileges: what root starts for a store goes on as the store's owner, so that every file it
// makes is one that the service can use.
#pragma once

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::cli {

/// Run by root, becomes the user and group that own the ledger (unless they cannot even enter the
/// store: then it is root's alone); else does nothing. For good: call it after everything that only
/// root can read was read.
[[nodiscard]] Status become_store_owner(const store::StorePaths& paths);

}  // namespace sluice::cli
