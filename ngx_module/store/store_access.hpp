// StoreAccess: what the commit needs of the store that this process has open.
#pragma once

#include "lmdb_store/lanes/lane_writer.hpp"
#include "lmdb_store/queue/queue.hpp"

namespace sluice::ngx {

/// Thread: the event loop.
class StoreAccess {
public:
    virtual ~StoreAccess() = default;
    /// nullptr: it is not open. Stays open while the commit is in flight.
    [[nodiscard]] virtual store::Queue* queue() noexcept = 0;
    /// nullptr: this process has none now. Stays until the commit was told to forget it.
    [[nodiscard]] virtual store::LaneWriter* lane() noexcept = 0;
    /// Nothing more can be written to it: another one is wanted.
    virtual void give_lane_back() noexcept = 0;

protected:
    StoreAccess() = default;
    StoreAccess(const StoreAccess&) = default;
    StoreAccess& operator=(const StoreAccess&) = default;
};

}  // namespace sluice::ngx
