// LaneFile: the ring file of a lane. Internal to this folder; docs/record-format.md has the bytes.
//
// Where the file system supports O_DIRECT, writes bypass the page cache (with O_DSYNC, so that a
// write is one request to the disk and no copy); otherwise they use it and fdatasync. The lock
// belongs to the open file, so it ends with the process.
// Threads: write() and read() any, for ranges that do not overlap. Blocking: both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/commit/lane_verdict.hpp"
#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// Memory aligned as O_DIRECT requires.
struct FreeAligned {
    void operator()(char* bytes) const noexcept;
};
using AlignedBytes = std::unique_ptr<char, FreeAligned>;
/// Returns nullptr if memory is exhausted.
[[nodiscard]] AlignedBytes allocate_aligned(std::size_t bytes) noexcept;

class LaneFile {
public:
    /// Creates a durable file of zeros with a head, under a temporary name.
    [[nodiscard]] static Result<LaneFile> create(const std::filesystem::path& path,
                                                 const LaneHead& head, const FileOwner& owner,
                                                 bool sync);
    /// Opens a lane. Returns kNotFound, kCorrupt (no lane, or truncated), kUnsupported or
    /// kPermission, with a message that names the path.
    [[nodiscard]] static Result<LaneFile> open(const std::filesystem::path& path, bool sync);

    /// Returns true if a process has locked the lane. Reads nothing of it, because a process that
    /// starts asks this of every lane.
    [[nodiscard]] static bool is_locked(const std::filesystem::path& path) noexcept;
    /// Locks the lane while this object lives. Returns false if another open file has the lock.
    [[nodiscard]] bool try_lock() noexcept;
    /// Returns true if another open file has the lock.
    [[nodiscard]] bool is_locked_elsewhere() const noexcept;

    /// Returns 0 once the bytes are durable, or an errno. `bytes` is aligned and a multiple of the
    /// block.
    [[nodiscard]] int write(std::uint64_t offset, std::string_view bytes) noexcept;
    /// Returns 0 or an errno. `to` is aligned; `bytes` is a multiple of the block.
    [[nodiscard]] int read(std::uint64_t offset, char* to, std::uint64_t bytes) const noexcept;
    /// Makes durable what any process wrote to the file. Returns 0 or an errno.
    [[nodiscard]] int sync() const noexcept;

    [[nodiscard]] const LaneHead& head() const noexcept { return head_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// Returns true if writes bypass the page cache.
    [[nodiscard]] bool is_direct() const noexcept { return direct_; }
    /// Returns true if the path still names this file, with its length.
    [[nodiscard]] bool still_in_place() const noexcept;
    /// Records the file's new name.
    void renamed(std::filesystem::path path) { path_ = std::move(path); }

private:
    LaneFile(Fd fd, std::filesystem::path path, bool direct, bool sync)
        : fd_(std::move(fd)), path_(std::move(path)), direct_(direct), sync_(sync) {}
    [[nodiscard]] Status read_head();
    [[nodiscard]] int write_at(std::uint64_t at, std::string_view bytes) noexcept;

    Fd fd_;
    std::filesystem::path path_;
    LaneHead head_;
    bool direct_ = false;
    bool sync_ = true;
};

}  // namespace sluice::store
