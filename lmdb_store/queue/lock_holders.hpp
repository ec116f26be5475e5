// Lock holders: names the processes that hold the locks for which opening a store may wait.
#pragma once

#include <string>

#include "lmdb_store/store/format.hpp"

namespace sluice::store {

/// Returns the locks of the store that other processes hold now, with their process ids, as text
/// for people; empty if there are none. Takes no lock. Reads small files and /proc.
[[nodiscard]] std::string describe_lock_holders(const StorePaths& paths);

}  // namespace sluice::store
