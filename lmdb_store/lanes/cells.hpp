// Cells: what writers and movers of lanes tell each other, in one mapped file. Hints only: each
// word counts if its check fits its lane and this boot; a lane whose words tell nothing is read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/commit/lane_format.hpp"
#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kLanesMax = 1024;

/// One lane's; a cache line of its own. Each word is a position and a check.
struct alignas(64) LaneCell {
    std::atomic<std::uint64_t> durable;  ///< Its writer: all below is.
    std::atomic<std::uint64_t> floor;    ///< Movers: the writer keeps out of floor + size.
    std::atomic<std::uint64_t> moved;    ///< Movers: all below is in the queue.
    std::atomic<std::uint64_t> settled;  ///< Recovery: behind `moved` nothing is to be found.
    std::array<std::atomic<std::uint64_t>, 4> unused;
};
static_assert(sizeof(LaneCell) == 64);

/// Ties words to a lane and a boot, so that others are not believed.
[[nodiscard]] std::uint64_t cell_key(const Uuid& lane, const Uuid& boot) noexcept;
void put_cell(std::atomic<std::uint64_t>& word, std::uint64_t position, std::uint64_t key) noexcept;
[[nodiscard]] std::optional<std::uint64_t> get_cell(const std::atomic<std::uint64_t>& word,
                                                    std::uint64_t key) noexcept;

/// The file, mapped.
class LaneCells {
public:
    static constexpr std::uint64_t kFileBytes = kLanesMax * sizeof(LaneCell);

    /// A new one, that knows nothing.
    [[nodiscard]] static Status create(const std::filesystem::path& path, const FileOwner& owner);
    /// kCorrupt if it is missing or too short.
    [[nodiscard]] static Result<LaneCells> open(const std::filesystem::path& path);

    LaneCells(LaneCells&& other) noexcept : cells_(std::exchange(other.cells_, nullptr)) {}
    LaneCells& operator=(LaneCells&& other) noexcept {
        std::swap(cells_, other.cells_);
        return *this;
    }
    LaneCells(const LaneCells&) = delete;
    LaneCells& operator=(const LaneCells&) = delete;
    ~LaneCells();

    /// Requires: lane < kLanesMax.
    [[nodiscard]] LaneCell& of(std::uint32_t lane) const noexcept { return cells_[lane]; }

private:
    explicit LaneCells(LaneCell* cells) noexcept : cells_(cells) {}
    LaneCell* cells_ = nullptr;
};

}  // namespace sluice::store
