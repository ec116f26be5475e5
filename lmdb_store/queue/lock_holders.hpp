// Names the processes that hold the locks of a store, for the operator of one that waits.
#pragma once

#include <string>

#include "lmdb_store/store/format.hpp"

namespace sluice::store {

/// Returns the locks of the store that other processes hold now, with their process ids, as text
/// for people; empty if there are none. Takes no lock. Reads small files and /proc.
/// @param searches  Also seeks a process that only its open files reveal, among those of all
///                  processes: 64 nginx workers have thousands of them.
[[nodiscard]] std::string describe_lock_holders(const StorePaths& paths, bool searches);

}  // namespace sluice::store
