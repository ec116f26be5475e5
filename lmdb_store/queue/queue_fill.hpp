// QueueFill: how much a queue and its lanes hold.
#pragma once

#include <cstdint>

#include "core/values/ids.hpp"

namespace sluice::store {

/// Records that are durable in lanes and not in the queue yet.
struct LanesFill {
    std::uint64_t lanes = 0;   ///< All lanes.
    std::uint64_t in_use = 0;  ///< Lanes that a process writes to.
    std::uint64_t cached = 0;  ///< Lanes whose file system refuses O_DIRECT.
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;      ///< Bytes of their batches.
    std::uint64_t bytes_all = 0;  ///< Capacity of all lanes.
    std::uint64_t oldest_ns = 0;  ///< Age of the oldest record of this boot, or 0.
};

struct QueueFill {
    SequenceNumber first_seq;  ///< First stored record, or 0.
    SequenceNumber last_seq;   ///< Last number ever assigned, or 0.
    std::uint64_t rows = 0;
    std::uint64_t bytes_used = 0;  ///< Pages in use, and freed pages that a reader still holds.
    std::uint64_t bytes_map = 0;
    std::uint64_t bytes_high_water = 0;  ///< Records are rejected above it.
    std::uint64_t idempotency_rows = 0;
    std::uint64_t idempotency_rows_max = 0;  ///< With as many, batches with new keys are rejected.
    LanesFill lanes;                         ///< Set by fill_with_lanes() only.

    /// Returns the number of records that are not applied, those in lanes included.
    [[nodiscard]] std::uint64_t depth(SequenceNumber applied) const noexcept {
        return lanes.records + (last_seq > applied ? last_seq.value - applied.value : 0);
    }
};

}  // namespace sluice::store
