// Lane format: the bytes of a lane's head and of its batches (docs/record-format.md). Pure.
//
// A lane is a ring of blocks. A log offset counts on over the laps: the byte at `offset` lies at
// `offset % size` of the ring, so a batch of the last lap is not mistaken for a new one.
// Rules: L1, L2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/values/parsed.hpp"
#include "core/values/result.hpp"

namespace sluice {

inline constexpr std::uint64_t kLaneBlockBytes = 4096;
inline constexpr std::uint16_t kLaneFormat = 1;
/// Bytes before a batch's records, and before each record.
inline constexpr std::uint64_t kLaneBatchHeadBytes = 96;
inline constexpr std::uint64_t kLaneRecordHeadBytes = 4;
inline constexpr std::uint64_t kLaneBatchBytesMax = 1U << 20;

using Uuid = std::array<std::uint8_t, 16>;

/// Parses a UUID in lower case with dashes. Returns nullopt if `text` is no UUID.
[[nodiscard]] Parsed<Uuid> parse_uuid(std::string_view text) noexcept;

/// The lane and its store. Part of the head and of each batch.
struct LaneIdentity {
    Uuid store{};
    Uuid lane{};
    friend bool operator==(const LaneIdentity&, const LaneIdentity&) = default;
};

/// The first block of a lane's file.
struct LaneHead {
    LaneIdentity identity;
    std::uint64_t bytes = 0;  ///< Size of the ring after the head; a multiple of the block.
};
void encode_lane_head(const LaneHead& head, std::span<char, kLaneBlockBytes> block) noexcept;
/// Returns kCorrupt or kUnsupported, with a message that continues the file's name.
[[nodiscard]] Result<LaneHead> decode_lane_head(std::string_view block);

struct LaneBatchHead {
    std::uint64_t offset = 0;
    std::uint64_t stamp_ns = 0;  ///< CLOCK_MONOTONIC before the write; comparable within a boot.
    std::uint64_t answered = 0;  ///< Batches below this offset were answered before the write.
    Uuid boot{};
    std::uint32_t bytes = 0;      ///< Head, records and padding.
    std::uint32_t count = 0;      ///< Records.
    std::uint16_t in_flight = 0;  ///< Batches that may be written before this one is durable.
    std::uint32_t crc = 0;

    [[nodiscard]] std::uint64_t end() const noexcept { return offset + bytes; }
};

/// Returns the bytes of a batch of `count` records with `record_bytes` in total.
[[nodiscard]] constexpr std::uint64_t lane_batch_bytes(std::uint64_t record_bytes,
                                                       std::uint64_t count) noexcept {
    const std::uint64_t bytes = kLaneBatchHeadBytes + record_bytes + count * kLaneRecordHeadBytes;
    return (bytes + kLaneBlockBytes - 1) / kLaneBlockBytes * kLaneBlockBytes;
}

/// Returns the largest batch of a ring, in bytes. A batch is whole blocks, and at most an eighth of
/// the ring, so that it finds room as soon as any batch was moved. 0 if the ring is too small.
[[nodiscard]] constexpr std::uint64_t lane_batch_bytes_max(std::uint64_t ring_bytes) noexcept {
    const std::uint64_t most = ring_bytes / 8 / kLaneBlockBytes * kLaneBlockBytes;
    return most < kLaneBatchBytesMax ? most : kLaneBatchBytesMax;
}

/// Returns the largest record that a batch of a ring holds, in bytes. 0 if the ring is too small.
[[nodiscard]] constexpr std::uint64_t lane_record_bytes_max(std::uint64_t ring_bytes) noexcept {
    const std::uint64_t most = lane_batch_bytes_max(ring_bytes);
    return most == 0 ? 0 : most - kLaneBatchHeadBytes - kLaneRecordHeadBytes;
}

/// Fills a buffer with a batch. Call add() for each record, then finish().
class LaneBatchWriter {
public:
    explicit LaneBatchWriter(std::span<char> buffer) noexcept : buffer_(buffer) {}
    /// Adds a record of two parts. Requires: the buffer has room for the batch.
    void add(std::string_view front, std::string_view back) noexcept;
    /// Pads and checksums the batch, and sets bytes, count and crc of `head`. Returns the batch.
    [[nodiscard]] std::string_view finish(const LaneIdentity& identity,
                                          LaneBatchHead& head) noexcept;

private:
    std::span<char> buffer_;
    std::size_t used_ = kLaneBatchHeadBytes;
    std::uint32_t count_ = 0;
};

/// A batch whose checksum is right. Views the bytes that it was read from.
class LaneBatch {
public:
    /// Returns the batch's size in bytes if the block holds the head of a batch of this lane at
    /// `offset`, or nullopt. The checksum is not checked, since it needs the whole batch.
    [[nodiscard]] static std::optional<std::uint64_t> bytes_claimed(std::string_view block,
                                                                    const LaneIdentity& identity,
                                                                    std::uint64_t offset) noexcept;
    /// Returns true if the block begins with the head of a batch of this lane that holds records,
    /// at any offset.
    [[nodiscard]] static bool claims_records(std::string_view block,
                                             const LaneIdentity& identity) noexcept;
    /// Returns the batch at the beginning of `bytes`, or nullopt unless every bit of it is as this
    /// lane wrote it for this offset.
    [[nodiscard]] static std::optional<LaneBatch> read(std::string_view bytes,
                                                       const LaneIdentity& identity,
                                                       std::uint64_t offset) noexcept;

    [[nodiscard]] const LaneBatchHead& head() const noexcept { return head_; }
    /// Calls visit(record) for each record. read() has checked that they fit.
    template <class Visit>
    void for_each_record(Visit&& visit) const {
        std::size_t at = kLaneBatchHeadBytes;
        for (std::uint32_t i = 0; i < head_.count; ++i) {
            const std::size_t bytes = record_bytes(at);
            visit(bytes_.substr(at + kLaneRecordHeadBytes, bytes));
            at += kLaneRecordHeadBytes + bytes;
        }
    }

private:
    [[nodiscard]] std::size_t record_bytes(std::size_t at) const noexcept;
    [[nodiscard]] bool records_fit() const noexcept;

    LaneBatchHead head_;
    std::string_view bytes_;
};

}  // namespace sluice
