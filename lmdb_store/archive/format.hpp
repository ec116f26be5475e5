// Archive format: segments of compressed, checksummed blocks (docs/record-format.md has the bytes).
//
// Pure: bytes in, bytes out. Little endian. A block can be read without any other block, so damage
// does not spread, and a crash can tear only the last block.
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

struct ZSTD_CCtx_s;

namespace sluice::store {

inline constexpr std::uint16_t kArchiveFormat = 3;
inline constexpr std::size_t kSegmentHeadBytes = 112;
inline constexpr std::size_t kBlockHeadBytes = 72;
/// A block holds whole inputs; one input (a record and its bulk body) may reach this size.
inline constexpr std::uint32_t kBlockRawBytesMax = 3U << 30;

/// Where the body of an input was when it was applied.
enum class ArchivedBody : std::uint8_t {
    kInRecord = 0,
    kBulk = 1,         ///< `bulk_body` holds what the bulk file held.
    kBulkMissing = 2,  ///< The file was unreadable, as `dead_reason` says.
};

/// One input as it was applied. Views into the caller's bytes.
struct ArchivedInput {
    SequenceNumber seq;
    std::string_view record;  ///< As in the queue; decode_record() reads it.
    ArchivedBody body = ArchivedBody::kInRecord;
    std::string_view bulk_body;
    /// Digests of the body as it was received, and of the input as it was applied
    /// (core/protocol/input_digest.hpp). Set if personal data was removed since.
    struct Original {
        Digest256 body_sha256{}, input{};
        friend bool operator==(const Original&, const Original&) = default;
    };
    std::optional<Original> original;
    /// The reason of a dead letter, at most kDeadReasonBytesMax bytes. Empty for an applied input.
    std::string_view dead_reason;
    /// The last number that the input stands for: its own (or 0), or the end of a gap that it
    /// accepted.
    SequenceNumber last_seq{};
    /// Chain after the input. A block stores that of its last one; not read back with an input.
    Digest256 chain{};
};
inline constexpr std::size_t kDeadReasonBytesMax = 65'535;
/// Cuts a reason to the archive's limit.
[[nodiscard]] constexpr std::string_view cut_reason(std::string_view reason) noexcept {
    return reason.substr(0, kDeadReasonBytesMax);
}

struct SegmentHead {
    std::uint64_t ordinal = 0;  ///< 1, 2, 3 ... over the whole archive, in the order of applying.
    SequenceNumber first_seq;   ///< The first input of the segment.
    std::int64_t created_at_seconds = 0;
    std::string queue_uuid{};  ///< 1 to 64 bytes.
};

struct BlockHead {
    std::uint32_t inputs_count = 0;  ///< At least 1.
    SequenceNumber first_seq;
    SequenceNumber last_seq;
    std::uint32_t raw_bytes = 0;
    std::uint32_t stored_bytes = 0;  ///< Bytes of the payload, which follows the head.
    std::uint32_t payload_crc = 0;   ///< CRC32C of the payload.
    Digest256 chain{};               ///< After the last input.
};

[[nodiscard]] std::string encode_segment_head(const SegmentHead& head);
/// Returns kCorrupt or kUnsupported if the head is invalid.
[[nodiscard]] Result<SegmentHead> decode_segment_head(std::string_view bytes);

[[nodiscard]] std::string encode_block_head(const BlockHead& head);
[[nodiscard]] Result<BlockHead> decode_block_head(std::string_view bytes);

/// Appends one input to the raw bytes of a block. Requires: archived_bytes() fits the block.
void append_input(std::string& raw, const ArchivedInput& input);
[[nodiscard]] std::uint64_t archived_bytes(const ArchivedInput& input) noexcept;
/// Removes the next input from the front of `raw`. Its views point into the same bytes.
[[nodiscard]] Result<ArchivedInput> take_input(std::string_view& raw);

/// Compresses blocks with one zstd context. Threads: one at a time.
class BlockPacker {
public:
    /// @param level  1 (fast) to 19.
    explicit BlockPacker(int level);

    /// Returns head and payload of a block.
    /// @param raw  1 to kBlockRawBytesMax bytes, made by append_input().
    [[nodiscard]] std::string pack(BlockHead head, std::string_view raw);

private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
    };
    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    int level_;
};

/// Decompresses a block, after checking its CRC, to exactly `raw_bytes` bytes.
[[nodiscard]] Result<std::string> unpack_block(const BlockHead& head, std::string_view payload);

}  // namespace sluice::store
