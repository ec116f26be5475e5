// LaneSet: the lanes of a store as one process sees them: their folder, their cells, their files.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/commit/lane_verdict.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/lanes/cells.hpp"
#include "lmdb_store/lanes/lane_file.hpp"
#include "lmdb_store/lanes/lane_reader.hpp"
#include "lmdb_store/lanes/rows.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

/// Threads: any. Blocking: functions that open files wait for the disk.
class LaneSet {
public:
    /// Creates the folder and the cells of a new store.
    [[nodiscard]] static Status create(const StorePaths& paths, const FileOwner& folder_owner,
                                       const FileOwner& file_owner);
    [[nodiscard]] static Result<std::unique_ptr<LaneSet>> open(const StorePaths& paths, bool sync);

    /// Returns the row's file for reading, which stays open for some seconds. kCorrupt if it is
    /// missing or another file than the row names.
    [[nodiscard]] Result<std::shared_ptr<LaneFile>> file(const LaneRow& row);
    /// Returns the row's file, opened separately, so that the caller can lock it.
    [[nodiscard]] Result<LaneFile> open_file(const LaneRow& row) const;
    /// Returns kCorrupt if the folder has a file with records that no row names, because then the
    /// queue's table is older than its lanes.
    /// @param read_rows  Reads the rows. Called again for such a file, because another process may
    ///                   have created a lane meanwhile.
    [[nodiscard]] Status check_unregistered_lanes(
        const std::function<Result<std::vector<LaneRow>>()>& read_rows) const;

    /// Returns the name of a lane that this process creates, until the lane has its number.
    [[nodiscard]] std::filesystem::path unfinished_path() const;
    /// Deletes the files that killed processes left under such names. Requires: the caller holds
    /// the lock of the processes that create lanes.
    void sweep_unfinished() const noexcept;

    /// Writes and syncs a small file, to check that the disk works.
    [[nodiscard]] Status try_write() const;

    [[nodiscard]] LaneBuffers& buffers() noexcept { return buffers_; }
    [[nodiscard]] LaneKnown known_of(const LaneRow& row) const noexcept;
    [[nodiscard]] LaneCell& cell_of(const LaneRow& row) const noexcept {
        return cells_.of(row.number);
    }
    [[nodiscard]] std::uint64_t key_of(const LaneRow& row) const noexcept {
        return cell_key(row.lane, boot_);
    }
    [[nodiscard]] LaneIdentity identity_of(const LaneRow& row) const noexcept {
        return {store_, row.lane};
    }
    [[nodiscard]] std::filesystem::path path_of(std::uint32_t number) const;
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
    [[nodiscard]] const std::filesystem::path& cells_path() const noexcept { return cells_path_; }
    [[nodiscard]] const Uuid& boot() const noexcept { return boot_; }
    /// Returns owner and mode of new lanes, which are those of the cells.
    [[nodiscard]] const FileOwner& file_owner() const noexcept { return file_owner_; }

private:
    LaneSet(const StorePaths& paths, LaneCells cells)
        : folder_(paths.lanes), cells_path_(paths.lane_cells), cells_(std::move(cells)) {}
    void close_unused(std::uint64_t now_ns);
    /// Throws StoreFailure.
    [[nodiscard]] bool holds_events(const std::string& name) const;
    [[nodiscard]] Status check_file(const LaneFile& file, const LaneRow& row) const;

    std::filesystem::path folder_, cells_path_;
    LaneCells cells_;
    Uuid store_{}, boot_{};
    bool sync_ = true;
    FileOwner file_owner_;
    std::mutex mutex_;
    struct Kept {
        std::shared_ptr<LaneFile> file;
        std::uint64_t used_ns = 0;
    };
    std::map<std::uint32_t, Kept> files_;
    LaneBuffers buffers_;
};

}  // namespace sluice::store
