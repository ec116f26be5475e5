// Admission: decides when the queue rejects records (backpressure). Internal to lmdb_store.
//
// LMDB copies pages on write, so deleting needs free pages as well. Admission therefore stops at
// the high-water mark, well below the map's size, and leaves the pages above it to the worker's
// deletions. page_use.hpp counts the pages in use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/page_use.hpp"
#include "lmdb_store/queue/queue.hpp"

namespace sluice::store {

/// Threads: measure(), took() and saw_*() any, one call at a time; the other functions any.
class Admission {
public:
    /// @param folder  Of the queue's files.
    explicit Admission(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Returns the high-water mark without the lanes' reserve: three quarters of the map, in bytes.
    [[nodiscard]] static std::uint64_t high_water_of(std::uint64_t map_bytes) noexcept {
        return map_bytes / 4 * 3;
    }
    /// Returns the high-water mark in bytes: records are rejected above it.
    [[nodiscard]] std::uint64_t high_water(std::uint64_t map_bytes) const noexcept {
        return high_water_of(map_bytes) - std::min(reserve_.load(), high_water_of(map_bytes) / 2);
    }
    /// Sets the bytes reserved for lanes, so that their records, which were answered, always fit.
    void set_reserve(std::uint64_t bytes) noexcept { reserve_.store(bytes); }
    /// Returns the bytes of pages that a record takes at most. Large values take whole pages.
    [[nodiscard]] static std::uint64_t cost_of(std::uint64_t record_bytes,
                                               std::uint64_t page_bytes) noexcept;

    /// Returns the bytes that may be stored now; 0 closes admission. Reads only the environment's
    /// state while the file ends below the high-water mark; above it, counts the free list at
    /// intervals.
    [[nodiscard]] std::uint64_t measure(Environment& env) noexcept;
    /// Subtracts a stored batch from the room, until the next count.
    void took(std::uint64_t cost_bytes) noexcept;
    /// Records that LMDB reported a full map in spite of the high-water mark.
    void saw_map_full(Environment& env) noexcept;
    void saw_disk_full() noexcept;
    void saw_success() noexcept;
    /// Opens admission again if the disk, or the queue, has room. Looks also whether it is half
    /// full still. Blocks for the disk. Call it about once a second.
    void check_again(Environment& env) noexcept;

    /// Returns whether measure() found at least half of the room taken. Never blocks.
    [[nodiscard]] bool is_half_full() const noexcept { return half_full_.load(); }
    /// Returns true unless admission is closed, even if it is time to retry.
    [[nodiscard]] bool is_open() const noexcept {
        return reason_.load() == AppendOutcome::kPending;
    }
    /// Returns why admission is closed, or nullopt if a retry makes sense, because another process
    /// (most likely the worker) has committed since. Never blocks.
    [[nodiscard]] std::optional<AppendOutcome> closed(const Environment& env) const noexcept;

private:
    [[nodiscard]] std::uint64_t counted_room(Environment& env, std::uint64_t high_water) noexcept;
    void close(AppendOutcome reason, std::int64_t retry_after_ms, std::uint64_t txn_id) noexcept;

    std::filesystem::path folder_;
    std::atomic<std::uint64_t> reserve_{0};
    std::mutex mutex_;
    std::int64_t counted_at_ns_ = 0;
    std::int64_t count_took_ns_ = 0;
    std::int64_t cleared_at_ns_ = 0;
    bool counted_at_the_mark_ = false;  ///< The file had no room but its free pages.
    std::uint64_t room_counted_ = 0;

    std::atomic<bool> half_full_{false};
    std::atomic<AppendOutcome> reason_{AppendOutcome::kPending};  ///< kPending means open.
    std::atomic<std::int64_t> retry_at_ms_{0};
    std::atomic<std::uint64_t> closed_at_txn_{0};
};

}  // namespace sluice::store
