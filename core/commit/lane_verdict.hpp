// Lane verdict: where a lane ends, and whether the bytes after its end are a torn tail or damage.
// Pure; a LaneSource reads the bytes. lmdb_store/lanes/lane_recovery acts on it. Rule: L4.
//
// A power cut leaves a torn tail: the bytes after the last valid batch, of batches that were never
// reported durable. Any other invalid batch is damage.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "core/commit/lane_format.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Reads bytes of a lane by log offset, from a file or a simulated disk.
class LaneSource {
public:
    virtual ~LaneSource() = default;
    /// Returns a view that is valid until the next call.
    /// @param bytes  A multiple of the block, at most kLaneBatchBytesMax.
    [[nodiscard]] virtual Result<std::string_view> read(std::uint64_t offset,
                                                        std::uint64_t bytes) = 0;
    /// Makes durable what was written to the lane, also by a process that died before its own sync.
    [[nodiscard]] virtual Status sync() = 0;

protected:
    LaneSource() = default;
    LaneSource(const LaneSource&) = default;
    LaneSource& operator=(const LaneSource&) = default;
};

/// Returns the batch at `offset`, or nullopt if there is no valid batch.
[[nodiscard]] Result<std::optional<LaneBatch>> read_lane_batch(LaneSource& source,
                                                               const LaneIdentity& identity,
                                                               std::uint64_t offset);

/// The state of a lane by the queue's row and the lane's cell.
struct LaneKnown {
    LaneIdentity identity;
    std::uint64_t size = 0;   ///< Bytes of the ring.
    std::uint64_t moved = 0;  ///< Everything below is in the queue.
    /// Offset of the batch that was moved last. It is not overwritten before the next move, so
    /// nothing was written at floor + size or above.
    std::uint64_t floor = 0;
    std::uint32_t floor_crc = 0;
    /// Everything below is durable, as the writer published in this boot. Empty if it is unknown,
    /// or of another boot.
    std::optional<std::uint64_t> durable;
};

/// Returns a kCorrupt error that continues the file's name and names the offset in lane and file.
[[nodiscard]] Error lane_damage(const LaneKnown& known, std::uint64_t offset, const char* what);

/// Checks that the batch that was moved last is still there. Returns kCorrupt if the file is an
/// older copy of the lane, or was overwritten.
[[nodiscard]] Status check_lane_floor(LaneSource& source, const LaneKnown& known);

/// Returns the end of the last valid batch, from `moved` on. Calls `visit` with each batch's head.
[[nodiscard]] Result<std::uint64_t> walk_lane(
    LaneSource& source, const LaneKnown& known,
    const std::function<void(const LaneBatchHead&)>& visit = {});

/// Returns the end of the last valid batch of a lane that no process writes to. Returns kCorrupt if
/// the bytes after it are no torn tail: `durable` is above it, or it is unknown and they hold a
/// batch that was written after a higher offset was answered, or more batches than can have been in
/// flight. If `durable` is known, the rest of the ring is not read, because nothing above `durable`
/// was answered.
[[nodiscard]] Result<std::uint64_t> find_lane_end(LaneSource& source, const LaneKnown& known);

/// Returns true if the lane holds batches that were written before this boot of the machine and are
/// not moved. They must be moved before any process of this boot answers a request: stamps of
/// different boots are not comparable, so after one more boot nothing would tell which came first.
[[nodiscard]] Result<bool> holds_earlier_boot(LaneSource& source, const LaneKnown& known,
                                              const Uuid& boot);

/// Returns the end of a lane that no process writes to, and makes everything below it durable.
/// kCorrupt as check_lane_floor() and find_lane_end().
[[nodiscard]] Result<std::uint64_t> settle_lane(LaneSource& source, const LaneKnown& known);

}  // namespace sluice
