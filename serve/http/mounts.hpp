// Mounts: whether the unit's mounts still cover the files that they were made for.
//
// The unit makes the lock files of the ledger and of the destinations writable, and the keys and
// the archive inaccessible. A mount covers a file, not its name, so that another file in its place,
// as after a restore, is without it. Only a new start makes new mounts.
#pragma once

#include <string>
#include <vector>

#include "lmdb_store/store/format.hpp"

namespace sluice::serve {

class Mounts {
public:
    /// Notes which files this process may open.
    explicit Mounts(const store::StorePaths& paths);
    /// Returns the first file that has lost its mount, or an empty text.
    [[nodiscard]] std::string lost() const;

private:
    std::vector<std::string> locks_;   ///< Empty if the ledger's was not writable.
    std::vector<std::string> closed_;  ///< Files that could not be read.
};

}  // namespace sluice::serve
