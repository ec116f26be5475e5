// LaneRecovery: finds the ends of lanes that no process writes to, once, and claims such a lane.
//
//     unknown  -- no process writes to the lane, and its cell does not say that its end was found
//        |  settle(): locks the lane, finds its end, syncs what lies past the durable offset,
//        v           publishes the end in the lane's cell
//     settled  -- movers take the lane like any other one, up to its durable offset
//        |  claim(): locks the lane once it is empty
//        v
//     owned    -- a LaneWriter begins the next lap; the lane is unknown again when it ends
//
// The state is in the cells, so each end is found by one process and used by all. A process that
// dies on the way leaves the lane unknown. core/commit/lane_verdict decides what an end is.
// Threads: any. Blocking: settle() waits for another process's settle() and for the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lmdb_store/lanes/lane_set.hpp"

namespace sluice::store {

/// A lane that this process has locked.
struct ClaimedLane {
    LaneRow row;
    LaneFile file;
    bool is_new = false;  ///< Has no row yet.
};

class LaneRecovery {
public:
    /// Reads the rows of all lanes in a fresh snapshot.
    using ReadRows = std::function<Result<std::vector<LaneRow>>()>;

    /// @param lanes  Outlives the recovery.
    LaneRecovery(LaneSet& lanes, ReadRows read_rows)
        : lanes_(lanes), read_rows_(std::move(read_rows)) {}

    /// Settles every lane that no process writes to. Costs little if all are settled.
    /// @return whether any lane was settled
    [[nodiscard]] Result<bool> settle();
    /// Returns true if a settled lane holds batches of an earlier boot; see the function in core.
    [[nodiscard]] Result<bool> holds_earlier_boot();
    /// Returns a settled lane whose records are all moved, locked for the caller, or nullopt.
    /// @param bytes_min  Of its ring.
    [[nodiscard]] Result<std::optional<ClaimedLane>> claim(std::uint64_t bytes_min = 0);

    /// Returns true if the lane's end was found and no process has written to it since.
    [[nodiscard]] bool is_settled(const LaneRow& row) const noexcept;

private:
    [[nodiscard]] bool is_unknown(const LaneRow& row) const noexcept;
    [[nodiscard]] Result<bool> settle_lane(const LaneRow& seen);

    LaneSet& lanes_;
    ReadRows read_rows_;
};

/// A lock of one of the first bytes of the cells' file, while it lives. It belongs to an open file
/// of its own, so that it also excludes the other threads of this process.
class LaneLock {
public:
    /// Claimers have a lock of their own, because LMDB's writer lock is not fair: after a reload
    /// all new workers would wait for it at once, and the appends of the others would starve.
    enum class Byte : std::uint8_t {
        kMovers = 0,    ///< One process moves at a time.
        kClaimers = 1,  ///< One process claims a lane at a time.
        kSettlers = 2,  ///< LaneRecovery::settle()
    };
    /// @param waits  False does not wait for another thread or process that has the lock. True
    ///               waits within the limit of lock_wait.hpp.
    LaneLock(const LaneSet& lanes, Byte byte, bool waits = true) noexcept;
    LaneLock(const LaneLock&) = delete;
    LaneLock& operator=(const LaneLock&) = delete;
    /// Returns false if another thread or process has the lock, or the system gave none.
    [[nodiscard]] bool is_held() const noexcept { return held_; }

private:
    Fd file_;
    bool held_ = false;
};

}  // namespace sluice::store
