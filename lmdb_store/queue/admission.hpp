// Admission: when the queue stops taking records. Internal to this room.
//
// The tree is copy-on-write, so deleting needs free pages too. Admission therefore stops at the
// high-water mark, well below the map's size; the pages above it are for the worker's deletions.
// Used pages are all pages up to the last one, less the free ones that no reader still holds: a
// stalled reader makes pages unusable, not free.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/queue/queue.hpp"

namespace sluice::store {

struct PageUse {
    std::uint64_t bytes_used = 0;
    std::uint64_t bytes_map = 0;
};

/// Counts the free list. Costs a walk over it (8 bytes are read for each transaction in it).
/// @return 0, or LMDB's code.
[[nodiscard]] int count_page_use(Environment& env, PageUse& use) noexcept;

/// Threads: measure() and saw_*() any, one after the other; closed() any, and never waits.
class Admission {
public:
    /// @param folder  Where the queue's files lie.
    explicit Admission(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// The high-water mark: three quarters of the map.
    [[nodiscard]] static std::uint64_t mark_of(std::uint64_t map_bytes) noexcept {
        return map_bytes / 4 * 3;
    }
    /// The same, less what is kept free for the lanes.
    [[nodiscard]] std::uint64_t mark(std::uint64_t map_bytes) const noexcept {
        return mark_of(map_bytes) - std::min(reserve_.load(), mark_of(map_bytes) / 2);
    }
    /// What lanes hold has been accepted, and always fits.
    void set_reserve(std::uint64_t bytes) noexcept { reserve_.store(bytes); }
    /// Pages that one record takes at most, in bytes: large values take whole pages.
    [[nodiscard]] static std::uint64_t cost_of(std::uint64_t record_bytes,
                                               std::uint64_t page_bytes) noexcept;

    /// Bytes that may be taken now; 0 closes admission. Below the mark by the file's length alone
    /// this is one look at the environment; above it, the free list is counted now and then.
    [[nodiscard]] std::uint64_t measure(Environment& env) noexcept;
    /// A batch of this cost was stored: it is subtracted from the room until the next count.
    void took(std::uint64_t cost_bytes) noexcept;
    /// LMDB reported a full map, in spite of the mark.
    void saw_map_full(Environment& env) noexcept;
    void saw_disk_full() noexcept;
    void saw_success() noexcept;
    /// Asks the file system by reserving some space for a moment.
    [[nodiscard]] bool disk_is_full() const noexcept;

    /// Nothing closed it, whether it is time to try again or not.
    [[nodiscard]] bool is_open() const noexcept {
        return reason_.load() == AppendOutcome::kPending;
    }
    /// Why measure() or a failure closed it. Nothing once trying again makes sense: a process has
    /// committed since (the worker, most likely), or the disk has room.
    [[nodiscard]] std::optional<AppendOutcome> closed(const Environment& env) const noexcept;

private:
    [[nodiscard]] std::uint64_t counted_room(Environment& env, std::uint64_t mark) noexcept;
    void close(AppendOutcome reason, std::int64_t retry_after_ms, std::uint64_t txn_id) noexcept;

    std::filesystem::path folder_;
    std::atomic<std::uint64_t> reserve_{0};
    std::mutex mutex_;
    std::int64_t counted_at_ns_ = 0;
    std::int64_t count_took_ns_ = 0;
    std::int64_t cleared_at_ns_ = 0;
    std::uint64_t room_counted_ = 0;

    std::atomic<AppendOutcome> reason_{AppendOutcome::kPending};  ///< kPending: open.
    std::atomic<std::int64_t> retry_at_ms_{0};
    std::atomic<std::uint64_t> closed_at_txn_{0};
};

}  // namespace sluice::store
