// Lane file: one ring on disk. Internal to this folder; docs/record-format.md has the bytes.
//
// Written past the page cache where the file system lets us (O_DIRECT with O_DSYNC: one request to
// the disk and no copy), else through it with fdatasync. The lock is that of its open file, so it
// ends with the process that has it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/commit/lane_recovery.hpp"
#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// Memory that O_DIRECT takes.
struct FreeAligned {
    void operator()(char* bytes) const noexcept;
};
using AlignedBytes = std::unique_ptr<char, FreeAligned>;
/// nullptr: there is no memory.
[[nodiscard]] AlignedBytes allocate_aligned(std::size_t bytes) noexcept;

class LaneFile {
public:
    /// Makes a file full of zeros behind its head, durable, under a name that is not its own yet.
    [[nodiscard]] static Result<LaneFile> create(const std::filesystem::path& path,
                                                 const LaneHead& head, const FileOwner& owner,
                                                 bool sync);
    /// kNotFound, kCorrupt (no lane, cut off), kUnsupported, kPermission; names the path.
    [[nodiscard]] static Result<LaneFile> open(const std::filesystem::path& path, bool sync);

    /// Nobody else holds it, and nobody gets it while this object lives.
    [[nodiscard]] bool try_lock() noexcept;
    /// Another open file has it.
    [[nodiscard]] bool is_locked_elsewhere() const noexcept;

    /// Durable when it returns 0; else errno. Any thread; writes that do not overlap may run at
    /// the same time. `bytes` is aligned memory and a multiple of the block.
    [[nodiscard]] int write(std::uint64_t position, std::string_view bytes) noexcept;
    /// 0 or errno. `to` is aligned memory; `bytes` a multiple of the block.
    [[nodiscard]] int read(std::uint64_t position, char* to, std::uint64_t bytes) const noexcept;

    [[nodiscard]] const LaneHead& head() const noexcept { return head_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// O_DIRECT works here.
    [[nodiscard]] bool is_direct() const noexcept { return direct_; }
    /// It has the name that it was opened by, and its length.
    [[nodiscard]] bool still_in_place() const noexcept;
    /// It was given another name.
    void renamed(std::filesystem::path path) { path_ = std::move(path); }

private:
    LaneFile(Fd fd, std::filesystem::path path, bool direct, bool sync)
        : fd_(std::move(fd)), path_(std::move(path)), direct_(direct), sync_(sync) {}
    [[nodiscard]] Status read_head();
    [[nodiscard]] int write_at(std::uint64_t offset, std::string_view bytes) noexcept;

    Fd fd_;
    std::filesystem::path path_;
    LaneHead head_;
    bool direct_ = false;
    bool sync_ = true;
};

}  // namespace sluice::store
