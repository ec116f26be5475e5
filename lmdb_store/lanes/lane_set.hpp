// LaneSet: the lanes of a store as one process sees them: their folder, their cells, their files.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/commit/lane_recovery.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/lanes/cells.hpp"
#include "lmdb_store/lanes/lane_buffers.hpp"
#include "lmdb_store/lanes/lane_file.hpp"
#include "lmdb_store/lanes/rows.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

/// Threads: any; files are handed out and stay open as long as a caller has them.
class LaneSet {
public:
    /// Makes the folder and its cells, for a store that has none.
    [[nodiscard]] static Status create(const StorePaths& paths, const FileOwner& folder_owner,
                                       const FileOwner& file_owner);
    [[nodiscard]] static Result<std::unique_ptr<LaneSet>> open(const StorePaths& paths, bool sync);

    /// For reading; kept open for a while. kCorrupt if it is not the file that the row names.
    [[nodiscard]] Result<std::shared_ptr<LaneFile>> file(const LaneRow& row);
    /// One of its own, that can be locked.
    [[nodiscard]] Result<LaneFile> open_file(const LaneRow& row) const;
    /// Files below the folder that no row names and that hold records: the queue's table is older
    /// than its lanes.
    /// @param read_rows  Reads them anew: another process may make a lane meanwhile.
    [[nodiscard]] Status check_strangers(
        const std::function<Result<std::vector<LaneRow>>()>& read_rows) const;

    /// A small file, written and synced: does the disk take it?
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
    [[nodiscard]] const Uuid& boot() const noexcept { return boot_; }
    [[nodiscard]] const Uuid& store() const noexcept { return store_; }
    [[nodiscard]] bool sync() const noexcept { return sync_; }
    /// Of new files: as the cells have them.
    [[nodiscard]] const FileOwner& file_owner() const noexcept { return file_owner_; }

private:
    LaneSet(std::filesystem::path folder, LaneCells cells) noexcept
        : folder_(std::move(folder)), cells_(std::move(cells)) {}
    void close_unused(std::uint64_t now_ns);
    /// A file of that name holds events.
    [[nodiscard]] Result<bool> holds_events(const std::string& name) const;
    [[nodiscard]] Status check_file(const LaneFile& file, const LaneRow& row) const;

    std::filesystem::path folder_;
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
