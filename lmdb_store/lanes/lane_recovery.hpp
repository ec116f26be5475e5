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
// dies on the way leaves the lane unknown. core/commit/lane_recovery decides what an end is.
// Threads: any. Blocking: settle() waits for another process's settle() and for the disk.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lmdb_store/lanes/lane_set.hpp"

namespace sluice::store {

class LaneRecovery {
public:
    /// Reads the rows of all lanes in a fresh snapshot.
    using ReadRows = std::function<Result<std::vector<LaneRow>>()>;

    /// @param lanes  Outlives the recovery.
    /// @param locks  The file of the cells, opened separately. Its first bytes are locks.
    LaneRecovery(LaneSet& lanes, Fd locks, ReadRows read_rows)
        : lanes_(lanes), locks_(std::move(locks)), read_rows_(std::move(read_rows)) {}

    /// Settles every lane that no process writes to. Costs little if all are settled.
    [[nodiscard]] Status settle();
    /// Returns a settled lane whose records are all moved, locked for the caller, or nullopt.
    [[nodiscard]] Result<std::optional<std::pair<LaneRow, LaneFile>>> claim();

    /// Returns true if the lane's end was found and no process has written to it since.
    [[nodiscard]] bool is_settled(const LaneRow& row) const noexcept;

    /// Locks the movers' byte while it lives, so that one process moves at a time. Does not wait.
    class MoverLock;
    /// Locks the claimers' byte while it lives. LMDB's writer lock is not fair: after a reload all
    /// new workers would wait for it at once, and the appends of the others would starve.
    class ClaimLock;

private:
    [[nodiscard]] Result<bool> is_unknown(const LaneRow& row);
    [[nodiscard]] Status settle_lane(const LaneRow& seen);

    LaneSet& lanes_;
    Fd locks_;
    ReadRows read_rows_;
};

/// A lock of one byte of a file, while it lives.
class ByteLock {
public:
    ByteLock(const ByteLock&) = delete;
    ByteLock& operator=(const ByteLock&) = delete;
    ~ByteLock();
    /// Returns false if another process has the lock, or the system gave none.
    [[nodiscard]] bool is_held() const noexcept { return held_; }

protected:
    ByteLock(int fd, int byte, bool waits) noexcept;

private:
    int fd_, byte_;
    bool held_ = false;
};

class LaneRecovery::MoverLock : public ByteLock {
public:
    explicit MoverLock(const LaneRecovery& recovery) noexcept
        : ByteLock(recovery.locks_.get(), 0, false) {}
};

class LaneRecovery::ClaimLock : public ByteLock {
public:
    explicit ClaimLock(const LaneRecovery& recovery) noexcept
        : ByteLock(recovery.locks_.get(), 1, true) {}
};

}  // namespace sluice::store
