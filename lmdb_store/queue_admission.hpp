// Admission: when the queue stops taking records. Internal to this room.
//
// The tree is copy-on-write, so deleting needs free pages too: admission stops at a mark well below
// the map, and what lies above is for the drain only.
#pragma once

#include <cstdint>
#include <mutex>

#include "lmdb_store/environment.hpp"

namespace sluice::store {

/// Pages in use by an environment: all up to the last one, less those in the list of free pages.
struct PageUse {
    std::uint64_t bytes_used = 0;
    std::uint64_t bytes_map = 0;
};

/// Counts the free list. Costs a walk over it (8 bytes are read for each transaction in it).
/// @return 0, or LMDB's code.
[[nodiscard]] int count_page_use(Environment& env, PageUse& use) noexcept;

/// Any thread.
class Admission {
public:
    /// Three quarters of the map.
    [[nodiscard]] static std::uint64_t mark_of(std::uint64_t map_bytes) noexcept {
        return map_bytes / 4 * 3;
    }
    /// Pages that one record takes at most, in bytes: large values take whole pages.
    [[nodiscard]] static std::uint64_t cost_of(std::uint64_t record_bytes,
                                               std::uint64_t page_bytes) noexcept;

    /// Bytes that may still be taken. Below the mark by file size alone this is one look at the
    /// environment; above it, the free list is counted at most every 20 ms.
    [[nodiscard]] std::uint64_t room(Environment& env) noexcept;
    /// A batch that costs this was stored: until the next count there is so much less room.
    void took(std::uint64_t cost_bytes) noexcept;
    /// The map turned out to be full all the same: no room until the next count says otherwise.
    void saw_full() noexcept;

private:
    std::mutex mutex_;
    std::int64_t counted_at_ms_ = 0;
    std::uint64_t room_counted_ = 0;
};

}  // namespace sluice::store
