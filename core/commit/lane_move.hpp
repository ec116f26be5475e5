// Lane move: from all lanes into the queue, in the order of their stamps. Pure; the lanes and the
// queue are a MoveWorld. Rule: L3.
//
// Who moves holds the queue's writer lock, takes the cut S = now, then reads how far each lane is
// durable, then moves what was stamped up to S, in the order of stamps. What was not visible when
// its lane was read became durable after S, and whatever is sent after its answer is stamped behind
// S. Ends that are read before the cut would break this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/commit/lane_format.hpp"
#include "core/commit/lane_recovery.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// A lane as its row and its cell show it.
struct LaneLook {
    LaneKnown known;
    /// Nobody writes to it, and this process keeps it so: it is read to its end. Else it is read up
    /// to known.durable.
    bool unowned = false;
};

/// Lanes and queue, under the writer lock.
class MoveWorld {
public:
    virtual ~MoveWorld() = default;
    [[nodiscard]] virtual std::uint64_t now_ns() = 0;  ///< CLOCK_MONOTONIC
    [[nodiscard]] virtual const Uuid& boot() const = 0;
    [[nodiscard]] virtual std::size_t lanes() const = 0;
    [[nodiscard]] virtual LaneLook look(std::size_t lane) = 0;
    [[nodiscard]] virtual LaneSource& source(std::size_t lane) = 0;
    /// Puts a record behind the queue's last one.
    [[nodiscard]] virtual Status put(std::size_t lane, std::uint64_t position, std::uint32_t index,
                                     std::string_view record) = 0;
    /// All up to the end of this batch is in the queue.
    virtual void moved(std::size_t lane, const LaneBatchHead& last) = 0;
    /// Nothing is left in this lane up to the end that was found for it.
    virtual void emptied(std::size_t lane) = 0;
    /// Puts the lane's name in front of what is wrong with it.
    [[nodiscard]] virtual Error named(std::size_t lane, const Error& error) const = 0;

protected:
    MoveWorld() = default;
    MoveWorld(const MoveWorld&) = default;
    MoveWorld& operator=(const MoveWorld&) = default;
};

struct Moved {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    bool more = false;  ///< `bytes_max` was reached: something stamped up to the cut is left.
    std::uint64_t batches = 0;
    std::uint64_t left = 0;  ///< Bytes of all lanes, up to the ends that were found.
};

/// Moves up to about `bytes_max`. After an error nothing of it may be kept.
[[nodiscard]] Result<Moved> move_lanes(MoveWorld& world, std::uint64_t bytes_max);

}  // namespace sluice
