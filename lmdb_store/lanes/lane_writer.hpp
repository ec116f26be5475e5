// LaneWriter: the lane that this process has claimed and writes to. Its destruction releases it.
//
// Threads: write() may run on several threads for ranges that do not overlap; the other functions
// on one thread at a time. Blocking: only write().
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/commit/lane_format.hpp"
#include "lmdb_store/lanes/cells.hpp"
#include "lmdb_store/lanes/lane_file.hpp"

namespace sluice::store {

class LaneSet;
struct LaneRow;

class LaneWriter {
public:
    /// A mover's progress in this lane.
    struct Room {
        std::uint64_t floor = 0;  ///< The writer stays below floor + bytes().
        std::uint64_t moved = 0;  ///< Everything below is in the queue.
    };

    /// @param lanes  Outlives the writer.
    LaneWriter(const LaneSet& lanes, const LaneRow& row, LaneFile file);
    LaneWriter(const LaneWriter&) = delete;
    LaneWriter& operator=(const LaneWriter&) = delete;

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] const LaneIdentity& identity() const noexcept { return identity_; }
    [[nodiscard]] const Uuid& boot() const noexcept { return boot_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }  ///< Size of the ring.
    /// Return the end and the floor that the lane had when it was claimed.
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
    [[nodiscard]] std::uint64_t floor() const noexcept { return floor_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }
    /// Returns true if writes bypass the page cache.
    [[nodiscard]] bool is_direct() const noexcept { return file_.is_direct(); }

    /// Returns 0 once the batch is durable, or an errno.
    [[nodiscard]] int write(std::uint64_t offset, std::string_view batch) noexcept {
        return file_.write(offset, batch);
    }
    /// Publishes that everything below `durable` is durable, so that movers may take it.
    void publish(std::uint64_t durable) noexcept;
    /// Returns nullopt if the cell is unknown.
    [[nodiscard]] std::optional<Room> room() const noexcept;
    [[nodiscard]] bool still_in_place() const noexcept { return file_.still_in_place(); }

private:
    LaneFile file_;
    LaneIdentity identity_;
    Uuid boot_;
    LaneCell& cell_;
    std::uint64_t key_ = 0, bytes_ = 0, end_ = 0, floor_ = 0;
    std::uint32_t number_ = 0;
};

}  // namespace sluice::store
