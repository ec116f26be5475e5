// The queue when there is no room: map, disk, rows, records that are too large.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <random>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "unit/lmdb_store/lanes/fixture.hpp"
#include "unit/lmdb_store/queue/fixture.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::Field;
using ::testing::SizeIs;

class QueueFullTest : public QueueTest {
protected:
    /// The queue checks for room at intervals, not at every append.
    AppendItem append_once_open(const std::string& body) {
        AppendItem item;
        for (int tries = 0; tries < 10'000; ++tries) {
            item = append({body})[0];
            if (item.outcome != AppendOutcome::kFull) {
                break;
            }
            ::usleep(1000);
        }
        return item;
    }

    /// Takes, or frees, every `step`-th of so many pages, as another process would: nearly to the
    /// end of a map of 4 MB, past the mark.
    void fill_pages(int step, bool remove, int count = 950) {
        auto env = Environment::open({.folder = paths_.queue, .map_bytes = 4U << 20});
        MDB_dbi filler = 0;
        const std::array<const char*, 1> names{"filler"};
        ASSERT_TRUE((*env)->open_databases(names, {&filler, 1}, true).ok());
        WriteTxn txn;
        ASSERT_EQ(txn.begin(**env), 0);
        const std::string page(3500, 'f');
        for (int i = 0; i < count; i += step) {
            const std::string name = std::to_string(i);
            MDB_val key = to_val(std::string_view(name));
            MDB_val value = to_val(std::string_view(page));
            const int rc = remove ? mdb_del(txn.get(), filler, &key, nullptr)
                                  : mdb_put(txn.get(), filler, &key, &value, 0);
            ASSERT_EQ(rc, 0) << mdb_strerror(rc);
        }
        ASSERT_EQ(txn.commit(), 0);
    }
};

TEST_F(QueueFullTest, AdmissionStopsAtTheMarkAndResumesAfterTheDrain) {
    open({.map_bytes = 8U << 20, .sync = false});
    const std::string body(2000, 'x');
    const std::uint64_t stored = append_until_closed(body);
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kFull);
    const QueueFill fill = *queue_->fill();
    EXPECT_EQ(fill.last_seq.value, stored);
    EXPECT_LE(fill.bytes_used, fill.bytes_high_water);
    EXPECT_GE(fill.bytes_used, fill.bytes_high_water / 10 * 9);
    EXPECT_THAT(bodies_from(1), SizeIs(stored)) << "what was acknowledged stays";
    trim_all(stored);
    EXPECT_EQ(append_once_open(body).seq.value, stored + 1);
    EXPECT_EQ(queue_->closed_reason(), std::nullopt);
}

TEST_F(QueueFullTest, ItIsHalfFullFromHalfOfTheMarkUntilRecordsAreDeleted) {
    open({.map_bytes = 8U << 20, .sync = false});
    const std::string body(2000, 'x');
    append({body});
    EXPECT_FALSE(queue_->is_half_full());
    std::uint64_t stored = 1;
    while (!queue_->is_half_full() && queue_->closed_reason() == std::nullopt) {
        stored = append({body})[0].seq.value;
    }
    EXPECT_EQ(queue_->closed_reason(), std::nullopt) << "orders are still taken";
    const QueueFill fill = *queue_->fill();
    EXPECT_GE(fill.bytes_used, fill.bytes_high_water / 10 * 4);
    EXPECT_LE(fill.bytes_used, fill.bytes_high_water / 10 * 6);
    trim_all(stored);
    for (int tries = 0; tries < 1000 && queue_->is_half_full(); ++tries) {
        append({body});  // free pages are counted at intervals
        ::usleep(1000);
    }
    EXPECT_FALSE(queue_->is_half_full()) << "the file keeps its size";
}

TEST_F(QueueFullTest, WhileItIsFullNoWriteTransactionIsOpened) {
    open({.map_bytes = 2U << 20, .sync = false});
    append_until_closed(std::string(2000, 'x'));
    append_until_closed("x");
    auto env = Environment::open({.folder = paths_.queue, .map_bytes = 2U << 20});
    ASSERT_TRUE(env.ok());
    WriteTxn held;  // an append that needed the writer lock would wait permanently for this thread
    ASSERT_EQ(held.begin(**env), 0);
    EXPECT_EQ(append({std::string(2000, 'x')})[0].outcome, AppendOutcome::kFull);
}

TEST_F(QueueFullTest, ItStaysFullAndNotReadyUntilItIsTrimmed) {
    open({.map_bytes = 2U << 20, .sync = false});
    const std::uint64_t stored = append_until_closed(std::string(2000, 'x'));
    ::usleep(100'000);  // longer than any retry
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kFull);
    EXPECT_TRUE(queue_->still_in_place());
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kFull);
    trim_all(stored);
    std::optional<AppendOutcome> closed = AppendOutcome::kFull;
    for (int tries = 0; tries < 10'000 && closed; ++tries) {
        ::usleep(1000);
        EXPECT_TRUE(queue_->still_in_place());
        closed = queue_->closed_reason();
    }
    EXPECT_EQ(closed, std::nullopt) << "without any append";
}

TEST_F(QueueFullTest, AFullQueueIsDrainedAndFilledOverAndOver) {
    open({.map_bytes = 4U << 20, .sync = false});
    std::mt19937 random(7);
    std::uint64_t last = 0;
    for (int round = 0; round < 8; ++round) {
        last = append_once_open("first of a round").seq.value;
        std::uint64_t in_round = 0;
        while (in_round < 100'000) {
            const AppendItem item = append({std::string(100 + random() % 20'000, 'x')})[0];
            if (item.outcome != AppendOutcome::kStored) {
                ASSERT_EQ(item.outcome, AppendOutcome::kFull);
                break;
            }
            ++in_round;
            last = item.seq.value;
        }
        EXPECT_GT(in_round, 50U) << "round " << round << " found less room than it should";
        trim_all(last);
        EXPECT_EQ(queue_->fill()->rows, 0U);
    }
    EXPECT_LE(fs::file_size(paths_.queue / "data.mdb"), 4U << 20);
}

/// Only its free pages have room for a large record. Small ones would move the end on.
TEST_F(QueueFullTest, AFileThatEndsCloseToTheMarkStoresALargeRecordInItsFreePages) {
    open({.map_bytes = 16U << 20, .sync = false});
    const std::uint64_t mark = queue_->fill()->bytes_high_water;
    const auto env = Environment::open({.folder = paths_.queue, .map_bytes = 16U << 20});
    ASSERT_TRUE(env.ok());
    const auto end = [&env] { return ((*env)->info().me_last_pgno + 1) * (*env)->page_bytes(); };
    std::uint64_t stored = 0;
    while (end() + 200'000 < mark) {
        const AppendItem item = append({std::string(20'000, 'x')})[0];
        ASSERT_EQ(item.outcome, AppendOutcome::kStored);
        stored = item.seq.value;
    }
    ASSERT_LT(end(), mark - 100'000);
    trim_all(stored);
    for (int record = 0; record < 3; ++record) {
        EXPECT_EQ(append_once_open(std::string(250'000, 'L')).outcome, AppendOutcome::kStored);
    }
}

TEST_F(QueueFullTest, ALargeRecordThatFindsNoRoomDoesNotFailItsNeighbours) {
    open({.map_bytes = 2U << 20, .sync = false});
    append_until_closed(std::string(200'000, 'x'));
    const auto items = append({"one", std::string(200'000, 'x'), "two"});
    EXPECT_EQ(items[0].outcome, AppendOutcome::kStored);
    EXPECT_EQ(items[1].outcome, AppendOutcome::kFull);
    EXPECT_EQ(items[2].outcome, AppendOutcome::kStored);
    EXPECT_EQ(items[2].seq.value, items[0].seq.value + 1);
}

TEST_F(QueueFullTest, ARecordThatNeverFitsIsSaidToBeTooLarge) {
    open({.map_bytes = 1U << 20});
    const auto items = append({"one", std::string(900'000, 'x'), "two"});
    EXPECT_EQ(items[0].outcome, AppendOutcome::kStored);
    EXPECT_EQ(items[1].outcome, AppendOutcome::kTooLarge);
    EXPECT_EQ(items[2].outcome, AppendOutcome::kStored);
    EXPECT_EQ(queue_->closed_reason(), std::nullopt);
}

// Free pages lie scattered, so a large record finds no run of them: the map is full for it alone.
TEST_F(QueueFullTest, AMapThatIsFullForOneRecordIsNotForTheOthersOfItsBatch) {
    open({.map_bytes = 4U << 20, .sync = false});
    fill_pages(1, false);
    fill_pages(2, true);  // every other page is free now
    std::vector<std::string> bodies(20, std::string(500, 's'));
    bodies[7] = std::string(250'000, 'L');
    const auto items = append(bodies);
    for (std::size_t i = 0; i < items.size(); ++i) {
        EXPECT_EQ(items[i].outcome, i == 7 ? AppendOutcome::kFull : AppendOutcome::kStored) << i;
    }
    EXPECT_THAT(bodies_from(1), SizeIs(19));
}

/// LMDB keeps what the last transaction freed for one more, which only a record would begin.
TEST_F(QueueFullTest, ALargeRecordIsStoredInThePagesThatTheLastTransactionFreed) {
    open({.map_bytes = 4U << 20, .sync = false});
    fill_pages(1, false);
    fill_pages(1, true);
    EXPECT_EQ(append_once_open(std::string(250'000, 'L')).outcome, AppendOutcome::kStored);
}

TEST_F(QueueFullTest, RecordsOfALaneAreMovedToThePagesThatTheLastTransactionFreed) {
    constexpr int kToTheEnd = 990;
    open({.map_bytes = 4U << 20, .sync = false});
    Lane lane(*queue_);
    ASSERT_TRUE(lane.ok());
    for (int batch = 0; batch < 6; ++batch) {
        lane.write({std::string(7000, 'x')});
    }
    fill_pages(1, false, kToTheEnd);
    fill_pages(1, true, kToTheEnd);
    const Status moved = queue_->move_lanes();
    EXPECT_TRUE(moved.ok()) << moved.error().message;
    EXPECT_THAT(bodies_from(1), SizeIs(6));
}

TEST_F(QueueFullTest, ReplaysAreAnsweredWhileAdmissionIsStopped) {
    open({.map_bytes = 4U << 20, .sync = false, .idempotency_ttl_seconds = 60});
    append({"body"}, {claim("key", "body")});
    append_until_closed(std::string(30'000, 'x'));
    append_until_closed("small");
    EXPECT_EQ(append({"body"}, {claim("key", "body")})[0].outcome, AppendOutcome::kReplayed);
    EXPECT_EQ(append({"other"}, {claim("key", "other")})[0].outcome, AppendOutcome::kConflict);
    EXPECT_EQ(append({"new"}, {claim("new", "new")})[0].outcome, AppendOutcome::kFull);
    EXPECT_EQ(append({"body"}, {claim("key", "body")}, kNow.plus_seconds(60))[0].outcome,
              AppendOutcome::kFull)
        << "an expired key is no replay";
}

TEST_F(QueueFullTest, RowsOfKeysHaveTheirOwnCap) {
    open({.map_bytes = 1U << 20, .sync = false, .idempotency_ttl_seconds = 60});
    const auto store_key = [&](int number, Timestamp now) {
        const std::string key = "key" + std::to_string(number);
        const AppendItem item = append({"b"}, {claim(key, "b")}, now)[0];
        queue_->control().publish_applied(queue_->fill()->last_seq);
        return item.outcome;
    };
    int rows = 0;
    while (rows < 100'000 && store_key(rows, kNow) == AppendOutcome::kStored) {
        ++rows;
    }
    EXPECT_EQ(queue_->fill()->idempotency_rows, static_cast<std::uint64_t>(rows));
    EXPECT_EQ(queue_->fill()->idempotency_rows_max, static_cast<std::uint64_t>(rows));
    EXPECT_EQ(store_key(rows, kNow), AppendOutcome::kKeysFull);
    EXPECT_EQ(append({"an order"})[0].outcome, AppendOutcome::kStored) << "orders have no keys";
    EXPECT_EQ(queue_->closed_reason(), std::nullopt);
    EXPECT_EQ(store_key(rows, kNow.plus_seconds(60)), AppendOutcome::kStored)
        << "expired rows make room";
    EXPECT_LT(queue_->fill()->idempotency_rows, static_cast<std::uint64_t>(rows));
}

TEST_F(QueueFullTest, BatchesOfKeysDoNotOutgrowTheirExpiry) {
    open({.sync = false, .idempotency_ttl_seconds = 60});
    Timestamp now = kNow;
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> keys;
        std::vector<std::optional<IdempotencyClaim>> claims;
        for (int i = 0; i < 10; ++i) {
            keys.push_back(std::to_string(round) + "." + std::to_string(i));
        }
        for (const std::string& key : keys) {
            claims.emplace_back(claim(key, "b"));
        }
        append(std::vector<std::string>(10, "b"), claims, now);
        now = now.plus_seconds(1);
    }
    EXPECT_LE(queue_->fill()->idempotency_rows, 61U * 10);
}

/// A store on a file system of a few megabytes, which only root can make.
class QueueDiskTest : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0 ||
            ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=8m") != 0) {
            GTEST_SKIP() << "no right to mount a small file system";
        }
        mounted_ = true;
        paths_ = std::make_unique<StorePaths>(folder_.path() / "store");
        ASSERT_TRUE(init_store(*paths_, {}).ok());
        auto opened = Queue::open(*paths_, {.map_bytes = 64U << 20});
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        queue_ = std::move(*opened);
    }
    void TearDown() override {
        queue_.reset();
        if (mounted_) {
            ::umount(folder_.path().c_str());
        }
    }
    /// Takes the whole disk but for so many pages.
    static void leave_pages(const fs::path& ballast, std::uint64_t pages) {
        struct statvfs disk {};
        ASSERT_EQ(::statvfs(ballast.parent_path().c_str(), &disk), 0);
        ASSERT_GT(disk.f_bavail, pages);
        write_text(ballast, std::string((disk.f_bavail - pages) * disk.f_frsize, 'b'));
    }
    AppendOutcome append(const std::string& body, std::size_t count = 1) {
        TestBatch batch(std::vector<std::string>(count, body));
        queue_->append(batch.items(), kNow);
        outcomes_ = batch.items();
        return outcomes_[0].outcome;
    }

    TempFolder folder_;
    bool mounted_ = false;
    std::unique_ptr<StorePaths> paths_;
    std::unique_ptr<Queue> queue_;
    std::vector<AppendItem> outcomes_;
};

TEST_F(QueueDiskTest, AFullDiskIsReportedLosesNothingAndServiceResumes) {
    const fs::path ballast = folder_.path() / "ballast";
    write_text(ballast, std::string(4U << 20, 'b'));
    std::uint64_t stored = 0;
    while (stored < 100'000 && append(std::string(3000, 'x')) == AppendOutcome::kStored) {
        ++stored;
    }
    EXPECT_EQ(outcomes_[0].outcome, AppendOutcome::kNoSpace);
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kNoSpace);
    EXPECT_EQ(append(std::string(3000, 'x'), 16), AppendOutcome::kNoSpace);
    EXPECT_THAT(outcomes_, Each(Field(&AppendItem::outcome, AppendOutcome::kNoSpace)));
    EXPECT_EQ(queue_->fill()->last_seq.value, stored) << "nothing is lost, nothing half there";
    fs::remove(ballast);
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kNoSpace) << "it asks no file system";
    EXPECT_TRUE(queue_->still_in_place());
    EXPECT_EQ(queue_->closed_reason(), std::nullopt);
    EXPECT_EQ(append("after"), AppendOutcome::kStored);
    EXPECT_EQ(outcomes_[0].seq.value, stored + 1);
}

/// Lanes hold records when the worker starts, and moving them runs out of room at every place.
TEST_F(QueueDiskTest, L10ADrainBeginsOnADiskThatRunsFullInTheMiddleOfAMove) {
    constexpr std::uint64_t kBatches = 6;
    {
        Lane lane(*queue_);
        ASSERT_TRUE(lane.ok());
        for (std::uint64_t i = 0; i < kBatches; ++i) {
            lane.write({std::string(50'000, 'x')});
        }
    }
    const fs::path ballast = folder_.path() / "ballast";
    bool ran_full = false;
    for (std::uint64_t left = 0; left < 100 && queue_->fill()->last_seq.value == 0; ++left) {
        leave_pages(ballast, left);
        queue_.reset();
        auto opened = Queue::open(*paths_, {.map_bytes = 64U << 20});
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        queue_ = std::move(*opened);
        const Status begun = queue_->begin_drain({0});
        ASSERT_TRUE(begun.ok()) << left << ": " << begun.error().message;
        ASSERT_FALSE(queue_->latched()) << left << ": " << queue_->latch_text();
        ran_full = ran_full || queue_->closed_reason() == AppendOutcome::kNoSpace;
        fs::remove(ballast);
    }
    EXPECT_TRUE(ran_full);
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_EQ(queue_->fill()->last_seq.value, kBatches);
}

// Batches of many sizes, so that the disk runs full in the middle of a write: LMDB calls that EIO.
TEST_F(QueueDiskTest, ADiskThatRunsFullInTheMiddleOfAWriteIsNotAnIoError) {
    const fs::path ballast = folder_.path() / "ballast";
    std::mt19937 random(3);
    std::uint64_t stored = 0;
    for (int round = 0; round < 12; ++round) {
        write_text(ballast, std::string((2U << 20) + random() % 100'000, 'b'));
        AppendOutcome outcome = AppendOutcome::kStored;
        for (int i = 0; i < 10'000 && outcome == AppendOutcome::kStored; ++i) {
            const std::size_t count = 1 + random() % 60;
            outcome = append(std::string(1000 + random() % 9000, 'x'), count);
            stored += outcome == AppendOutcome::kStored ? count : 0;
        }
        ASSERT_EQ(outcome, AppendOutcome::kNoSpace) << "round " << round;
        fs::remove(ballast);
        ASSERT_EQ(queue_->fill()->last_seq.value, stored);
        ASSERT_EQ(append("small"), AppendOutcome::kStored) << "not latched";
        ++stored;
        ASSERT_TRUE(queue_->trim({stored}, 100'000).ok());
    }
}

TEST_F(QueueDiskTest, ABulkFileThatDoesNotFitLeavesNothingBehind) {
    const std::string body(12U << 20, 'b');
    const auto file = BulkFile::write(*paths_, body, sha256(body));
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, ErrorCode::kNoSpace);
    EXPECT_TRUE(fs::is_empty(paths_->bulk));
}

}  // namespace
}  // namespace sluice::store
