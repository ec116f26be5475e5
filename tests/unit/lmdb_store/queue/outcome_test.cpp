// Outcome of a failure for the records of a batch and for later ones, by LMDB's error; a queue with
// damaged rows; and admission's view of the disk.
#include <gmock/gmock.h>
#include <lmdb.h>

#include <cerrno>

#include "lmdb_store/environment/preallocation.hpp"
#include "lmdb_store/environment/reaction.hpp"
#include "lmdb_store/queue/admission.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/tables.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"
#include "unit/lmdb_store/queue/fixture.hpp"
#include "unit/lmdb_store/whole_sweep.hpp"

namespace sluice::store {
namespace {

using testing::HasSubstr;

class QueueOutcomeTest : public QueueTest {
protected:
    RawRows table(const char* name) {
        queue_.reset();
        return {paths_.queue, name};
    }
    AppendOutcome outcome_with(int error) {
        open(options_);
        const FailingCall call("mdb_cursor_put", 0, error);
        return append({"body"})[0].outcome;
    }

    const QueueOptions options_{.map_bytes = 1U << 26, .idempotency_ttl_seconds = 60};
};

TEST_F(QueueOutcomeTest, AFailureThatPassesIsAnsweredAndTheNextRecordIsStored) {
    for (const auto& [error, outcome] :
         {std::pair{MDB_MAP_FULL, AppendOutcome::kStored},  // tried again
          std::pair{MDB_TXN_FULL, AppendOutcome::kFull}, std::pair{ENOSPC, AppendOutcome::kNoSpace},
          std::pair{EDQUOT, AppendOutcome::kNoSpace}, std::pair{EFBIG, AppendOutcome::kNoSpace},
          std::pair{ENOMEM, AppendOutcome::kUnavailable},
          std::pair{EBUSY, AppendOutcome::kUnavailable},
          std::pair{EAGAIN, AppendOutcome::kUnavailable},
          std::pair{EINTR, AppendOutcome::kUnavailable},
          std::pair{MDB_READERS_FULL, AppendOutcome::kUnavailable},
          std::pair{MDB_MAP_RESIZED, AppendOutcome::kUnavailable}}) {
        EXPECT_EQ(outcome_with(error), outcome) << error;
        EXPECT_EQ(append({"next"})[0].outcome, AppendOutcome::kStored) << error;
    }
}

TEST_F(QueueOutcomeTest, AFailureThatStaysStopsAdmissionUntilARestart) {
    for (const int error : {EIO, MDB_CORRUPTED, MDB_BAD_TXN, MDB_PAGE_NOTFOUND}) {
        EXPECT_EQ(outcome_with(error), AppendOutcome::kUnavailable) << error;
        EXPECT_NE(append({"next"})[0].outcome, AppendOutcome::kStored) << error;
        EXPECT_NE(queue_->closed_reason(), std::nullopt);
        open(options_);
        EXPECT_EQ(append({"next"})[0].outcome, AppendOutcome::kStored) << error;
    }
}

TEST_F(QueueOutcomeTest, AQueueWithoutItsNameFormatOrNumberIsRefused) {
    const auto refused_with = [&](std::string_view key, std::optional<std::string_view> value) {
        const RawRows main = table("");
        const RestoredFile restored(paths_.queue);
        value ? main.put(key, *value) : main.remove(key);
        const auto opened = Queue::open(paths_, {});
        EXPECT_FALSE(opened.ok());
        EXPECT_THAT(opened.error().message, HasSubstr(paths_.queue.string()));
        return opened.error().code;
    };
    for (const std::string_view key : {kFormatKey, kUuidKey, kNextSeqKey}) {
        EXPECT_EQ(refused_with(key, std::nullopt), ErrorCode::kCorrupt) << key;
        EXPECT_EQ(refused_with(key, "x"), ErrorCode::kCorrupt) << key;
    }
    EXPECT_EQ(refused_with(kFormatKey, std::string_view("\3\0\0\0", 4)), ErrorCode::kUnsupported);
}

/// The number is gone while nginx runs: nothing may be written where something may be.
TEST_F(QueueOutcomeTest, WithoutTheNextNumberNothingIsStored) {
    const FailingCall call("mdb_get", 0, MDB_NOTFOUND);
    EXPECT_EQ(append({"body"})[0].outcome, AppendOutcome::kUnavailable);
    EXPECT_TRUE(call.struck());
}

TEST_F(QueueOutcomeTest, ADamagedRowOfAKeyStoresNothingAgain) {
    open(options_);
    append({"body"}, {claim("key", "body")});
    const auto row = table("idempotency").all().front();
    table("idempotency").put(row.first, "x");
    open(options_);
    EXPECT_EQ(append({"body"}, {claim("key", "body")})[0].outcome, AppendOutcome::kUnavailable);
    EXPECT_EQ(queue_->fill()->rows, 1U);
    table("idempotency").put(row.first, row.second);
    open(options_);
    EXPECT_EQ(append({"body"}, {claim("key", "body")})[0].outcome, AppendOutcome::kReplayed);
}

TEST_F(QueueOutcomeTest, ADamagedRowOfAgesExpiresNoKey) {
    open(options_);
    append({"body"}, {claim("key", "body")});
    const auto row = table("idempotency_by_age").all().front();
    table("idempotency_by_age").rename(row.first, row.first.substr(0, 5), "");
    open(options_);
    append({"later"}, {claim("later", "later")}, kNow.plus_seconds(3600));
    EXPECT_EQ(queue_->fill()->idempotency_rows, 2U);
}

TEST_F(QueueOutcomeTest, AnAgeWithoutItsKeyIsRemoved) {
    open(options_);
    append({"body"}, {claim("key", "body")});
    table("idempotency").remove(table("idempotency").all().front().first);
    open(options_);
    append({"later"}, {claim("later", "later")}, kNow.plus_seconds(3600));
    EXPECT_EQ(queue_->fill()->idempotency_rows, 1U);
    EXPECT_EQ(table("idempotency_by_age").all().size(), 1U);
}

/// Rows of keys may fill their part of the map; records still find room.
TEST_F(QueueOutcomeTest, AtTheCapOfKeysABatchIsStoredAsFarAsThereAreRows) {
    for (const std::int64_t ttl : {std::int64_t{60}, std::int64_t{0}}) {
        open({.map_bytes = 1U << 20, .sync = false, .idempotency_ttl_seconds = ttl});
        const auto store_two = [&](const std::string& key) {
            const auto items = append({"a", "b"}, {claim(key + "a", "a"), claim(key + "b", "b")});
            queue_->control().publish_applied(queue_->fill()->last_seq);
            return items;
        };
        std::vector<AppendItem> items;
        for (int i = 0; items.empty() || items[0].outcome == AppendOutcome::kStored; ++i) {
            items = store_two(std::to_string(ttl) + "." + std::to_string(i));
        }
        EXPECT_EQ(items[0].outcome, AppendOutcome::kKeysFull);
        EXPECT_EQ(items[1].outcome, AppendOutcome::kKeysFull);
        EXPECT_EQ(append({"an order"})[0].outcome, AppendOutcome::kStored);
        // One row less, and a batch of two finds room for one.
        const auto rows = table("idempotency").all();
        table("idempotency").remove(rows.front().first);
        open({.map_bytes = 1U << 20, .sync = false, .idempotency_ttl_seconds = ttl});
        items = store_two("last" + std::to_string(ttl));
        EXPECT_EQ(items[0].outcome, AppendOutcome::kStored) << ttl;
        EXPECT_EQ(items[1].outcome, AppendOutcome::kKeysFull) << ttl;
    }
}

TEST_F(QueueOutcomeTest, ARowWithAnInvalidKeyIsNotRead) {
    append({"one", "two"});
    table("records").put("zzz", "no record");
    open({});
    EXPECT_EQ(bodies_from(1), (std::vector<std::string>{"one", "two"}));
}

TEST_F(QueueOutcomeTest, TheFileNeverGrowsBeyondItsMap) {
    constexpr std::size_t kMap = 1U << 20;
    open({.map_bytes = kMap});
    EXPECT_GT(append_until_closed(std::string(9000, 'x')), 10U);
    EXPECT_LE(std::filesystem::file_size(paths_.queue / "data.mdb"), kMap);
}

// -- Bulk files -----------------------------------------------------------------------------------

TEST_F(QueueOutcomeTest, ANameThatLeavesTheFolderIsDamage) {
    const auto outside = paths_.queue / "data.mdb";
    for (const std::string& name :
         {std::string("../data.mdb"), std::string(32, 'a') + ".bulx", std::string(37, 'a'),
          std::string(31, 'a') + "/.bulk", std::string(31, 'A') + "a.bulk"}) {
        EXPECT_EQ(read_bulk(paths_, {name, 1, {}}).error().code, ErrorCode::kCorrupt) << name;
        remove_bulk(paths_, name);
        EXPECT_TRUE(std::filesystem::exists(outside));
    }
}

TEST_F(QueueOutcomeTest, ASweepLeavesFilesThatAreNotItsOwn) {
    const auto notes = paths_.bulk / "notes.txt";
    write_text(notes, "a person's");
    make_old(notes);
    EXPECT_EQ(*sweep_bulk(paths_, *queue_, 3600), 0U);
    EXPECT_TRUE(std::filesystem::exists(notes));
}

TEST_F(QueueOutcomeTest, ASweepRemovesNothingWhileARecordCannotBeRead) {
    append({"body"});
    const auto row = table("records").all().front();
    const auto orphan = paths_.bulk / (std::string(32, 'a') + ".bulk");
    write_text(orphan, "orphan");
    make_old(orphan);
    std::string damaged = row.second.substr(0, 20);
    damaged[6] = static_cast<char>(damaged[6] | 1);  // says that it has a file, and then nothing
    table("records").put(row.first, damaged);
    open({});
    EXPECT_EQ(sweep_bulk(paths_, *queue_, 3600).error().code, ErrorCode::kCorrupt);
    EXPECT_TRUE(std::filesystem::exists(orphan));
    table("records").put(row.first, "short");
    open({});
    EXPECT_EQ(*sweep_bulk(paths_, *queue_, 3600), 1U) << "what has no head names no file";
}

TEST_F(QueueOutcomeTest, AControlPageOfANewerFormatIsRefused) {
    queue_.reset();
    const std::string good = read_text(paths_.control);
    std::string unmarked(good.size(), '\0');
    unmarked[8] = 1;  // a format without the magic
    write_text(paths_.control, unmarked);
    EXPECT_EQ(Queue::open(paths_, {}).error().code, ErrorCode::kCorrupt);
    for (const std::size_t at : {std::size_t{0}, std::size_t{8}}) {  // magic, format
        std::string other = good;
        other[at] = static_cast<char>(other[at] ^ 0x7F);
        write_text(paths_.control, other);
        EXPECT_EQ(Queue::open(paths_, {}).error().code, ErrorCode::kCorrupt) << at;
        EXPECT_EQ(read_text(paths_.control), other);
    }
}

// -- The disk -------------------------------------------------------------------------------------

TEST_F(QueueOutcomeTest, ADiskIsFullIfASmallReservationFails) {
    EXPECT_FALSE(disk_is_full(paths_.queue));
    for (const char* name : {"sys_open", "sys_fallocate"}) {
        for (const auto& [error, full] :
             {std::pair{ENOSPC, true}, std::pair{EDQUOT, true}, std::pair{EOPNOTSUPP, false}}) {
            const FailingCall call(name, 0, error);
            EXPECT_EQ(disk_is_full(paths_.queue), full) << name << " " << error;
            EXPECT_TRUE(call.struck());
        }
    }
}

TEST_F(QueueOutcomeTest, ZerosAreWrittenAheadOnXfsTooAndNotForLargeCommits) {
    constexpr std::size_t kMap = 4U << 20;
    constexpr long kXfs = 0x58465342;
    open({.map_bytes = kMap});
    auto env = Environment::open({.folder = paths_.queue, .map_bytes = kMap});
    const auto bytes = [&] { return std::filesystem::file_size(paths_.queue / "data.mdb"); };
    const std::uintmax_t before = bytes();
    {
        const FileSystemType tmpfs(0x01021994);
        Preallocation(paths_.queue).prepare(**env, 1);
        EXPECT_EQ(bytes(), before);
    }
    const FileSystemType xfs(kXfs);
    {
        const FailingCall call("sys_fstatvfs", 0, EIO);
        Preallocation(paths_.queue).prepare(**env, 1);
        EXPECT_TRUE(call.struck());
        EXPECT_EQ(bytes(), before) << "nobody knows whether the disk has room";
    }
    Preallocation preallocation(paths_.queue);
    preallocation.prepare(**env, Preallocation::kChunkBytes);
    EXPECT_EQ(bytes(), before) << "not for large commits";
    preallocation.prepare(**env, 1);
    if (bytes() == before) {
        GTEST_SKIP() << "no O_DIRECT on this file system";
    }
}

}  // namespace
}  // namespace sluice::store
