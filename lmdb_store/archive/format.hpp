// Archive format: segments of compressed, checksummed blocks (docs/record-format.md has the bytes).
//
// Pure: bytes in, bytes out. Little endian. A block can be read without any other block, so damage
// stays where it is, and what a crash left half written is only ever the last block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"

namespace sluice::store {

inline constexpr std::uint16_t kArchiveFormat = 1;
inline constexpr std::size_t kSegmentHeadBytes = 112;
inline constexpr std::size_t kBlockHeadBytes = 56;
/// A block holds whole inputs; one input (a record and its bulk body) may reach this size.
inline constexpr std::uint32_t kBlockRawBytesMax = 3U << 30;

/// Where the body of an input was when it was applied.
enum class ArchivedBody : std::uint8_t {
    kInRecord = 0,
    kBulk = 1,         ///< `bulk_body` holds what the bulk file held.
    kBulkMissing = 2,  ///< The file could not be read; `dead_reason` says why.
};

/// One input as it was applied. Views into the caller's bytes.
struct ArchivedInput {
    SequenceNumber seq;
    std::string_view record;  ///< As it lay in the queue; decode_record() reads it.
    ArchivedBody body = ArchivedBody::kInRecord;
    std::string_view bulk_body;
    /// Of the body as it was received; set when personal data was taken out since.
    std::optional<Digest256> original_sha256;
    /// Not empty: it went to the dead letters with this reason, whatever its bytes say. At most
    /// kDeadReasonBytesMax bytes.
    std::string_view dead_reason;
};
inline constexpr std::size_t kDeadReasonBytesMax = 65'535;
/// As much of a reason as the archive holds.
[[nodiscard]] constexpr std::string_view cut_reason(std::string_view reason) noexcept {
    return reason.substr(0, kDeadReasonBytesMax);
}

struct SegmentHead {
    std::uint64_t ordinal = 0;  ///< 1, 2, 3 ... over the whole archive: the order of applying.
    SequenceNumber first_seq;   ///< The first input that it was made for.
    std::int64_t created_at_seconds = 0;
    std::string queue_uuid;  ///< 1 to 64 bytes.
};

struct BlockHead {
    std::uint32_t inputs_count = 0;  ///< At least 1.
    SequenceNumber first_seq;
    SequenceNumber last_seq;
    std::uint32_t raw_bytes = 0;
    std::uint32_t stored_bytes = 0;  ///< What follows the head.
    std::uint32_t payload_crc = 0;   ///< CRC32C of what follows the head.
};

[[nodiscard]] std::string encode_segment_head(const SegmentHead& head);
/// kCorrupt or kUnsupported.
[[nodiscard]] Result<SegmentHead> decode_segment_head(std::string_view bytes);

[[nodiscard]] std::string encode_block_head(const BlockHead& head);
[[nodiscard]] Result<BlockHead> decode_block_head(std::string_view bytes);

/// Appends one input to the raw bytes of a block. Requires: archived_bytes() fits the block.
void append_input(std::string& raw, const ArchivedInput& input);
[[nodiscard]] std::uint64_t archived_bytes(const ArchivedInput& input) noexcept;
/// Takes the next input off the front of `raw`; its views point into the same bytes.
[[nodiscard]] Result<ArchivedInput> take_input(std::string_view& raw);

/// zstd, with a context that is kept from block to block. Not thread-safe.
class BlockPacker {
public:
    /// @param level  1 (fast) to 19.
    explicit BlockPacker(int level);
    ~BlockPacker();
    BlockPacker(const BlockPacker&) = delete;
    BlockPacker& operator=(const BlockPacker&) = delete;

    /// Head and payload of a block, ready to be written.
    /// @param raw  1 to kBlockRawBytesMax bytes, made by append_input().
    [[nodiscard]] std::string pack(BlockHead head, std::string_view raw);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Checks the CRC before anything is unpacked, and that exactly `raw_bytes` come out.
[[nodiscard]] Result<std::string> unpack_block(const BlockHead& head, std::string_view payload);

}  // namespace sluice::store
