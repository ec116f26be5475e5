// Cells: hints that the writers and movers of lanes exchange, in one file that all processes map.
//
// A word counts only if its check bits match its lane and this boot of the machine. If they do not,
// the lane itself is read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/commit/lane_format.hpp"
#include "core/values/result.hpp"
#include "os/files/file_io.hpp"
#include "os/files/mapped_file.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kLanesMax = 1024;

/// The cell of one lane, in a cache line of its own. Each word is a log offset with check bits.
struct alignas(64) LaneCell {
    std::atomic<std::uint64_t> durable;  ///< Set by the writer; all bytes below are durable.
    std::atomic<std::uint64_t> floor;    ///< Set by movers; the writer stays below floor + size.
    std::atomic<std::uint64_t> moved;    ///< Set by movers; all bytes below are in the queue.
    std::atomic<std::uint64_t> settled;  ///< Set by recovery to `durable`: the lane ends there.
    std::array<std::atomic<std::uint64_t>, 4> unused;
};
static_assert(sizeof(LaneCell) == 64);

/// Returns the UUID of this boot of the machine. Stamps and cells are valid within one boot.
[[nodiscard]] Result<Uuid> read_boot_id();

/// Returns the key that ties words to a lane and a boot, so that words of others are ignored.
[[nodiscard]] std::uint64_t cell_key(const Uuid& lane, const Uuid& boot) noexcept;
void put_cell(std::atomic<std::uint64_t>& word, std::uint64_t offset, std::uint64_t key) noexcept;
/// Returns the word's offset, or nullopt if its check bits do not match.
[[nodiscard]] std::optional<std::uint64_t> get_cell(const std::atomic<std::uint64_t>& word,
                                                    std::uint64_t key) noexcept;

/// The mapped file.
class LaneCells {
public:
    static constexpr std::uint64_t kFileBytes = kLanesMax * sizeof(LaneCell);

    /// Creates a file without any hints.
    [[nodiscard]] static Status create(const std::filesystem::path& path, const FileOwner& owner);
    /// Maps the file. kCorrupt if it is missing or too short.
    [[nodiscard]] static Result<LaneCells> open(const std::filesystem::path& path);
    /// Requires: lane < kLanesMax.
    [[nodiscard]] LaneCell& of(std::uint32_t lane) const noexcept {
        return static_cast<LaneCell*>(file_.data())[lane];
    }

private:
    explicit LaneCells(MappedFile file) noexcept : file_(std::move(file)) {}
    MappedFile file_;
};

}  // namespace sluice::store
