#include "lmdb_store/archive/format.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>

#include "core/values/assert.hpp"
#include "core/values/crc32c.hpp"

namespace sluice::store {
namespace {

static_assert(std::endian::native == std::endian::little, "the archive is little endian");

constexpr std::uint32_t kSegmentMagic = 0x31414c53;  // "SLA1"
constexpr std::uint32_t kBlockMagic = 0x31424c53;    // "SLB1"
constexpr std::size_t kUuidBytesMax = 64;
constexpr std::uint8_t kFlagOriginal = 1;  ///< The two digests of ArchivedInput::original.
constexpr std::uint8_t kFlagGap = 2;       ///< The last number, u64.

struct StoredSegmentHead {
    std::uint32_t magic;
    std::uint16_t format;
    std::uint16_t uuid_bytes;
    std::uint64_t ordinal;
    std::uint64_t first_seq;
    std::int64_t created_at_seconds;
    std::array<char, kUuidBytesMax> uuid;
    std::array<std::uint32_t, 3> reserved_zero;
    std::uint32_t crc;  ///< CRC32C of what comes before it.
};
static_assert(sizeof(StoredSegmentHead) == kSegmentHeadBytes);

struct StoredBlockHead {
    std::uint32_t magic;
    std::uint32_t inputs_count;
    std::uint64_t first_seq;
    std::uint64_t last_seq;
    std::uint32_t raw_bytes;
    std::uint32_t stored_bytes;
    std::uint32_t payload_crc;
    Digest256 chain;
    std::uint32_t crc;  ///< CRC32C of what comes before it.
};
static_assert(sizeof(StoredBlockHead) == kBlockHeadBytes);

/// Precedes each input in a block's raw bytes.
struct StoredInputHead {
    std::uint64_t seq;
    std::uint64_t bulk_bytes;
    std::uint32_t record_bytes;
    std::uint8_t body;
    std::uint8_t flags;
    std::uint16_t reason_bytes;
};
static_assert(sizeof(StoredInputHead) == 24);

Error damaged(const char* what) {
    return {ErrorCode::kCorrupt, std::string("archive is damaged: ") + what};
}

template <class Head>
std::string bytes_of(Head head) {
    head.crc = 0;
    head.crc = crc32c(0, {reinterpret_cast<const char*>(&head), offsetof(Head, crc)});
    return {reinterpret_cast<const char*>(&head), sizeof(head)};
}

template <class Head>
std::optional<Head> checked_head(std::string_view bytes, std::uint32_t magic) {
    Head head;
    if (bytes.size() < sizeof(head)) {
        return std::nullopt;
    }
    std::memcpy(&head, bytes.data(), sizeof(head));
    if (head.magic != magic || head.crc != crc32c(0, bytes.substr(0, offsetof(Head, crc)))) {
        return std::nullopt;
    }
    return head;
}

/// Returns true if the unused bytes from `first` on are zero, because another format would use
/// them.
template <class Bytes>
bool is_zero(const Bytes& unused, std::size_t first = 0) noexcept {
    return std::all_of(unused.begin() + first, unused.end(), [](auto each) { return each == 0; });
}

bool out_of_memory(std::size_t zstd_result) noexcept {
    return ZSTD_getErrorCode(zstd_result) == ZSTD_error_memory_allocation;
}

}  // namespace

std::string encode_segment_head(const SegmentHead& head) {
    SLUICE_ASSERT(!head.queue_uuid.empty() && head.queue_uuid.size() <= kUuidBytesMax);
    StoredSegmentHead stored{};
    stored.magic = kSegmentMagic;
    stored.format = kArchiveFormat;
    stored.uuid_bytes = static_cast<std::uint16_t>(head.queue_uuid.size());
    stored.ordinal = head.ordinal;
    stored.first_seq = head.first_seq.value;
    stored.created_at_seconds = head.created_at_seconds;
    std::ranges::copy(head.queue_uuid, stored.uuid.begin());
    return bytes_of(stored);
}

Result<SegmentHead> decode_segment_head(std::string_view bytes) {
    const auto stored = checked_head<StoredSegmentHead>(bytes, kSegmentMagic);
    if (!stored) {
        return damaged("the head of a segment");
    }
    if (stored->format != kArchiveFormat) {
        return unsupported("archive: written by " +
                           std::string(stored->format < kArchiveFormat ? "an earlier" : "a later") +
                           " sluice (format " + std::to_string(stored->format) +
                           "; this release reads " + std::to_string(kArchiveFormat) + ")");
    }
    if (stored->uuid_bytes == 0 || stored->uuid_bytes > kUuidBytesMax) {
        return damaged("the queue's UUID in the head of a segment");
    }
    if (!is_zero(stored->reserved_zero) || !is_zero(stored->uuid, stored->uuid_bytes)) {
        return damaged("the unused bytes in the head of a segment");
    }
    SegmentHead head{.ordinal = stored->ordinal,
                     .first_seq = {stored->first_seq},
                     .created_at_seconds = stored->created_at_seconds};
    head.queue_uuid.assign(stored->uuid.data(), stored->uuid_bytes);
    return head;
}

std::string encode_block_head(const BlockHead& head) {
    StoredBlockHead stored{};
    stored.magic = kBlockMagic;
    stored.inputs_count = head.inputs_count;
    stored.first_seq = head.first_seq.value;
    stored.last_seq = head.last_seq.value;
    stored.raw_bytes = head.raw_bytes;
    stored.stored_bytes = head.stored_bytes;
    stored.payload_crc = head.payload_crc;
    stored.chain = head.chain;
    return bytes_of(stored);
}

Result<BlockHead> decode_block_head(std::string_view bytes) {
    const auto stored = checked_head<StoredBlockHead>(bytes, kBlockMagic);
    if (!stored) {
        return damaged("the head of a block");
    }
    if (stored->raw_bytes > kBlockRawBytesMax || stored->inputs_count == 0 ||
        stored->first_seq > stored->last_seq) {
        return damaged("the figures in the head of a block");
    }
    return BlockHead{stored->inputs_count, {stored->first_seq},  {stored->last_seq},
                     stored->raw_bytes,    stored->stored_bytes, stored->payload_crc,
                     stored->chain};
}

namespace {

bool is_gap(const ArchivedInput& input) noexcept {
    return input.last_seq > input.seq;
}

template <class Value>
void append_value(std::string& raw, const Value& value) {
    raw.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// Returns false if the bytes are too few.
template <class Value>
bool take_value(std::string_view& rest, Value& value) {
    if (rest.size() < sizeof(value)) {
        return false;
    }
    std::memcpy(&value, rest.data(), sizeof(value));
    rest.remove_prefix(sizeof(value));
    return true;
}

}  // namespace

std::uint64_t archived_bytes(const ArchivedInput& input) noexcept {
    return sizeof(StoredInputHead) + (input.original ? sizeof(ArchivedInput::Original) : 0) +
           (is_gap(input) ? sizeof(std::uint64_t) : 0) + input.dead_reason.size() +
           std::uint64_t{input.record.size()} + input.bulk_body.size();
}

void append_input(std::string& raw, const ArchivedInput& input) {
    SLUICE_ASSERT(archived_bytes(input) + raw.size() <= kBlockRawBytesMax);
    SLUICE_ASSERT(input.dead_reason.size() <= kDeadReasonBytesMax);
    const StoredInputHead head{
        input.seq.value,
        input.bulk_body.size(),
        static_cast<std::uint32_t>(input.record.size()),
        static_cast<std::uint8_t>(input.body),
        static_cast<std::uint8_t>((input.original ? kFlagOriginal : 0) |
                                  (is_gap(input) ? kFlagGap : 0)),
        static_cast<std::uint16_t>(input.dead_reason.size()),
    };
    raw.append(reinterpret_cast<const char*>(&head), sizeof(head));
    if (input.original) {
        append_value(raw, *input.original);
    }
    if (is_gap(input)) {
        append_value(raw, input.last_seq.value);
    }
    raw.append(input.dead_reason);
    raw.append(input.record);
    raw.append(input.bulk_body);
}

Result<ArchivedInput> take_input(std::string_view& raw) {
    StoredInputHead head;
    if (raw.size() < sizeof(head)) {
        return damaged("an input shorter than its head");
    }
    std::memcpy(&head, raw.data(), sizeof(head));
    std::string_view rest = raw.substr(sizeof(head));
    if (head.body > static_cast<std::uint8_t>(ArchivedBody::kBulkMissing) ||
        (head.flags & ~(kFlagOriginal | kFlagGap)) != 0) {
        return unsupported("archive holds an input of a newer release: use that release");
    }
    ArchivedInput input;
    input.seq = {head.seq};
    input.body = static_cast<ArchivedBody>(head.body);
    input.last_seq = input.seq;
    if ((head.flags & kFlagOriginal) != 0) {
        input.original = ArchivedInput::Original{};
        if (!take_value(rest, *input.original)) {
            return damaged("an input shorter than its digests");
        }
    }
    if ((head.flags & kFlagGap) != 0 &&
        (!take_value(rest, input.last_seq.value) || !is_gap(input))) {
        return damaged("the end of a gap");
    }
    if (head.reason_bytes > rest.size()) {
        return damaged("an input shorter than its reason");
    }
    input.dead_reason = rest.substr(0, head.reason_bytes);
    rest.remove_prefix(head.reason_bytes);
    if (head.record_bytes > rest.size() || head.bulk_bytes > rest.size() - head.record_bytes) {
        return damaged("an input longer than its block");
    }
    input.record = rest.substr(0, head.record_bytes);
    input.bulk_body = rest.substr(head.record_bytes, head.bulk_bytes);
    raw = rest.substr(head.record_bytes + head.bulk_bytes);
    return input;
}

BlockPacker::BlockPacker(int level) : context_(ZSTD_createCCtx()), level_(level) {
    if (context_ == nullptr) {
        throw std::bad_alloc();
    }
}

void BlockPacker::Free::operator()(ZSTD_CCtx_s* context) const noexcept {
    ZSTD_freeCCtx(context);
}

std::string BlockPacker::pack(BlockHead head, std::string_view raw) {
    SLUICE_ASSERT(!raw.empty() && raw.size() <= kBlockRawBytesMax);
    std::string block(kBlockHeadBytes + ZSTD_compressBound(raw.size()), '\0');
    char* payload = block.data() + kBlockHeadBytes;
    const std::size_t bytes = ZSTD_compressCCtx(
        context_.get(), payload, block.size() - kBlockHeadBytes, raw.data(), raw.size(), level_);
    if (ZSTD_isError(bytes) != 0) {
        SLUICE_ASSERT(out_of_memory(bytes));  // the block has room for any input
        throw std::bad_alloc();
    }
    block.resize(kBlockHeadBytes + bytes);
    head.raw_bytes = static_cast<std::uint32_t>(raw.size());
    head.stored_bytes = static_cast<std::uint32_t>(bytes);
    head.payload_crc = crc32c(0, std::string_view(block).substr(kBlockHeadBytes));
    block.replace(0, kBlockHeadBytes, encode_block_head(head));
    return block;
}

Result<std::string> unpack_block(const BlockHead& head, std::string_view payload) {
    if (payload.size() != head.stored_bytes || crc32c(0, payload) != head.payload_crc) {
        return damaged("the checksum of a block");
    }
    std::string raw(head.raw_bytes, '\0');
    const std::size_t bytes =
        ZSTD_decompress(raw.data(), raw.size(), payload.data(), payload.size());
    if (out_of_memory(bytes)) {
        throw std::bad_alloc();
    }
    if (ZSTD_isError(bytes) != 0 || bytes != raw.size()) {
        return damaged("a block does not unpack");
    }
    return raw;
}

}  // namespace sluice::store
