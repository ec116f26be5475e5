#pragma once

#include "lmdb_store/queue/bulk_sweep.hpp"

namespace sluice::store {

/// All slices of one sweep.
inline Result<std::uint64_t> sweep_bulk(const StorePaths& paths, Queue& queue,
                                        std::int64_t age_seconds) {
    BulkSweep sweep(paths, queue, age_seconds);
    if (const Status begun = sweep.begin(); !begun) {
        return begun.error();
    }
    Result<std::uint64_t> removed(std::uint64_t{0});
    while (removed && sweep.is_under_way()) {
        removed = sweep.step();
    }
    return removed;
}

}  // namespace sluice::store
