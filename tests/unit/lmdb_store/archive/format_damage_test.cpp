// Bytes of an archive that are not what was written: refused, or read within their limits.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "core/protocol/signature.hpp"
#include "core/values/crc32c.hpp"
#include "lmdb_store/archive/format.hpp"

namespace sluice::store {
namespace {

/// One kind of row. `reread`: nothing if the bytes are refused, else what is written of them.
struct BlockKind {
    const char* name;
    std::string bytes;
    std::function<std::optional<std::string>(std::string_view)> reread;
};

/// Reads and writes an input of an archive's block.
BlockKind input_kind() {
    static const ArchivedInput::Original digests{sha256("body"), sha256("input")};
    std::string bytes;
    append_input(bytes, {{9}, "record", ArchivedBody::kBulk, "bulk", digests, "reason"});
    return {"archived input", bytes, [](std::string_view raw) -> std::optional<std::string> {
                const auto input = take_input(raw);
                if (!input.ok()) {
                    return std::nullopt;
                }
                std::string again;
                append_input(again, *input);
                return again;
            }};
}

/// @return how many of the changed rows were refused.
int expect_refused_or_read(const BlockKind& kind) {
    int refused = 0;
    for (std::size_t at = 0; at < kind.bytes.size(); ++at) {
        for (const int mask : {0x01, 0x04, 0x80, 0xFF}) {
            std::string damaged = kind.bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ mask);
            const auto first = kind.reread(damaged);
            if (!first) {
                ++refused;
                continue;
            }
            EXPECT_EQ(kind.reread(*first), first) << kind.name << " at " << at << " ^ " << mask;
        }
    }
    return refused;
}

TEST(ArchiveDamage, AnInputWithAByteChangedIsRefusedOrAnInput) {
    const BlockKind kind = input_kind();
    EXPECT_EQ(kind.reread(kind.bytes), kind.bytes);
    EXPECT_GE(expect_refused_or_read(kind), 4);
}

TEST(ArchiveDamage, AnArchivedInputThatIsCutIsRefusedWhereverItIs) {
    const BlockKind kind = input_kind();
    for (std::size_t cut = 0; cut < kind.bytes.size(); ++cut) {
        EXPECT_EQ(kind.reread(std::string_view(kind.bytes).substr(0, cut)), std::nullopt) << cut;
    }
}

TEST(ArchiveDamage, ASegmentsHeadUnderARightChecksumIsReadWithinItsLimits) {
    const std::string good = encode_segment_head({1, {1}, 0, "queue"});
    ASSERT_TRUE(decode_segment_head(good).ok());
    EXPECT_EQ(decode_segment_head(good.substr(1)).error().code, ErrorCode::kCorrupt) << "too short";
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string damaged = good;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
        EXPECT_EQ(decode_segment_head(damaged).error().code, ErrorCode::kCorrupt) << at;
    }
}

TEST(ArchiveDamage, ASegmentOfAnotherFormatIsRefusedWithBothFormats) {
    constexpr std::size_t kFormatAt = 4;
    for (const auto& [format, age] :
         {std::pair{kArchiveFormat - 1, "an earlier"}, std::pair{kArchiveFormat + 1, "a later"}}) {
        std::string bytes = encode_segment_head({1, {1}, 0, "queue"});
        bytes[kFormatAt] = static_cast<char>(format);
        const std::uint32_t crc = crc32c(0, std::string_view(bytes).substr(0, bytes.size() - 4));
        std::memcpy(bytes.data() + bytes.size() - 4, &crc, sizeof(crc));
        const Error refused = decode_segment_head(bytes).error();
        EXPECT_EQ(refused.code, ErrorCode::kUnsupported);
        EXPECT_EQ(refused.message, "archive: written by " + std::string(age) + " sluice (format " +
                                       std::to_string(format) + "; this release reads " +
                                       std::to_string(kArchiveFormat) + ")");
    }
}

TEST(ArchiveDamage, ABlockThatContradictsItsHeadIsRefused) {
    BlockPacker packer(1);
    const std::string raw(1000, 'x');
    const std::string block = packer.pack({1, {5}, {5}, 0, 0, 0}, raw);
    const BlockHead head = *decode_block_head(block);
    const std::string payload = block.substr(kBlockHeadBytes);
    EXPECT_EQ(*unpack_block(head, payload), raw);
    const auto refused = [&](const BlockHead& with, std::string_view what) {
        const auto unpacked = unpack_block(with, what);
        return !unpacked.ok() && unpacked.error().code == ErrorCode::kCorrupt;
    };
    EXPECT_TRUE(refused(head, payload.substr(1))) << "too short";
    std::string flipped = payload;
    flipped.back() = static_cast<char>(flipped.back() ^ 1);
    EXPECT_TRUE(refused(head, flipped)) << "another checksum";
    BlockHead other = head;
    other.raw_bytes -= 1;
    EXPECT_TRUE(refused(other, payload)) << "more comes out than was said";
    other.raw_bytes += 2;
    EXPECT_TRUE(refused(other, payload)) << "less comes out than was said";
    EXPECT_FALSE(decode_block_head(block.substr(0, kBlockHeadBytes - 1)).ok());
}

/// The head's figures are checked although its checksum is right: a writer may have been wrong.
TEST(ArchiveDamage, ABlocksHeadWithFiguresThatCannotBeIsRefused) {
    EXPECT_TRUE(decode_block_head(encode_block_head({1, {5}, {6}, 10, 10, 0})).ok());
    EXPECT_FALSE(decode_block_head(encode_block_head({0, {5}, {6}, 10, 10, 0})).ok());
    EXPECT_FALSE(decode_block_head(encode_block_head({1, {6}, {5}, 10, 10, 0})).ok());
    EXPECT_FALSE(
        decode_block_head(encode_block_head({1, {5}, {6}, kBlockRawBytesMax + 1, 10, 0})).ok());
}

}  // namespace
}  // namespace sluice::store
