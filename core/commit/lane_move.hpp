// Lane move: copies records from all lanes to the queue, in the order of their stamps. Pure; a
// MoveWorld stands for lanes and queue. Rule: L3.
//
// The mover holds the queue's writer lock. It takes the cut S = now, then reads how far each lane
// is durable, then moves the batches stamped up to S, in the order of their stamps. A batch that
// was not visible when its lane was read became durable after S, and everything that is sent after
// its answer is stamped after S. Ends that are read before the cut would break this order.
//
// A lane that no process writes to is moved like any other one: settle_lane() has found its end
// before, once, and the lane's cell has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/commit/lane_format.hpp"
#include "core/commit/lane_verdict.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Lanes and queue, under the writer lock.
class MoveWorld {
public:
    virtual ~MoveWorld() = default;
    [[nodiscard]] virtual std::uint64_t now_ns() = 0;  ///< CLOCK_MONOTONIC
    [[nodiscard]] virtual const Uuid& boot() const = 0;
    [[nodiscard]] virtual std::size_t lanes() const = 0;
    /// Returns the lane's state, from its row and its cell.
    [[nodiscard]] virtual LaneKnown probe(std::size_t lane) = 0;
    [[nodiscard]] virtual LaneSource& source(std::size_t lane) = 0;
    /// Appends a record to the queue. `offset` and `index` are its batch and its place in it.
    [[nodiscard]] virtual Status put(std::size_t lane, std::uint64_t offset, std::uint32_t index,
                                     std::string_view record) = 0;
    /// Records that the lane is in the queue up to the end of this batch.
    virtual void moved(std::size_t lane, const LaneBatchHead& last) = 0;
    /// Prefixes the error with the lane's name.
    [[nodiscard]] virtual Error named(std::size_t lane, const Error& error) const = 0;

protected:
    MoveWorld() = default;
    MoveWorld(const MoveWorld&) = default;
    MoveWorld& operator=(const MoveWorld&) = default;
};

struct Moved {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    bool more = false;  ///< `bytes_max` was reached before the cut.
    std::uint64_t batches = 0;
    std::uint64_t left = 0;  ///< Bytes left in all lanes, up to the ends that were found.
};

/// Moves about `bytes_max` bytes. After an error the caller aborts the transaction.
[[nodiscard]] Result<Moved> move_lanes(MoveWorld& world, std::uint64_t bytes_max);

}  // namespace sluice
