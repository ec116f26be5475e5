// LaneWriter: the one lane that this process writes to. Gives it back when it is destroyed.
//
// Threads: write() any, for parts that do not overlap; the rest one after the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "core/commit/lane_format.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/lanes/cells.hpp"

namespace sluice::store {

class LaneFile;
class LaneSet;
struct LaneRow;

class LaneWriter {
public:
    /// What the queue has of it, as movers say.
    struct Room {
        std::uint64_t floor = 0;
        std::uint64_t moved = 0;
    };

    /// @param lanes  Outlives it.
    LaneWriter(LaneSet& lanes, const LaneRow& row, LaneFile file);
    ~LaneWriter();
    LaneWriter(const LaneWriter&) = delete;
    LaneWriter& operator=(const LaneWriter&) = delete;

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] const LaneIdentity& identity() const noexcept { return identity_; }
    [[nodiscard]] const Uuid& boot() const noexcept;
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }      ///< When it was taken.
    [[nodiscard]] std::uint64_t floor() const noexcept { return floor_; }  ///< When it was taken.
    [[nodiscard]] const std::filesystem::path& path() const noexcept;
    /// Writes go past the page cache.
    [[nodiscard]] bool is_direct() const noexcept;

    /// Durable when it returns 0; else errno. Blocks for the disk.
    [[nodiscard]] int write(std::uint64_t position, std::string_view batch) noexcept;
    /// All below is durable: movers may take it from now on.
    void publish(std::uint64_t durable) noexcept;
    /// Nothing: the cell tells nothing.
    [[nodiscard]] std::optional<Room> room() const noexcept;
    [[nodiscard]] bool still_in_place() const noexcept;

private:
    LaneSet& lanes_;
    std::unique_ptr<LaneFile> file_;
    LaneIdentity identity_;
    LaneCell& cell_;
    std::uint64_t key_ = 0, bytes_ = 0, end_ = 0, floor_ = 0;
    std::uint32_t number_ = 0;
};

}  // namespace sluice::store
