#include "core/commit/lane_format.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/values/assert.hpp"
#include "core/values/crc32c.hpp"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "lanes are little endian");

constexpr std::uint32_t kHeadMagic = 0x484E4C53;   // "SLNH"
constexpr std::uint32_t kBatchMagic = 0x424E4C53;  // "SLNB"

/// The heads in the file. The checksum is computed with zeros in its own place.
struct StoredHead {
    std::uint32_t magic;
    std::uint16_t format;
    std::uint16_t unused;
    std::uint32_t crc;
    std::uint32_t also_unused;
    std::uint64_t bytes;
    Uuid store;
    Uuid lane;
};

struct StoredBatch {
    std::uint32_t magic;
    std::uint16_t format;
    std::uint16_t in_flight;
    std::uint32_t crc;
    std::uint32_t bytes;
    std::uint32_t count;
    std::uint32_t unused;
    std::uint64_t offset;
    std::uint64_t stamp_ns;
    std::uint64_t answered;
    Uuid store;
    Uuid lane;
    Uuid boot;
};
static_assert(sizeof(StoredBatch) == kLaneBatchHeadBytes);

constexpr std::size_t kCrcAt = 8;
static_assert(offsetof(StoredHead, crc) == kCrcAt && offsetof(StoredBatch, crc) == kCrcAt);

/// Computes the checksum of a block or batch, with zeros in the place of the checksum.
std::uint32_t sealed_crc(std::string_view bytes) noexcept {
    constexpr std::string_view kZeros("\0\0\0\0", 4);
    std::uint32_t crc = crc32c(0, bytes.substr(0, kCrcAt));
    crc = crc32c(crc, kZeros);
    return crc32c(crc, bytes.substr(kCrcAt + kZeros.size()));
}

template <class Stored>
Stored stored_at(std::string_view bytes) noexcept {
    Stored stored;
    std::memcpy(&stored, bytes.data(), sizeof(stored));
    return stored;
}

bool is_batch_of(const StoredBatch& stored, const LaneIdentity& identity,
                 std::uint64_t offset) noexcept {
    return stored.magic == kBatchMagic && stored.format == kLaneFormat &&
           stored.store == identity.store && stored.lane == identity.lane &&
           stored.offset == offset && stored.bytes >= kLaneBlockBytes &&
           stored.bytes <= kLaneBatchBytesMax && stored.bytes % kLaneBlockBytes == 0;
}

int nibble(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

Parsed<Uuid> parse_uuid(std::string_view text) noexcept {
    if (text.size() != 36) {
        return std::nullopt;
    }
    Uuid uuid{};
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const int value = nibble(text[i]);
        if (dash ? text[i] != '-' : value < 0) {
            return std::nullopt;
        }
        if (!dash) {
            uuid[digits / 2] = static_cast<std::uint8_t>(uuid[digits / 2] << 4 | value);
            ++digits;
        }
    }
    return uuid;
}

void encode_lane_head(const LaneHead& head, std::span<char, kLaneBlockBytes> block) noexcept {
    std::fill(block.begin(), block.end(), '\0');
    StoredHead stored{kHeadMagic,          kLaneFormat,       0, 0, 0, head.bytes,
                      head.identity.store, head.identity.lane};
    std::memcpy(block.data(), &stored, sizeof(stored));
    stored.crc = sealed_crc({block.data(), block.size()});
    std::memcpy(block.data(), &stored, sizeof(stored));
}

Result<LaneHead> decode_lane_head(std::string_view block) {
    if (block.size() < kLaneBlockBytes) {
        return Error{ErrorCode::kCorrupt, "is shorter than its head"};
    }
    block = block.substr(0, kLaneBlockBytes);
    const auto stored = stored_at<StoredHead>(block);
    if (stored.magic != kHeadMagic) {
        return Error{ErrorCode::kCorrupt, "is no lane"};
    }
    if (stored.format > kLaneFormat) {
        return Error{ErrorCode::kUnsupported,
                     "has format " + std::to_string(stored.format) + ", this release knows " +
                         std::to_string(kLaneFormat) + ": use a newer release of sluice"};
    }
    if (stored.crc != sealed_crc(block) || stored.format == 0 || stored.bytes == 0 ||
        stored.bytes % kLaneBlockBytes != 0) {
        return Error{ErrorCode::kCorrupt, "has a damaged head"};
    }
    return LaneHead{{stored.store, stored.lane}, stored.bytes};
}

void LaneBatchWriter::add(std::string_view front, std::string_view back) noexcept {
    const auto bytes = static_cast<std::uint32_t>(front.size() + back.size());
    SLUICE_ASSERT(used_ + kLaneRecordHeadBytes + bytes <= buffer_.size());
    char* to = buffer_.data() + used_;
    std::memcpy(to, &bytes, sizeof(bytes));
    to = std::copy(front.begin(), front.end(), to + sizeof(bytes));
    std::copy(back.begin(), back.end(), to);
    used_ += kLaneRecordHeadBytes + bytes;
    ++count_;
}

std::string_view LaneBatchWriter::finish(const LaneIdentity& identity,
                                         LaneBatchHead& head) noexcept {
    const std::size_t whole = (used_ + kLaneBlockBytes - 1) / kLaneBlockBytes * kLaneBlockBytes;
    SLUICE_ASSERT(whole <= buffer_.size() && whole <= kLaneBatchBytesMax);
    std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(used_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(whole), '\0');
    head.bytes = static_cast<std::uint32_t>(whole);
    head.count = count_;
    StoredBatch stored{kBatchMagic,
                       kLaneFormat,
                       head.in_flight,
                       0,
                       head.bytes,
                       head.count,
                       0,
                       head.offset,
                       head.stamp_ns,
                       head.answered,
                       identity.store,
                       identity.lane,
                       head.boot};
    std::memcpy(buffer_.data(), &stored, sizeof(stored));
    const std::string_view batch(buffer_.data(), whole);
    stored.crc = head.crc = sealed_crc(batch);
    std::memcpy(buffer_.data(), &stored, sizeof(stored));
    return batch;
}

std::optional<std::uint64_t> LaneBatch::bytes_claimed(std::string_view block,
                                                      const LaneIdentity& identity,
                                                      std::uint64_t offset) noexcept {
    if (block.size() < kLaneBatchHeadBytes) {
        return std::nullopt;
    }
    const auto stored = stored_at<StoredBatch>(block);
    return is_batch_of(stored, identity, offset) ? std::optional<std::uint64_t>(stored.bytes)
                                                 : std::nullopt;
}

bool LaneBatch::claims_records(std::string_view block, const LaneIdentity& identity) noexcept {
    if (block.size() < kLaneBatchHeadBytes) {
        return false;
    }
    const auto stored = stored_at<StoredBatch>(block);
    return is_batch_of(stored, identity, stored.offset) && stored.count > 0;
}

std::optional<LaneBatch> LaneBatch::read(std::string_view bytes, const LaneIdentity& identity,
                                         std::uint64_t offset) noexcept {
    const std::optional<std::uint64_t> claimed = bytes_claimed(bytes, identity, offset);
    if (!claimed || *claimed > bytes.size()) {
        return std::nullopt;
    }
    LaneBatch batch;
    batch.bytes_ = bytes.substr(0, *claimed);
    const auto stored = stored_at<StoredBatch>(batch.bytes_);
    if (stored.crc != sealed_crc(batch.bytes_)) {
        return std::nullopt;
    }
    batch.head_ = {stored.offset, stored.stamp_ns, stored.answered,  stored.boot,
                   stored.bytes,  stored.count,    stored.in_flight, stored.crc};
    return batch.records_fit() ? std::optional(batch) : std::nullopt;
}

std::size_t LaneBatch::record_bytes(std::size_t at) const noexcept {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, bytes_.data() + at, sizeof(bytes));
    return bytes;
}

bool LaneBatch::records_fit() const noexcept {
    std::size_t at = kLaneBatchHeadBytes;
    for (std::uint32_t i = 0; i < head_.count; ++i) {
        if (at + kLaneRecordHeadBytes > bytes_.size() ||
            record_bytes(at) > bytes_.size() - at - kLaneRecordHeadBytes) {
            return false;
        }
        at += kLaneRecordHeadBytes + record_bytes(at);
    }
    return true;
}

}  // namespace sluice
