#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "lmdb_store/bulk_file.hpp"
#include "lmdb_store/queue.hpp"

namespace sluice::store {
namespace {

constexpr Timestamp kNow{1'700'000'000, 0};

class QueueTest : public testing::Test {
protected:
    QueueTest() {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-XXXXXX").string();
        root_ = mkdtemp(name.data());
        paths_ = std::make_unique<StorePaths>(root_ / "store");
        const Status made = init_store(*paths_, {});
        EXPECT_TRUE(made.ok()) << made.error().message;
        open({});
    }
    ~QueueTest() override {
        queue_.reset();
        std::filesystem::remove_all(root_);
    }
    void open(const QueueOptions& options) {
        queue_.reset();
        auto opened = Queue::open(*paths_, options);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        queue_ = std::move(*opened);
    }
    /// Appends bodies as one batch, each with the claim of the same place if there is one.
    std::vector<AppendItem> append(const std::vector<std::string>& bodies,
                                   const std::vector<std::optional<IdempotencyClaim>>& claims = {},
                                   Timestamp now = kNow) {
        envelopes_ = std::vector<RecordEnvelope>(bodies.size());
        std::vector<AppendItem> items(bodies.size());
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            RecordMeta meta;
            meta.account_id = "acme";
            meta.shop_id = "shop";
            meta.received_at = now;
            envelopes_[i].encode(meta, bodies[i]);
            items[i].prefix = envelopes_[i].prefix();
            items[i].body = bodies[i];
            items[i].received_at = now;
            if (i < claims.size()) {
                items[i].claim = claims[i];
            }
        }
        queue_->append(items, now);
        return items;
    }
    static IdempotencyClaim claim(std::string_view key, std::string_view body,
                                  std::uint32_t count = 3) {
        return {{7}, key, Topic::kProductUpsert, sha256(body), count};
    }
    std::vector<std::string> bodies_from(std::uint64_t from) {
        auto records = queue_->read({from}, 10'000, 1U << 30);
        EXPECT_TRUE(records.ok());
        std::vector<std::string> bodies;
        for (const QueuedRecord& record : *records) {
            const auto view = decode_record(record.bytes);
            EXPECT_TRUE(view.ok());
            bodies.emplace_back(view->body);
        }
        return bodies;
    }

    std::filesystem::path root_;
    std::unique_ptr<StorePaths> paths_;
    std::unique_ptr<Queue> queue_;
    std::vector<RecordEnvelope> envelopes_;
};

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

TEST_F(QueueTest, AdmissionStopsAtTheMarkAndResumesAfterTheDrain) {
    open({.map_bytes = 8U << 20, .sync = false});
    const std::string body(2000, 'x');
    AppendOutcome outcome = AppendOutcome::kStored;
    std::uint64_t stored = 0;
    while (outcome == AppendOutcome::kStored && stored < 10'000) {
        outcome = append({body})[0].outcome;
        stored += outcome == AppendOutcome::kStored ? 1U : 0U;
    }
    EXPECT_EQ(outcome, AppendOutcome::kFull);
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kFull);
    const QueueFill fill = *queue_->fill();
    EXPECT_EQ(fill.last_seq.value, stored);
    EXPECT_LE(fill.bytes_used, fill.bytes_mark);
    EXPECT_GE(fill.bytes_used, fill.bytes_mark / 10 * 9);
    EXPECT_THAT(bodies_from(1), testing::SizeIs(stored)) << "what was acknowledged stays";

    std::uint64_t deleted = 0;
    while (deleted < stored) {
        const auto slice = queue_->trim({stored}, 500);
        ASSERT_TRUE(slice.ok()) << slice.error().message;
        deleted += *slice;
    }
    for (int tries = 0; tries < 1000 && queue_->closed_reason(); ++tries) {
        usleep(1000);
    }
    EXPECT_EQ(append({body})[0].outcome, AppendOutcome::kStored);
}

TEST_F(QueueTest, ReplaysAreAnsweredWhileAdmissionIsStopped) {
    open({.map_bytes = 4U << 20, .sync = false, .idempotency_ttl_seconds = 60});
    append({"body"}, {claim("key", "body")});
    while (append({std::string(30'000, 'x')})[0].outcome == AppendOutcome::kStored) {
    }
    while (append({"small"})[0].outcome == AppendOutcome::kStored) {
    }
    EXPECT_EQ(append({"body"}, {claim("key", "body")})[0].outcome, AppendOutcome::kReplayed);
    EXPECT_EQ(append({"other"}, {claim("key", "other")})[0].outcome, AppendOutcome::kConflict);
    EXPECT_EQ(append({"new"}, {claim("new", "new")})[0].outcome, AppendOutcome::kFull);
}

TEST_F(QueueTest, ARecordThatNeverFitsDoesNotFailItsNeighbours) {
    open({.map_bytes = 1U << 20});
    const auto items = append({"one", std::string(900'000, 'x'), "two"});
    EXPECT_EQ(items[0].outcome, AppendOutcome::kStored);
    EXPECT_EQ(items[1].outcome, AppendOutcome::kTooLarge);
    EXPECT_EQ(items[2].outcome, AppendOutcome::kStored);
}

TEST_F(QueueTest, BulkFilesStayOnlyIfKept) {
    const std::string body(300'000, 'b');
    {
        auto dropped = BulkFile::write(*paths_, body, sha256(body));
        ASSERT_TRUE(dropped.ok()) << dropped.error().message;
        EXPECT_TRUE(std::filesystem::exists(paths_->bulk / dropped->ref().file_name));
    }
    EXPECT_TRUE(std::filesystem::is_empty(paths_->bulk));
    auto kept = BulkFile::write(*paths_, body, sha256(body));
    ASSERT_TRUE(kept.ok());
    const auto read = read_bulk(*paths_, kept->ref());
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, body);
    kept->keep();
}

TEST_F(QueueTest, OrphanedBulkFilesAreSweptAndNamedOnesStay) {
    const std::string body(300'000, 'b');
    auto orphan = BulkFile::write(*paths_, body, sha256(body));
    auto named = BulkFile::write(*paths_, body, sha256(body));
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
    EXPECT_EQ(*sweep_bulk(*paths_, *queue_, 3600), 0U) << "young files are left alone";
    EXPECT_EQ(*sweep_bulk(*paths_, *queue_, 0), 1U);
    EXPECT_TRUE(read_bulk(*paths_, named->ref()).ok());
}

TEST_F(QueueTest, AStoreThatWasRemovedTakesNothingMore) {
    append({"one"});
    std::filesystem::rename(paths_->queue / "data.mdb", paths_->queue / "gone.mdb");
    EXPECT_FALSE(queue_->still_in_place());
    AppendOutcome outcome = AppendOutcome::kStored;
    for (int tries = 0; tries < 300 && outcome == AppendOutcome::kStored; ++tries) {
        outcome = append({"two"})[0].outcome;
        usleep(10'000);
    }
    EXPECT_EQ(outcome, AppendOutcome::kUnavailable);
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kUnavailable);
}

}  // namespace
}  // namespace sluice::store
