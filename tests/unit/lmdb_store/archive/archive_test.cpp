#include "lmdb_store/archive/archive.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/crc32c.hpp"
#include "lmdb_store/archive/format.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

constexpr const char* kQueue = "11111111-2222-3333-4444-555555555555";
constexpr const char* kOtherQueue = "99999999-2222-3333-4444-555555555555";

class ArchiveTest : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "/sluice-archive-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::unique_ptr<ArchiveWriter> writer(const char* queue = kQueue) {
        auto opened = ArchiveWriter::open(folder_, queue, options_);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        return std::move(*opened);
    }

    static std::string record_of(std::uint64_t seq) {
        return "record " + std::to_string(seq) + std::string(seq % 97, 'x');
    }

    static void add(ArchiveWriter& to, std::uint64_t first, std::uint64_t last,
                    Timestamp now = kNow) {
        for (std::uint64_t seq = first; seq <= last; ++seq) {
            const std::string record = record_of(seq);
            ASSERT_TRUE(to.add({{seq}, record, ArchivedBody::kInRecord, {}, {}, {}}, now).ok());
        }
    }

    std::vector<std::uint64_t> read_all(std::string* error = nullptr) {
        std::vector<std::uint64_t> seqs;
        auto reader = ArchiveReader::open(folder_);
        for (;;) {
            auto place = (*reader)->next();
            if (!place) {
                EXPECT_NE(error, nullptr) << place.error().message;
                if (error != nullptr) {
                    *error = place.error().message;
                }
                return seqs;
            }
            if (!*place) {
                return seqs;
            }
            EXPECT_EQ((*place)->input.record, record_of((*place)->input.seq.value));
            seqs.push_back((*place)->input.seq.value);
        }
    }

    static std::vector<std::uint64_t> range(std::uint64_t first, std::uint64_t last) {
        std::vector<std::uint64_t> seqs;
        for (std::uint64_t seq = first; seq <= last; ++seq) {
            seqs.push_back(seq);
        }
        return seqs;
    }

    std::filesystem::path segment(int ordinal) {
        return folder_ / ("00000000000" + std::to_string(ordinal) + ".sla");
    }

    std::filesystem::path folder_;
    ArchiveOptions options_{};
};

TEST_F(ArchiveTest, AddedInputsAreReadBackInOrder) {
    options_.block_bytes = 4096;
    auto to = writer();
    add(*to, 1, 1000);
    EXPECT_EQ(to->durable_seq().value, 0U);
    ASSERT_TRUE(to->flush().ok());
    EXPECT_EQ(to->durable_seq().value, 1000U);
    EXPECT_EQ(read_all(), range(1, 1000));
}

TEST_F(ArchiveTest, BulkBodiesAndForgottenDigestsTravelAlong) {
    auto to = writer();
    const std::string bulk(3'000'000, 'b');
    const ArchivedInput::Original original{sha256("its body"), sha256("before it was forgotten")};
    ASSERT_TRUE(to->add({{1}, "head only", ArchivedBody::kBulk, bulk, original, {}}, kNow).ok());
    ASSERT_TRUE(
        to->add({{2}, "lost", ArchivedBody::kBulkMissing, {}, {}, "it is gone"}, kNow).ok());
    ASSERT_TRUE(to->flush().ok());
    auto reader = ArchiveReader::open(folder_);
    auto first = (*reader)->next();
    ASSERT_TRUE(first.ok() && *first);
    EXPECT_EQ((*first)->queue_uuid, kQueue);
    EXPECT_EQ((*first)->input.record, "head only");
    EXPECT_EQ((*first)->input.bulk_body, bulk);
    EXPECT_EQ((*first)->input.original, original);
    auto second = (*reader)->next();
    ASSERT_TRUE(second.ok() && *second);
    EXPECT_EQ((*second)->input.body, ArchivedBody::kBulkMissing);
    EXPECT_FALSE((*second)->input.original);
    EXPECT_EQ((*second)->input.dead_reason, "it is gone");
    EXPECT_EQ((*first)->input.dead_reason, "");
}

TEST_F(ArchiveTest, AnotherProcessContinuesInTheSameSegment) {
    for (std::uint64_t seq = 1; seq <= 20; ++seq) {
        auto to = writer();
        EXPECT_EQ(to->last_seq().value, seq - 1);
        add(*to, seq, seq);
        ASSERT_TRUE(to->flush().ok());
    }
    EXPECT_EQ(read_all(), range(1, 20));
    EXPECT_FALSE(std::filesystem::exists(segment(2)));
}

TEST_F(ArchiveTest, UnflushedInputsAreNotClaimed) {
    {
        auto to = writer();
        add(*to, 1, 10);
        ASSERT_TRUE(to->flush().ok());
        add(*to, 11, 12);
    }
    EXPECT_EQ(writer()->last_seq().value, 10U);
}

TEST_F(ArchiveTest, ATornSegmentIsLeftAloneAndAnotherBegun) {
    {
        auto to = writer();
        add(*to, 1, 10);
        ASSERT_TRUE(to->flush().ok());
        add(*to, 11, 20);
        ASSERT_TRUE(to->flush().ok());
    }
    const auto bytes = std::filesystem::file_size(segment(1));
    std::filesystem::resize_file(segment(1), bytes - 3);
    auto to = writer();
    EXPECT_EQ(to->last_seq().value, 10U);
    add(*to, 11, 20);
    ASSERT_TRUE(to->flush().ok());
    EXPECT_EQ(std::filesystem::file_size(segment(1)), bytes - 3);
    EXPECT_EQ(read_all(), range(1, 20));
}

TEST_F(ArchiveTest, EveryCutOfTheFileLeavesASoundBeginning) {
    {
        options_.block_bytes = 256;
        auto to = writer();
        add(*to, 1, 30);
        ASSERT_TRUE(to->flush().ok());
    }
    const auto bytes = std::filesystem::file_size(segment(1));
    for (auto cut = bytes; cut >= kSegmentHeadBytes; --cut) {
        std::filesystem::resize_file(segment(1), cut);
        const auto seqs = read_all();
        EXPECT_EQ(seqs, range(1, seqs.size()));
        EXPECT_EQ(writer()->last_seq().value, seqs.size());
    }
}

TEST_F(ArchiveTest, AFlippedBitIsFoundAndTheMessageNamesTheFile) {
    {
        options_.block_bytes = 256;
        auto to = writer();
        add(*to, 1, 30);
        ASSERT_TRUE(to->flush().ok());
        add(*to, 32, 40);  // a hole on purpose: its segment follows
        ASSERT_TRUE(to->flush().ok());
    }
    std::string error;
    EXPECT_EQ(read_all(&error), range(1, 30));
    EXPECT_NE(error.find("input 30"), std::string::npos) << error;
    EXPECT_NE(error.find(segment(2).string()), std::string::npos) << error;

    const auto bytes = std::filesystem::file_size(segment(1));
    std::fstream file(segment(1), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(bytes / 2));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(bytes / 2));
    file.put(static_cast<char>(byte ^ 4));
    file.close();
    error.clear();
    const auto seqs = read_all(&error);
    EXPECT_LT(seqs.size(), 30U);
    EXPECT_NE(error.find("incomplete"), std::string::npos) << error;
}

/// One byte changed, under a checksum that is right again.
std::string changed_under_crc(std::string head, std::size_t at) {
    head[at] = static_cast<char>(head[at] ^ 1);
    const std::uint32_t crc = crc32c(0, std::string_view(head).substr(0, head.size() - 4));
    std::memcpy(head.data() + head.size() - 4, &crc, 4);
    return head;
}

/// An archive moves between x86-64 and arm64: both write these bytes, and read them at any address.
TEST(ArchiveFormat, BytesAreTheSameOnEveryProcessor) {
    const std::string segment = encode_segment_head({7, {42}, kNow.seconds, kQueue});
    EXPECT_EQ(to_hex(sha256(segment)),
              "b2fbc19b8328d8a562029bb09e5bb2c5106da06c0a7199b035ccf3b4240c4d6d");
    const std::string block =
        encode_block_head({2, {42}, {43}, 1000, 500, 0x01020304, sha256("chain")});
    EXPECT_EQ(to_hex(sha256(block)),
              "52b2c4f70236f315c46456e4a6cc06f6c000fcd70a08c17f7724274717103387");
    std::string raw;
    append_input(raw, {{42},
                       "record",
                       ArchivedBody::kBulk,
                       "bulk",
                       ArchivedInput::Original{sha256("body"), sha256("input")},
                       "reason",
                       {45}});
    EXPECT_EQ(to_hex(sha256(raw)),
              "1357327b578896e9c4ede5e0ee8b66e516c1b3095dbf81816526726abf9eac51");
    for (std::size_t shift = 0; shift < 16; ++shift) {
        const std::string bytes = std::string(shift, 'x') + segment + block + raw;
        const std::string_view all = std::string_view(bytes).substr(shift);
        EXPECT_EQ(decode_segment_head(all.substr(0, segment.size()))->first_seq.value, 42U);
        EXPECT_EQ(decode_block_head(all.substr(segment.size(), block.size()))->last_seq.value, 43U);
        std::string_view rest = all.substr(segment.size() + block.size());
        const auto input = take_input(rest);
        EXPECT_EQ(input->dead_reason, "reason") << shift;
        EXPECT_EQ(input->last_seq.value, 45U);
        EXPECT_EQ(input->original->input, sha256("input"));
    }
}

TEST(ArchiveFormat, UnusedBytesOfAHeadAreZero) {
    SegmentHead segment;
    segment.queue_uuid = "0123";
    segment.ordinal = 1;
    const std::string segment_bytes = encode_segment_head(segment);
    ASSERT_TRUE(decode_segment_head(segment_bytes).ok());
    BlockHead block{};
    block.inputs_count = 1;
    const std::string block_bytes = encode_block_head(block);
    ASSERT_TRUE(decode_block_head(block_bytes).ok());
    for (std::size_t at = 0; at < kSegmentHeadBytes - 4; ++at) {
        const auto read = decode_segment_head(changed_under_crc(segment_bytes, at));
        EXPECT_TRUE(!read || encode_segment_head(*read) == changed_under_crc(segment_bytes, at))
            << at;
    }
    for (std::size_t at = 0; at < kBlockHeadBytes - 4; ++at) {
        const auto read = decode_block_head(changed_under_crc(block_bytes, at));
        EXPECT_TRUE(!read || encode_block_head(*read) == changed_under_crc(block_bytes, at)) << at;
    }
}

TEST_F(ArchiveTest, QueuesThatFollowEachOtherKeepTheirNumbers) {
    {
        auto to = writer();
        add(*to, 1, 3);
        ASSERT_TRUE(to->flush().ok());
    }
    {
        auto to = writer(kOtherQueue);
        EXPECT_EQ(to->last_seq().value, 0U);
        add(*to, 1, 2);
        ASSERT_TRUE(to->flush().ok());
    }
    EXPECT_EQ(writer()->last_seq().value, 3U);
    EXPECT_EQ(writer(kOtherQueue)->last_seq().value, 2U);
    EXPECT_EQ(read_all(), (std::vector<std::uint64_t>{1, 2, 3, 1, 2}));
}

TEST_F(ArchiveTest, AnInputIsFoundByItsNumber) {
    options_.block_bytes = 512;
    options_.segment_bytes_max = 4096;
    auto to = writer();
    add(*to, 5, 3000);
    ASSERT_TRUE(to->flush().ok());
    EXPECT_TRUE(std::filesystem::exists(segment(3)));
    auto reader = ArchiveReader::open(folder_);
    for (const std::uint64_t seq : {5U, 6U, 1500U, 2999U, 3000U}) {
        auto place = (*reader)->find(kQueue, {seq});
        ASSERT_TRUE(place.ok() && *place) << seq;
        EXPECT_EQ((*place)->input.record, record_of(seq));
    }
    EXPECT_FALSE((*reader)->find(kQueue, {4}).value().has_value());
    EXPECT_FALSE((*reader)->find(kQueue, {3001}).value().has_value());
    EXPECT_FALSE((*reader)->find(kOtherQueue, {5}).value().has_value());
}

/// The segment after the queue's last one may belong to another queue and continue with the same
/// number.
TEST_F(ArchiveTest, AnInputOfAnotherQueueIsNotReturned) {
    {
        auto to = writer();
        add(*to, 1, 11);
        ASSERT_TRUE(to->flush().ok());
    }
    {
        auto to = writer(kOtherQueue);
        add(*to, 12, 20);
        ASSERT_TRUE(to->flush().ok());
    }
    auto reader = ArchiveReader::open(folder_);
    EXPECT_FALSE((*reader)->find(kQueue, {12}).value().has_value());
    EXPECT_EQ((*reader)->find(kOtherQueue, {12}).value()->queue_uuid, kOtherQueue);
    EXPECT_EQ((*reader)->find(kQueue, {11}).value()->queue_uuid, kQueue);
}

TEST_F(ArchiveTest, ASegmentWithADamagedHeadIsNamedAndNotWrittenTo) {
    {
        auto to = writer();
        add(*to, 1, 3);
        ASSERT_TRUE(to->flush().ok());
    }
    std::fstream(segment(1), std::ios::in | std::ios::out | std::ios::binary).put('x');
    std::string error;
    EXPECT_TRUE(read_all(&error).empty());
    EXPECT_NE(error.find(segment(1).string()), std::string::npos) << error;
    const auto refused = ArchiveWriter::open(folder_, kQueue, options_);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(std::filesystem::exists(segment(2)));
}

TEST_F(ArchiveTest, FilesWithOtherNamesAreNoSegments) {
    {
        auto to = writer();
        add(*to, 1, 3);
        ASSERT_TRUE(to->flush().ok());
    }
    for (const char* name : {"notes.txt", "1.sla", "000000000000.sla", "abcdefghijkl.sla",
                             "00000000002x.sla", "0000000000002.sla", "000000000002.slb"}) {
        std::ofstream(folder_ / name) << "no segment";
    }
    EXPECT_EQ(read_all(), range(1, 3));
    EXPECT_EQ(writer()->last_seq().value, 3U);
}

/// A block of right checksums whose contents are none: written by a program that was wrong.
TEST_F(ArchiveTest, ABlockThatHoldsNoInputsIsDamageForWhoeverReadsIt) {
    const std::string unpackable = "no zstd";
    const std::string no_zstd = encode_block_head({1,
                                                   {1},
                                                   {1},
                                                   100,
                                                   static_cast<std::uint32_t>(unpackable.size()),
                                                   crc32c(0, unpackable)}) +
                                unpackable;
    const std::string no_input = BlockPacker(1).pack({1, {1}, {1}, 0, 0, 0}, "short");
    for (const std::string& block : {no_zstd, no_input}) {
        std::ofstream(segment(1), std::ios::binary | std::ios::trunc)
            << encode_segment_head({1, {1}, kNow.seconds, kQueue}) << block;
        const auto none = [](std::string_view, const ArchivedInput&) {
            return std::optional<ArchivedInput>();
        };
        EXPECT_EQ((*ArchiveReader::open(folder_))->next().error().code, ErrorCode::kCorrupt);
        EXPECT_EQ((*ArchiveReader::open(folder_))->find(kQueue, {1}).error().code,
                  ErrorCode::kCorrupt);
        EXPECT_EQ(edit_archive(folder_, none, options_).error().code, ErrorCode::kCorrupt);
    }
}

TEST_F(ArchiveTest, WithoutRetentionNothingIsEverRemoved) {
    auto to = writer();
    for (std::uint64_t day = 0; day < 3; ++day) {
        add(*to, day * 10 + 1, day * 10 + 10,
            kNow.plus_seconds(static_cast<std::int64_t>(day) * 86'400));
    }
    ASSERT_TRUE(to->flush().ok());
    EXPECT_EQ(*to->apply_retention(kNow.plus_seconds(4000 * 86'400)), 0U);
    options_.keep_days = 30;
    EXPECT_EQ(*writer()->apply_retention(kNow.plus_seconds(4 * 86'400)), 0U) << "all is young";
    EXPECT_EQ(read_all(), range(1, 30));
}

TEST_F(ArchiveTest, RetentionRemovesTheOldestAndNeverTheNewest) {
    options_.keep_days = 2;
    auto to = writer();
    for (std::uint64_t day = 0; day < 5; ++day) {
        add(*to, day * 10 + 1, day * 10 + 10,
            kNow.plus_seconds(static_cast<std::int64_t>(day) * 86'400));
        ASSERT_TRUE(to->flush().ok());
    }
    const auto removed = to->apply_retention(kNow.plus_seconds(4 * 86'400));
    ASSERT_TRUE(removed.ok());
    EXPECT_EQ(*removed, 2U);  // what was begun a day before the limit may hold inputs up to it
    EXPECT_EQ(read_all(), range(21, 50));
    EXPECT_EQ(*to->apply_retention(kNow.plus_seconds(400 * 86'400)), 2U);
    EXPECT_EQ(read_all(), range(41, 50));
}

/// After a crash, the segment before an empty one says which inputs the archive has.
TEST_F(ArchiveTest, RetentionWaitsForAnInputThatIsDurableInTheNewest) {
    options_.keep_days = 2;
    auto to = writer();
    add(*to, 1, 10, kNow);
    ASSERT_TRUE(to->flush().ok());
    const Timestamp later = kNow.plus_seconds(400 * 86'400);
    add(*to, 11, 20, later);
    const Timestamp end = later.plus_seconds(3 * 86'400);
    EXPECT_EQ(*to->apply_retention(end), 0U);
    ASSERT_TRUE(to->flush().ok());
    EXPECT_EQ(*to->apply_retention(end), 1U);
    EXPECT_EQ(read_all(), range(11, 20));
}

TEST_F(ArchiveTest, RetentionLooksWithEachSegmentAndEachHour) {
    constexpr std::int64_t kDay = 86'400;
    options_.keep_days = 2;
    auto to = writer();
    const auto add_at = [&](std::uint64_t first, std::int64_t seconds) {
        add(*to, first, first + 9, kNow.plus_seconds(seconds));
        ASSERT_TRUE(to->flush().ok());
    };
    const auto removed_at = [&](std::int64_t seconds) {
        return *to->apply_retention(kNow.plus_seconds(seconds));
    };
    add_at(1, 0);
    add_at(11, kDay);
    EXPECT_EQ(removed_at(3 * kDay - 1), 0U) << "the first may have an input of that second";
    EXPECT_EQ(removed_at(3 * kDay + 3598), 0U) << "it looked less than an hour ago";
    EXPECT_EQ(removed_at(3 * kDay + 3599), 1U);
    add_at(21, 4 * kDay);
    EXPECT_EQ(removed_at(6 * kDay - 1), 0U);
    add_at(31, 6 * kDay - 1);
    EXPECT_EQ(removed_at(6 * kDay), 1U) << "a segment was begun";
    EXPECT_EQ(removed_at(6 * kDay - 2), 0U) << "the clock was set back: it looks again";
    EXPECT_EQ(removed_at(8 * kDay - 1), 1U);
}

TEST_F(ArchiveTest, RetentionBySizeKeepsTheLimit) {
    options_.segment_bytes_max = 2048;
    options_.block_bytes = 512;
    options_.keep_bytes = 10'000;
    auto to = writer();
    add(*to, 1, 5000);
    ASSERT_TRUE(to->flush().ok());
    ASSERT_TRUE(to->apply_retention(kNow).ok());
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        bytes += entry.file_size();
    }
    EXPECT_LE(bytes, options_.keep_bytes);
    const auto seqs = read_all();
    ASSERT_FALSE(seqs.empty());
    EXPECT_EQ(seqs, range(seqs.front(), 5000));
}

TEST_F(ArchiveTest, AnEditChangesOnlyTheNamedInputs) {
    options_.block_bytes = 512;
    options_.segment_bytes_max = 4096;
    {
        auto to = writer();
        add(*to, 1, 1000);
        ASSERT_TRUE(to->flush().ok());
    }
    const Digest256 digest = sha256("as it was");
    const auto changed = edit_archive(
        folder_,
        [&](std::string_view, const ArchivedInput& input) -> std::optional<ArchivedInput> {
            if (input.seq.value != 400) {
                return std::nullopt;
            }
            ArchivedInput other = input;
            other.record = "nothing to see";
            other.original = {digest, digest};
            return other;
        },
        options_);
    ASSERT_TRUE(changed.ok());
    EXPECT_EQ(*changed, 1U);
    auto reader = ArchiveReader::open(folder_);
    for (std::uint64_t seq = 1; seq <= 1000; ++seq) {
        auto place = (*reader)->next();
        ASSERT_TRUE(place.ok() && *place);
        EXPECT_EQ((*place)->input.record, seq == 400 ? "nothing to see" : record_of(seq));
        EXPECT_EQ((*place)->input.original.has_value(), seq == 400);
    }
    EXPECT_EQ(writer()->last_seq().value, 1000U);
}

TEST_F(ArchiveTest, K14_AnInputThatAcceptedAGapStandsForIt) {
    {
        auto to = writer();
        add(*to, 1, 3);
        ArchivedInput gap;
        gap.seq = {4};
        const std::string record = record_of(4);
        gap.record = record;
        gap.last_seq = {9};
        gap.chain = sha256("after the gap");
        ASSERT_TRUE(to->add(gap, kNow).ok());
        EXPECT_EQ(to->last_seq().value, 9U);
        ASSERT_TRUE(to->flush().ok());
    }
    auto to = writer();
    EXPECT_EQ(to->last_seq().value, 9U) << "another process goes on after it";
    EXPECT_EQ(to->chain(), sha256("after the gap"));
    add(*to, 10, 12);
    ASSERT_TRUE(to->flush().ok());
    std::string error;
    EXPECT_EQ(read_all(&error).size(), 7U) << error;
    for (std::uint64_t seq = 4; seq <= 9; ++seq) {
        auto reader = ArchiveReader::open(folder_);
        const auto place = (*reader)->find(kQueue, {seq});
        ASSERT_TRUE(place.ok() && *place) << seq;
        EXPECT_EQ((*place)->input.seq.value, 4U);
    }
}

TEST_F(ArchiveTest, AMissingFolderIsNamed) {
    const auto opened = ArchiveWriter::open(folder_ / "gone", kQueue, options_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
    EXPECT_NE(opened.error().message.find("gone"), std::string::npos);
}

}  // namespace
}  // namespace sluice::store
