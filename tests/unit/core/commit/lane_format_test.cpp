#include "core/commit/lane_format.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/crc32c.hpp"

namespace sluice {
namespace {

Uuid uuid(std::uint8_t first) {
    Uuid bytes{};
    bytes[0] = first;
    return bytes;
}

const LaneIdentity kIdentity{uuid(1), uuid(2)};

LaneBatchHead head_at(std::uint64_t position) {
    LaneBatchHead head;
    head.offset = position;
    head.stamp_ns = 77;
    head.answered = position;
    head.boot = uuid(3);
    head.in_flight = 1;
    return head;
}

std::string batch_of(const std::vector<std::string>& records, LaneBatchHead& head) {
    std::uint64_t bytes = 0;
    for (const std::string& record : records) {
        bytes += record.size();
    }
    std::string buffer(lane_batch_bytes(bytes, records.size()), 'x');
    LaneBatchWriter writer({buffer.data(), buffer.size()});
    for (const std::string& record : records) {
        writer.add(record.substr(0, record.size() / 2), record.substr(record.size() / 2));
    }
    EXPECT_EQ(writer.finish(kIdentity, head).size(), buffer.size());
    return buffer;
}

std::vector<std::string> records_of(const LaneBatch& batch) {
    std::vector<std::string> records;
    batch.for_each_record([&](std::string_view record) { records.emplace_back(record); });
    return records;
}

TEST(LaneFormatRules, L2ABatchIsReadAsItWasWritten) {
    const std::vector<std::vector<std::string>> samples = {
        {}, {""}, {"one"}, {"one", "", std::string(5000, 'b')}, {std::string(4096 - 100, 'c')}};
    for (const auto& records : samples) {
        LaneBatchHead head = head_at(8192);
        const std::string bytes = batch_of(records, head);
        EXPECT_EQ(bytes.size() % kLaneBlockBytes, 0U);
        const auto batch = LaneBatch::read(bytes, kIdentity, 8192);
        ASSERT_TRUE(batch);
        EXPECT_EQ(records_of(*batch), records);
        EXPECT_EQ(batch->head().stamp_ns, 77U);
        EXPECT_EQ(batch->head().answered, 8192U);
        EXPECT_EQ(batch->head().boot, uuid(3));
        EXPECT_EQ(batch->head().in_flight, 1U);
        EXPECT_EQ(batch->head().crc, head.crc);
        EXPECT_EQ(batch->head().end(), 8192 + bytes.size());
        EXPECT_EQ(LaneBatch::claims_records(bytes, kIdentity), !records.empty());
    }
}

/// Magic, format, identities, position, stamp, boot, lengths, records, padding: nothing is left
/// out.
TEST(LaneFormatRules, L2EveryFlippedBitIsSeen) {
    LaneBatchHead head = head_at(4096);
    std::string bytes = batch_of({"record", std::string(300, 'r')}, head);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
        EXPECT_FALSE(LaneBatch::read(bytes, kIdentity, 4096)) << "bit " << bit;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    }
    EXPECT_TRUE(LaneBatch::read(bytes, kIdentity, 4096));
}

TEST(LaneFormatRules, L2ABatchOfAnotherPlaceLaneOrStoreIsNone) {
    LaneBatchHead head = head_at(4096);
    const std::string bytes = batch_of({"record"}, head);
    EXPECT_FALSE(LaneBatch::read(bytes, kIdentity, 8192));
    EXPECT_FALSE(LaneBatch::read(bytes, {uuid(9), uuid(2)}, 4096));
    EXPECT_FALSE(LaneBatch::read(bytes, {uuid(1), uuid(9)}, 4096));
    EXPECT_FALSE(LaneBatch::claims_records(bytes, {uuid(1), uuid(9)}));
}

/// A store moves between x86-64 and arm64: both write these bytes.
TEST(LaneFormatRules, BytesAreTheSameOnEveryProcessor) {
    std::array<char, kLaneBlockBytes> block{};
    encode_lane_head({kIdentity, 65536}, block);
    EXPECT_EQ(to_hex(sha256({block.data(), block.size()})),
              "1d2b110a9c5aa32e8b9d96b66667dc883b5875a8650bb58b72d2c1d5bf080c80");
    LaneBatchHead head = head_at(8192);
    EXPECT_EQ(to_hex(sha256(batch_of({"one", "", "three"}, head))),
              "b30211ee640daaf9c9e6d22f3b8723bc63678da4a116f5df954c3ceffb9ccfa4");
}

TEST(LaneFormatRules, L2ABatchIsReadAtAnyAddress) {
    LaneBatchHead head = head_at(8192);
    const std::string batch = batch_of({"one", "", "three"}, head);
    for (std::size_t shift = 0; shift < 16; ++shift) {
        const std::string bytes = std::string(shift, 'x') + batch;
        const auto read = LaneBatch::read(std::string_view(bytes).substr(shift), kIdentity, 8192);
        ASSERT_TRUE(read) << shift;
        EXPECT_EQ(records_of(*read), (std::vector<std::string>{"one", "", "three"})) << shift;
    }
}

TEST(LaneFormatRules, L2ABatchThatIsCutOffIsNone) {
    LaneBatchHead head = head_at(4096);
    const std::string bytes = batch_of({std::string(9000, 'l')}, head);
    for (std::size_t length = 0; length < bytes.size(); length += 100) {
        EXPECT_FALSE(LaneBatch::read(bytes.substr(0, length), kIdentity, 4096)) << length;
    }
}

/// Sealed as it should be, and yet nonsense: what a faulty writer would leave.
TEST(LaneFormatRules, L2RecordsThatDoNotFitAreNoBatch) {
    constexpr std::uint32_t kTooLong = 5000;
    LaneBatchHead head = head_at(4096);
    std::string record(100, 'r');
    std::string bytes = batch_of({record}, head);
    std::memcpy(bytes.data() + kLaneBatchHeadBytes, &kTooLong, sizeof(kTooLong));
    std::memset(bytes.data() + 8, 0, sizeof(head.crc));
    const std::uint32_t crc = crc32c(0, bytes);
    std::memcpy(bytes.data() + 8, &crc, sizeof(crc));
    EXPECT_FALSE(LaneBatch::read(bytes, kIdentity, 4096));
}

TEST(LaneFormatRules, L2ATornBatchIsSeenWhateverSectorIsMissing) {
    LaneBatchHead head = head_at(4096);
    const std::string bytes = batch_of({std::string(9000, 'l')}, head);
    for (std::size_t sector = 0; sector < bytes.size(); sector += 512) {
        std::string torn = bytes;
        torn.replace(sector, 512, 512, '\0');
        const bool was_zero = torn == bytes;
        EXPECT_EQ(LaneBatch::read(torn, kIdentity, 4096).has_value(), was_zero) << sector;
    }
}

TEST(LaneFormatRules, L1TheHeadOfALaneIsReadAndEveryFlippedBitIsSeen) {
    std::array<char, kLaneBlockBytes> block{};
    encode_lane_head({kIdentity, 65536}, block);
    const auto bytes = [&] { return std::string_view(block.data(), block.size()); };
    const Result<LaneHead> head = decode_lane_head(bytes());
    ASSERT_TRUE(head.ok());
    EXPECT_EQ(head->identity, kIdentity);
    EXPECT_EQ(head->bytes, 65536U);
    for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
        block[bit / 8] = static_cast<char>(block[bit / 8] ^ (1 << bit % 8));
        EXPECT_FALSE(decode_lane_head(bytes()).ok()) << "bit " << bit;
        block[bit / 8] = static_cast<char>(block[bit / 8] ^ (1 << bit % 8));
    }
    EXPECT_EQ(decode_lane_head(bytes().substr(1)).error().code, ErrorCode::kCorrupt);
}

TEST(LaneFormatRules, L1ALaneOfANewerReleaseIsNotMisread) {
    std::array<char, kLaneBlockBytes> block{};
    encode_lane_head({kIdentity, 65536}, block);
    block[4] = 2;
    const auto head = decode_lane_head({block.data(), block.size()});
    EXPECT_EQ(head.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(head.error().message.find("newer release"), std::string::npos);
}

TEST(LaneFormat, UuidsAreReadStrictly) {
    EXPECT_TRUE(parse_uuid("00112233-4455-6677-8899-aabbccddeeff"));
    EXPECT_EQ((*parse_uuid("00112233-4455-6677-8899-aabbccddeeff"))[15], 0xFFU);
    for (const char* wrong :
         {"", "00112233-4455-6677-8899-aabbccddeef", "00112233-4455-6677-8899-aabbccddeefg",
          "00112233x4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-AABBCCDDEEFF"}) {
        EXPECT_FALSE(parse_uuid(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace sluice
