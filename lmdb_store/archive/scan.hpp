// Archive scan: what lies in a folder of segments. Inner header of the room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/archive/format.hpp"
#include "lmdb_store/archive/segment_file.hpp"

namespace sluice::store {

/// Reads the blocks of one segment, one after the other. Borrows the file.
class BlockCursor {
public:
    explicit BlockCursor(const OpenFile& file) : file_(&file) {}

    struct Block {
        BlockHead head;
        std::string payload;  ///< Compressed; its CRC is right.
    };
    /// The next sound block; nothing at the end, and nothing in front of bytes that are no sound
    /// block: then torn() is true.
    [[nodiscard]] Result<std::optional<Block>> next();
    /// Skips blocks that end before `seq`, reading their heads only.
    [[nodiscard]] Status skip_before(SequenceNumber seq);
    [[nodiscard]] bool torn() const noexcept { return torn_; }
    /// Bytes of the segment up to the end of the last sound block.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

private:
    [[nodiscard]] Result<std::optional<BlockHead>> peek();

    const OpenFile* file_;
    std::uint64_t offset_ = kSegmentHeadBytes;
    bool torn_ = false;
};

struct SegmentScan {
    SequenceNumber last_seq;  ///< 0: no sound block.
    std::uint64_t sound_bytes = 0;
    bool torn = false;  ///< Bytes follow that are no sound block.
};
[[nodiscard]] Result<SegmentScan> scan_segment(const OpenFile& file);

/// Removes segments, the oldest first and never the newest, whose inputs are all older than
/// `oldest_kept_seconds` (0: any age is kept), or that do not fit `bytes_max` (0: all fit).
[[nodiscard]] Result<std::uint64_t> remove_old_segments(const std::filesystem::path& folder,
                                                        std::int64_t oldest_kept_seconds,
                                                        std::uint64_t bytes_max);

}  // namespace sluice::store
