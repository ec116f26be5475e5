// Lane format: the bytes of a lane's head and of its batches (docs/record-format.md). Pure.
//
// A lane is a ring of blocks. Positions count on over its laps: the bytes at `position` lie at
// `position % size` behind the head, so what the last lap left there cannot pass for new.
// Rules: L1, L2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice {

inline constexpr std::uint64_t kLaneBlockBytes = 4096;
inline constexpr std::uint16_t kLaneFormat = 1;
/// What stands in front of a batch's records, and in front of each.
inline constexpr std::uint64_t kLaneBatchHeadBytes = 96;
inline constexpr std::uint64_t kLaneRecordHeadBytes = 4;
inline constexpr std::uint64_t kLaneBatchBytesMax = 1U << 20;

using Uuid = std::array<std::uint8_t, 16>;

/// Of its usual text, lower case with dashes. Nothing: it is none.
[[nodiscard]] std::optional<Uuid> parse_uuid(std::string_view text) noexcept;

/// Whose lane it is. Part of its head and of each batch.
struct LaneIdentity {
    Uuid store{};
    Uuid lane{};
    friend bool operator==(const LaneIdentity&, const LaneIdentity&) = default;
};

/// The first block of a lane's file.
struct LaneHead {
    LaneIdentity identity;
    std::uint64_t bytes = 0;  ///< Of the ring behind the head; a multiple of the block.
};
void encode_lane_head(const LaneHead& head, std::span<char, kLaneBlockBytes> block) noexcept;
/// kCorrupt or kUnsupported, with words that go behind the file's name.
[[nodiscard]] Result<LaneHead> decode_lane_head(std::string_view block);

struct LaneBatchHead {
    std::uint64_t position = 0;
    std::uint64_t stamp_ns = 0;  ///< CLOCK_MONOTONIC before it was written; counts within a boot.
    std::uint64_t answered = 0;  ///< Answers had left for what lies below when it was written.
    Uuid boot{};
    std::uint32_t bytes = 0;   ///< Head, records and padding.
    std::uint32_t count = 0;   ///< Records.
    std::uint16_t behind = 0;  ///< As many batches may be written before this one is durable.
    std::uint32_t crc = 0;

    [[nodiscard]] std::uint64_t end() const noexcept { return position + bytes; }
};

/// Bytes of a batch of `count` records with `record_bytes` in all.
[[nodiscard]] constexpr std::uint64_t lane_batch_bytes(std::uint64_t record_bytes,
                                                       std::uint64_t count) noexcept {
    const std::uint64_t bytes = kLaneBatchHeadBytes + record_bytes + count * kLaneRecordHeadBytes;
    return (bytes + kLaneBlockBytes - 1) / kLaneBlockBytes * kLaneBlockBytes;
}

/// Fills a buffer with a batch: add() each record, then finish().
class LaneBatchWriter {
public:
    explicit LaneBatchWriter(std::span<char> buffer) noexcept : buffer_(buffer) {}
    /// A record in two parts. Requires: the buffer has room for the batch.
    void add(std::string_view front, std::string_view back) noexcept;
    /// Pads and seals it; fills in bytes, count and crc. @return the whole batch.
    [[nodiscard]] std::string_view finish(const LaneIdentity& identity,
                                          LaneBatchHead& head) noexcept;

private:
    std::span<char> buffer_;
    std::size_t used_ = kLaneBatchHeadBytes;
    std::uint32_t count_ = 0;
};

/// A batch that was checked. Views the bytes that it was read from.
class LaneBatch {
public:
    /// Looks at one block: is this where a batch of this lane begins at `position`, as far as its
    /// head can tell? Then as many bytes are needed to know.
    [[nodiscard]] static std::optional<std::uint64_t> bytes_claimed(
        std::string_view block, const LaneIdentity& identity, std::uint64_t position) noexcept;
    /// Looks at one block: does a batch of this lane that holds records begin here, wherever it
    /// belongs?
    [[nodiscard]] static bool claims_records(std::string_view block,
                                             const LaneIdentity& identity) noexcept;
    /// The batch at the beginning of `bytes`; nothing unless every bit of it is as it was written,
    /// by this lane, for this position.
    [[nodiscard]] static std::optional<LaneBatch> read(std::string_view bytes,
                                                       const LaneIdentity& identity,
                                                       std::uint64_t position) noexcept;

    [[nodiscard]] const LaneBatchHead& head() const noexcept { return head_; }
    /// Calls visit(record) for each; read() has checked that they fit.
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
