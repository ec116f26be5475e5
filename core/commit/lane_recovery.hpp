// Lane recovery: where a lane's batches end, and whether what follows is a torn tail or damage.
// Pure; the bytes come from a LaneSource. Rule: L4.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/commit/lane_format.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Bytes of a lane by their position. A file, or a simulation's disk.
class LaneSource {
public:
    virtual ~LaneSource() = default;
    /// @param bytes  A multiple of the block, kLaneBatchBytesMax at most.
    /// @return a view that is valid until the next call.
    [[nodiscard]] virtual Result<std::string_view> read(std::uint64_t position,
                                                        std::uint64_t bytes) = 0;

protected:
    LaneSource() = default;
    LaneSource(const LaneSource&) = default;
    LaneSource& operator=(const LaneSource&) = default;
};

/// The batch at `position`; nothing if what lies there does not check.
[[nodiscard]] Result<std::optional<LaneBatch>> read_lane_batch(LaneSource& source,
                                                               const LaneIdentity& identity,
                                                               std::uint64_t position);

/// What is known of a lane when it is read.
struct LaneKnown {
    LaneIdentity identity;
    std::uint64_t size = 0;   ///< Of the ring.
    std::uint64_t moved = 0;  ///< Below: in the queue.
    /// The last batch that was moved begins here, and is not overwritten before the next one is
    /// moved: nothing was written at floor + size or behind it.
    std::uint64_t floor = 0;
    std::uint32_t floor_crc = 0;
    /// Below: durable, as its writer said in this boot. Nothing: the boot is another one, or nobody
    /// knows.
    std::optional<std::uint64_t> durable;
};

/// Damage, in words that go behind the file's name; the position and its place in the file are
/// among them.
[[nodiscard]] Error lane_damage(const LaneKnown& known, std::uint64_t position, const char* what);

/// The batch that was moved last must be there still: else this is an older copy of the lane, or it
/// was overwritten. kCorrupt then.
[[nodiscard]] Status check_lane_floor(LaneSource& source, const LaneKnown& known);

/// Behind the last batch that checks, from `moved` on. `saw` gets the head of each.
[[nodiscard]] Result<std::uint64_t> walk_lane(
    LaneSource& source, const LaneKnown& known,
    const std::function<void(const LaneBatchHead&)>& saw = {});

/// The end of what is to be moved: behind the last batch that checks. Nobody writes to the lane
/// meanwhile. kCorrupt: what does not check is no torn tail. `durable` lies behind it, or batches
/// follow that were written when answers for it had left, or more than can have been in flight.
[[nodiscard]] Result<std::uint64_t> find_lane_end(LaneSource& source, const LaneKnown& known);

}  // namespace sluice
