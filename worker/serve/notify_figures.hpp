// Notify figures: what /metrics says about the destinations of notifications.
#pragma once

#include <string>

#include "lmdb_store/store/format.hpp"

namespace sluice::serve {

/// Returns the metrics as the store's destinations say, or an empty text if there are none or they
/// cannot be read. Waits for the disk.
[[nodiscard]] std::string notify_figures(const store::StorePaths& paths);

}  // namespace sluice::serve
