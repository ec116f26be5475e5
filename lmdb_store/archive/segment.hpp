// Segments: the files of an archive, their heads and their blocks. Functions that return no Result
// throw StoreFailure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/archive/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// Returns the segments of a folder by ordinal. kNotFound and kPermission name the folder.
[[nodiscard]] Result<std::map<std::uint64_t, std::filesystem::path>> list_segments(
    const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path segment_path(const std::filesystem::path& folder,
                                                 std::uint64_t ordinal);
/// Reads and checks the head of a segment.
[[nodiscard]] Result<SegmentHead> read_segment_head(const OpenFile& file);
/// A segment that is open for reading or writing.
struct Segment {
    OpenFile file;
    SegmentHead head;
};
/// Opens a segment and reads its head.
[[nodiscard]] Segment open_segment(const std::filesystem::path& path,
                                   OpenFile::Mode mode = OpenFile::Mode::kRead);
/// Removes the temporary files that a killed process left of segments and batch orders. Requires:
/// the worker's lock.
void remove_unfinished(const std::filesystem::path& folder);

/// Reads the blocks of a segment in order. Borrows the file.
class BlockCursor {
public:
    explicit BlockCursor(const OpenFile& file) : file_(&file) {}

    struct Block {
        BlockHead head;
        std::string payload;  ///< Compressed; its CRC is right.
    };
    /// Returns the next valid block, or nullopt at the end of the file or before an invalid block;
    /// torn() is then true.
    [[nodiscard]] std::optional<Block> next();
    /// Skips blocks that end before `seq`, reading only their heads.
    void skip_before(SequenceNumber seq);
    [[nodiscard]] bool torn() const noexcept { return torn_; }
    /// Returns the end of the last valid block, in bytes of the file.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

private:
    [[nodiscard]] std::optional<BlockHead> peek();

    const OpenFile* file_;
    std::uint64_t offset_ = kSegmentHeadBytes;
    bool torn_ = false;
};

struct SegmentScan {
    SequenceNumber last_seq;  ///< 0 if there is no valid block.
    Digest256 chain{};        ///< After that input.
    std::uint64_t sound_bytes = 0;
    bool torn = false;  ///< The segment ends in an invalid block.
};
[[nodiscard]] SegmentScan scan_segment(const OpenFile& file);

/// Removes the oldest segments, never the newest, whose inputs are all older than
/// `oldest_kept_seconds` (0 keeps any age) or that exceed `bytes_max` in total (0 means no limit).
/// Returns the number removed.
[[nodiscard]] std::uint64_t remove_old_segments(const std::filesystem::path& folder,
                                                std::int64_t oldest_kept_seconds,
                                                std::uint64_t bytes_max);

}  // namespace sluice::store
