// Archive files: the few file operations that the archive needs, with errors that name the path.
//
// Inner header of the room: only its sources use it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "lmdb_store/archive/format.hpp"

namespace sluice::store {

/// An open file. Closes it when destroyed; does not sync by itself.
class ArchiveFile {
public:
    enum class Mode : std::uint8_t { kRead, kAppend, kCreate };

    /// kCreate replaces a file that is there. Files are made with mode 0600.
    [[nodiscard]] static Result<ArchiveFile> open(const std::filesystem::path& path, Mode mode);
    ArchiveFile(ArchiveFile&& other) noexcept;
    ArchiveFile& operator=(ArchiveFile&& other) noexcept;
    ArchiveFile(const ArchiveFile&) = delete;
    ArchiveFile& operator=(const ArchiveFile&) = delete;
    ~ArchiveFile();

    /// Up to `bytes` from `offset`; fewer only at the end of the file.
    [[nodiscard]] Result<std::string> read_at(std::uint64_t offset, std::size_t bytes) const;
    /// All of `bytes` at `offset`, or an error: then what lies behind `offset` is undefined.
    [[nodiscard]] Status write_at(std::uint64_t offset, std::string_view bytes);
    [[nodiscard]] Status truncate(std::uint64_t bytes);
    [[nodiscard]] Status sync();
    [[nodiscard]] Result<std::uint64_t> size() const;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    ArchiveFile(int descriptor, std::filesystem::path path)
        : descriptor_(descriptor), path_(std::move(path)) {}
    [[nodiscard]] Error failed(const char* doing, int code) const;

    int descriptor_;
    std::filesystem::path path_;
};

/// The segments of a folder by ordinal. kNotFound and kPermission name the folder.
[[nodiscard]] Result<std::map<std::uint64_t, std::filesystem::path>> list_segments(
    const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path segment_path(const std::filesystem::path& folder,
                                                 std::uint64_t ordinal);
/// Makes renames and removals in `folder` durable.
[[nodiscard]] Status sync_archive_folder(const std::filesystem::path& folder);

/// Reads and checks the head of a segment.
[[nodiscard]] Result<SegmentHead> read_segment_head(const ArchiveFile& file);
/// Writes `bytes` beside `path`, syncs, and renames it into place, so that a segment that is there
/// is there completely.
[[nodiscard]] Status place_file(const std::filesystem::path& path, std::string_view bytes);
/// Removes what place_file() left when its process died.
[[nodiscard]] Status remove_unfinished(const std::filesystem::path& folder);

}  // namespace sluice::store
