#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "lmdb_store/queue/bulk_file.hpp"
#include "unit/lmdb_store/queue/fixture.hpp"
#include "unit/lmdb_store/whole_sweep.hpp"

namespace sluice::store {
namespace {

TEST_F(QueueTest, NumbersAreDenseAndBodiesComeBackByteForByte) {
    const auto first = append({"one", std::string("t\0wo", 4)});
    const auto second = append({std::string(5000, 'x')});
    EXPECT_EQ(first[0].outcome, AppendOutcome::kStored);
    EXPECT_EQ(first[0].seq.value, 1U);
    EXPECT_EQ(first[1].seq.value, 2U);
    EXPECT_EQ(second[0].seq.value, 3U);
    EXPECT_THAT(bodies_from(1),
                testing::ElementsAre("one", std::string("t\0wo", 4), std::string(5000, 'x')));
    EXPECT_THAT(bodies_from(3), testing::SizeIs(1));
}

TEST_F(QueueTest, NumbersAreNotUsedAgainWhenTheQueueRanEmpty) {
    append({"one", "two"});
    ASSERT_TRUE(queue_->trim({2}, 100).ok());
    EXPECT_TRUE(bodies_from(1).empty());
    open({});
    EXPECT_EQ(append({"three"})[0].seq.value, 3U);
}

TEST_F(QueueTest, TrimStopsAtTheLastAppliedRecord) {
    append(std::vector<std::string>(50, std::string(1500, 'a')));
    const auto deleted = queue_->trim({20}, 100);
    ASSERT_TRUE(deleted.ok());
    EXPECT_EQ(*deleted, 20U);
    EXPECT_EQ(queue_->fill()->first_seq.value, 21U);
    EXPECT_EQ(queue_->fill()->rows, 30U);
}

TEST_F(QueueTest, AnAppendDeletesTwiceAsManyAppliedRecordsAsItAdds) {
    append(std::vector<std::string>(100, std::string(1500, 'a')));
    queue_->control().publish_applied({60});
    append(std::vector<std::string>(10, "b"));
    EXPECT_EQ(queue_->fill()->first_seq.value, 21U);
    append(std::vector<std::string>(40, "c"));
    EXPECT_EQ(queue_->fill()->first_seq.value, 61U);
    append({"d"});
    EXPECT_EQ(queue_->fill()->first_seq.value, 61U) << "what was not applied must stay";
}

TEST_F(QueueTest, AHintBeyondTheQueueDeletesNothingOfTheBatchItself) {
    queue_->control().publish_applied({1'000'000});
    append({"one"});
    append({"two"});
    EXPECT_THAT(bodies_from(1), testing::ElementsAre("two"));
}

TEST_F(QueueTest, TheSameKeyAndBodyAreStoredOnce) {
    const auto first = append({"body"}, {claim("key", "body")});
    const auto again = append({"body"}, {claim("key", "body")});
    EXPECT_EQ(first[0].outcome, AppendOutcome::kStored);
    EXPECT_EQ(again[0].outcome, AppendOutcome::kReplayed);
    EXPECT_EQ(again[0].seq, first[0].seq);
    EXPECT_EQ(again[0].records_count, 3U);
    EXPECT_THAT(bodies_from(1), testing::SizeIs(1));
}

TEST_F(QueueTest, AKeyWithAnotherBodyOrTopicIsAConflict) {
    append({"body"}, {claim("key", "body")});
    EXPECT_EQ(append({"other"}, {claim("key", "other")})[0].outcome, AppendOutcome::kConflict);
    auto other_topic = claim("key", "body");
    other_topic.topic = Topic::kProductDelete;
    EXPECT_EQ(append({"body"}, {other_topic})[0].outcome, AppendOutcome::kConflict);
    EXPECT_THAT(bodies_from(1), testing::SizeIs(1));
}

TEST_F(QueueTest, AReplayWithinOneBatchIsSeen) {
    const auto items =
        append({"body", "x", "body", "other"},
               {claim("key", "body"), std::nullopt, claim("key", "body"), claim("key", "other")});
    EXPECT_EQ(items[0].outcome, AppendOutcome::kStored);
    EXPECT_EQ(items[1].outcome, AppendOutcome::kStored);
    EXPECT_EQ(items[2].outcome, AppendOutcome::kReplayed);
    EXPECT_EQ(items[2].seq, items[0].seq);
    EXPECT_EQ(items[3].outcome, AppendOutcome::kConflict);
    EXPECT_THAT(bodies_from(1), testing::ElementsAre("body", "x"));
}

TEST_F(QueueTest, AKeyOfAnotherShopIsAnotherKey) {
    append({"body"}, {claim("key", "body")});
    auto elsewhere = claim("key", "other");
    elsewhere.shop = {8};
    EXPECT_EQ(append({"other"}, {elsewhere})[0].outcome, AppendOutcome::kStored);
}

TEST_F(QueueTest, KeysExpireByTheTimeOfAcceptance) {
    open({.idempotency_ttl_seconds = 60});
    append({"body"}, {claim("key", "body")});
    EXPECT_EQ(append({"body"}, {claim("key", "body")}, kNow.plus_seconds(59))[0].outcome,
              AppendOutcome::kReplayed);
    EXPECT_EQ(append({"other"}, {claim("key", "other")}, kNow.plus_seconds(60))[0].outcome,
              AppendOutcome::kStored);
    EXPECT_EQ(queue_->fill()->idempotency_rows, 1U);
}

TEST_F(QueueTest, ExpiredKeysGiveTheirSpaceBack) {
    open({.idempotency_ttl_seconds = 60});
    for (int i = 0; i < 10; ++i) {
        const std::string key = "key" + std::to_string(i);
        append({"body"}, {claim(key, "body")});
    }
    EXPECT_EQ(queue_->fill()->idempotency_rows, 10U);
    for (int i = 0; i < 3; ++i) {
        append({"order"}, {}, kNow.plus_seconds(100));
    }
    EXPECT_EQ(queue_->fill()->idempotency_rows, 0U);
}

TEST_F(QueueTest, TrimmingRecordsOfAllSizesLeavesExactlyTheRest) {
    open({.sync = false});
    std::mt19937 random(11);
    std::uint64_t first = 1;
    std::uint64_t last = 0;
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> bodies(1 + random() % 40);
        for (std::string& body : bodies) {
            const std::size_t sizes[] = {20, 1100, 1900, 2100, 6000, 40'000};
            body = std::to_string(++last) + std::string(random() % sizes[random() % 6], 'x');
        }
        append(bodies);
        const std::uint64_t upto = first + random() % (last - first + 2);
        const std::uint64_t rows_max = 1 + random() % 60;
        const std::uint64_t expected = std::min(upto + 1 - first, rows_max);
        ASSERT_EQ(*queue_->trim({upto}, rows_max), std::min(expected, last + 1 - first));
        first += std::min(expected, last + 1 - first);
        ASSERT_EQ(queue_->fill()->rows, last + 1 - first);
    }
    std::uint64_t seq = first;
    for (const std::string& body : bodies_from(1)) {
        ASSERT_EQ(body.substr(0, body.find('x')), std::to_string(seq++));
    }
    EXPECT_EQ(seq, last + 1);
}

TEST_F(QueueTest, ReadStopsAtItsLimitsButGivesAtLeastOne) {
    append(std::vector<std::string>(10, std::string(1000, 'x')));
    EXPECT_THAT(*queue_->read({1}, 3, 1U << 20), testing::SizeIs(3));
    EXPECT_THAT(*queue_->read({1}, 100, 2500), testing::SizeIs(testing::Le(3)));
    EXPECT_THAT(*queue_->read({1}, 100, 1), testing::SizeIs(1));
    EXPECT_THAT(*queue_->read({11}, 100, 1U << 20), testing::IsEmpty());
    EXPECT_EQ(queue_->read({4}, 1, 1)->front().seq.value, 4U);
}

TEST_F(QueueTest, EmptyBatchesAndBodiesAreFine) {
    std::vector<AppendItem> none;
    queue_->append(none, kNow);
    EXPECT_EQ(append({""})[0].outcome, AppendOutcome::kStored);
    EXPECT_THAT(bodies_from(1), testing::ElementsAre(""));
}

TEST_F(QueueTest, AProcessThatKnowsNoExpiryForgetsNoKeys) {
    open({.idempotency_ttl_seconds = 60});
    append({"body"}, {claim("key", "body")});
    open({});
    append({"a command"}, {}, kNow.plus_seconds(1'000'000));
    EXPECT_EQ(queue_->fill()->idempotency_rows, 1U);
}

TEST_F(QueueTest, BulkFilesStayOnlyIfKept) {
    const std::string body(300'000, 'b');
    {
        auto dropped = BulkFile::write(paths_, body, sha256(body));
        ASSERT_TRUE(dropped.ok()) << dropped.error().message;
        EXPECT_TRUE(std::filesystem::exists(paths_.bulk / dropped->ref().file_name));
    }
    EXPECT_TRUE(std::filesystem::is_empty(paths_.bulk));
    auto kept = BulkFile::write(paths_, body, sha256(body));
    ASSERT_TRUE(kept.ok());
    const auto read = read_bulk(paths_, kept->ref());
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, body);
    kept->keep();
}

TEST_F(QueueTest, ABulkFileTakesItsBodyPieceByPiece) {
    std::string body;
    auto file = BulkFile::create(paths_);
    ASSERT_TRUE(file.ok()) << file.error().message;
    for (int piece = 0; piece < 5; ++piece) {
        const std::string text(700'000, static_cast<char>('a' + piece));  // across the slices
        ASSERT_TRUE(file->add(text).ok());
        body += text;
    }
    EXPECT_EQ(file->bytes(), body.size());
    std::string back(body.size(), '\0');
    ASSERT_TRUE(file->read_back(back.data()).ok());
    EXPECT_EQ(back, body);
    ASSERT_TRUE(file->seal(sha256(body)).ok());
    EXPECT_EQ(*read_bulk(paths_, file->ref()), body);
    std::filesystem::resize_file(paths_.bulk / file->ref().file_name, 10);
    EXPECT_EQ(file->read_back(back.data()).error().code, ErrorCode::kIo);
}

TEST_F(QueueTest, AFileThatIsStillWrittenIsNoOrphanHoweverOld) {
    auto coming = BulkFile::create(paths_);
    auto sealed = BulkFile::write(paths_, "body", sha256("body"));
    ASSERT_TRUE(coming.ok() && sealed.ok());
    const auto make_all_old = [&] {
        for (const auto& file : std::filesystem::directory_iterator(paths_.bulk)) {
            make_old(file.path());
        }
    };
    make_all_old();
    EXPECT_EQ(*sweep_bulk(paths_, *queue_, 3600), 0U) << "their records may be on their way";
    BulkFile moved = std::move(*coming);
    EXPECT_EQ(*sweep_bulk(paths_, *queue_, 3600), 0U);
    moved.keep();  // as a process that ended, or a record that is durable
    sealed->keep();
    EXPECT_EQ(*sweep_bulk(paths_, *queue_, 3600), 2U);
}

TEST_F(QueueTest, ABulkFileThatWasAlteredIsDamage) {
    const std::string body(300'000, 'b');
    auto file = BulkFile::write(paths_, body, sha256(body));
    ASSERT_TRUE(file.ok()) << file.error().message;
    const auto path = paths_.bulk / file->ref().file_name;
    for (const auto& altered :
         {std::string(299'999, 'b') + 'c', std::string(299'999, 'b'), std::string(300'001, 'b')}) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << altered;
        const auto read = read_bulk(paths_, file->ref());
        ASSERT_FALSE(read.ok()) << altered.size();
        EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    }
}

TEST_F(QueueTest, OrphanedBulkFilesAreSweptAndNamedOnesStay) {
    const std::string body(300'000, 'b');
    auto orphan = BulkFile::write(paths_, body, sha256(body));
    auto named = BulkFile::write(paths_, body, sha256(body));
    RecordMeta meta;
    meta.topic = Topic::kProductUpsert;
    meta.bulk = named->ref();
    RecordEnvelope envelope;
    envelope.encode(meta, {});
    std::vector<AppendItem> items(1);
    items[0].prefix = envelope.prefix();
    queue_->append(items, kNow);
    ASSERT_EQ(items[0].outcome, AppendOutcome::kStored);
    orphan->keep();
    named->keep();
    EXPECT_EQ(*sweep_bulk(paths_, *queue_, 3600), 0U) << "young files are left alone";
    for (const auto& file : std::filesystem::directory_iterator(paths_.bulk)) {
        make_old(file.path());
    }
    EXPECT_EQ(*sweep_bulk(paths_, *queue_, 3600), 1U);
    EXPECT_TRUE(read_bulk(paths_, named->ref()).ok());
}

/// The drain continues between slices, and no record is read twice, however long it waits.
TEST_F(QueueTest, ASweepGoesInSlicesAndSeesEachRecordOnce) {
    const auto append_named = [&](const BulkFile& file) {
        RecordMeta meta;
        meta.topic = Topic::kProductUpsert;
        meta.bulk = file.ref();
        RecordEnvelope envelope;
        envelope.encode(meta, {});
        std::vector<AppendItem> items(1);
        items[0].prefix = envelope.prefix();
        queue_->append(items, kNow);
        return items[0].seq;
    };
    const auto write = [&] {
        auto file = BulkFile::write(paths_, "body", sha256("body"));
        file->keep();
        make_old(paths_.bulk / file->ref().file_name);
        return std::move(*file);
    };
    const auto files = [&] {
        return std::distance(std::filesystem::directory_iterator(paths_.bulk), {});
    };
    RecordEnvelope plain;
    plain.encode({}, "{}");
    std::vector<AppendItem> many(BulkSweep::kRecordsPerStep + 10);
    for (AppendItem& item : many) {
        item.prefix = plain.prefix();
        item.body = "{}";
    }
    const SequenceNumber first = append_named(write());
    queue_->append(many, kNow);
    write();  // an orphan
    BulkSweep sweep(paths_, *queue_, 3600);
    ASSERT_TRUE(sweep.begin().ok());
    std::uint64_t removed = 0;
    int slices = 0;
    for (; sweep.is_under_way(); ++slices) {
        removed += *sweep.step();
    }
    EXPECT_EQ(removed, 1U);
    EXPECT_EQ(files(), 1);
    EXPECT_EQ(slices, 3) << "two slices of records, and the end";
    append_named(write());
    write();  // another orphan
    ASSERT_TRUE(sweep.begin().ok());
    EXPECT_EQ(*sweep.step(), 0U) << "the new record alone";
    EXPECT_EQ(*sweep.step(), 1U);
    EXPECT_EQ(files(), 2);
    queue_->control().publish_applied(first);
    ASSERT_TRUE(sweep.begin().ok());
    EXPECT_EQ(*sweep.step(), 1U)
        << "it was applied, and the worker was killed before it removed it";
    EXPECT_EQ(files(), 1);
    EXPECT_FALSE(sweep.is_under_way());
}

}  // namespace
}  // namespace sluice::store
