// A store that is damaged, removed, or not a store is refused with its path, and never recreated.

#include <gmock/gmock.h>

#include <array>
#include <chrono>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/queue/tables.hpp"
#include "unit/lmdb_store/queue/fixture.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class QueueDamageTest : public QueueTest {
protected:
    Error refused() {
        auto opened = Queue::open(paths_, {});
        EXPECT_FALSE(opened.ok());
        return opened.ok() ? Error{} : opened.error();
    }
    fs::path data() const { return paths_.queue / "data.mdb"; }
};

TEST_F(QueueDamageTest, FilesThatAreMissingEmptyShortOrGarbageAreRefused) {
    append(std::vector<std::string>(100, std::string(3000, 'x')));
    queue_.reset();
    const std::string good = read_text(data());
    for (const std::string& bad :
         {std::string(), good.substr(0, 100), good.substr(0, 8192), good.substr(0, good.size() / 2),
          good.substr(0, good.size() - 4096), std::string(good.size(), '\x5A')}) {
        write_text(data(), bad);
        const Error error = refused();
        EXPECT_EQ(error.code, ErrorCode::kCorrupt) << bad.size();
        EXPECT_THAT(error.message, HasSubstr(paths_.queue.string())) << bad.size();
        EXPECT_EQ(read_text(data()), bad) << "what is damaged is not touched";
    }
    fs::remove(data());
    EXPECT_EQ(refused().code, ErrorCode::kCorrupt);
    EXPECT_THAT(refused().message, HasSubstr(data().string()));
    EXPECT_FALSE(fs::exists(data())) << "nothing is made anew";
    write_text(data(), good);
    open({});
    EXPECT_THAT(bodies_from(1), SizeIs(100));
}

TEST_F(QueueDamageTest, AControlPageThatIsMissingShortOrGarbageIsRefused) {
    queue_.reset();
    const std::string good = read_text(paths_.control);
    for (const std::string& bad : {std::string(), good.substr(0, 4095), std::string(4096, 'x')}) {
        write_text(paths_.control, bad);
        EXPECT_EQ(refused().code, ErrorCode::kCorrupt) << bad.size();
        EXPECT_THAT(refused().message, HasSubstr(paths_.control.string()));
    }
    fs::remove(paths_.control);
    EXPECT_EQ(refused().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(fs::exists(paths_.control));
    write_text(paths_.control, std::string(4096, '\0'));
    open({});
    EXPECT_EQ(append({"one"})[0].outcome, AppendOutcome::kStored) << "zeros know nothing: fine";
}

TEST_F(QueueDamageTest, AScribbledHintDeletesNothing) {
    append(std::vector<std::string>(20, "x"));
    queue_->control().publish_applied({3});
    queue_->control().words().applied_seq.store(20);
    append({"y"});
    EXPECT_EQ(queue_->fill()->first_seq.value, 1U);
    queue_->control().words().applied_check.store(12345);
    append({"y"});
    EXPECT_EQ(queue_->fill()->first_seq.value, 1U);
    queue_->control().publish_applied({3});
    append({"y"});
    EXPECT_EQ(queue_->fill()->first_seq.value, 3U);
}

TEST_F(QueueDamageTest, AControlPageOfAnotherQueueDeletesNothing) {
    append(std::vector<std::string>(20, "x"));
    const TempStore other;
    {
        auto theirs = Queue::open(other.paths(), {});
        ASSERT_TRUE(theirs.ok());
        (*theirs)->control().publish_applied({20});
    }
    queue_.reset();
    write_text(paths_.control, read_text(other.paths().control));
    open({});
    append({"y"});
    EXPECT_EQ(queue_->fill()->first_seq.value, 1U);
}

TEST_F(QueueDamageTest, AStoreThatIsNoneOrNewerIsRefused) {
    queue_.reset();
    StoreFormat format = *read_store_format(paths_);
    format.min_writer = kStoreFormat + 1;
    ASSERT_TRUE(write_store_format(paths_, format).ok());
    EXPECT_EQ(refused().code, ErrorCode::kUnsupported);
    fs::remove(paths_.format);
    EXPECT_EQ(refused().code, ErrorCode::kNotFound);
    EXPECT_THAT(refused().message, HasSubstr("sluice init"));
}

TEST_F(QueueDamageTest, AnotherEnvironmentInItsPlaceIsRefused) {
    queue_.reset();
    fs::copy_file(paths_.ledger / "data.mdb", data(), fs::copy_options::overwrite_existing);
    EXPECT_EQ(refused().code, ErrorCode::kCorrupt);
    EXPECT_THAT(refused().message, HasSubstr(paths_.queue.string()));
}

TEST_F(QueueDamageTest, ATooSmallMapIsRefused) {
    queue_.reset();
    const auto opened = Queue::open(paths_, {.map_bytes = 64U << 10});
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
}

TEST_F(QueueDamageTest, AProcessWithoutMapSizeUsesThatOfNginx) {
    open({.map_bytes = 32U << 20});
    EXPECT_EQ(queue_->fill()->bytes_map, 32U << 20);
    open({});
    EXPECT_EQ(queue_->fill()->bytes_map, 32U << 20);
    queue_->control().words().map_bytes.store(~std::uint64_t{0});
    open({});
    EXPECT_EQ(queue_->fill()->bytes_map, std::uint64_t{16} << 30) << "a scribbled hint";
}

TEST_F(QueueDamageTest, AStoreThatWasRemovedTakesNothingMoreNotEvenReplays) {
    open({.idempotency_ttl_seconds = 60});
    append({"body"}, {claim("key", "body")});
    fs::rename(paths_.root, paths_.root.string() + ".gone");
    AppendOutcome outcome = AppendOutcome::kStored;
    const auto started = std::chrono::steady_clock::now();
    while (outcome == AppendOutcome::kStored &&
           std::chrono::steady_clock::now() - started < std::chrono::seconds(10)) {
        outcome = append({"late"})[0].outcome;
        ::usleep(1000);
    }
    EXPECT_EQ(outcome, AppendOutcome::kUnavailable);
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kUnavailable);
    EXPECT_EQ(append({"body"}, {claim("key", "body")})[0].outcome, AppendOutcome::kUnavailable);
    EXPECT_FALSE(queue_->still_in_place());
    fs::rename(paths_.root.string() + ".gone", paths_.root);
    EXPECT_TRUE(queue_->still_in_place());
    EXPECT_EQ(append({"back"})[0].outcome, AppendOutcome::kStored) << "the very same files";
}

TEST_F(QueueDamageTest, ARecreatedStoreIsNotTheOpenedOne) {
    append({"one"});
    fs::remove_all(paths_.root);
    ASSERT_TRUE(init_store(paths_, {}).ok());
    EXPECT_FALSE(queue_->still_in_place());
    EXPECT_EQ(append({"two"})[0].outcome, AppendOutcome::kUnavailable);
    open({});
    EXPECT_EQ(append({"two"})[0].seq.value, 1U);
}

TEST_F(QueueDamageTest, ABrokenTableLatchesThisProcessAndLosesNothing) {
    append({"one"});
    {
        // Records beyond next_seq: a queue that two stores were mixed into.
        auto env = Environment::open({.folder = paths_.queue, .map_bytes = 16U << 20});
        MDB_dbi records = 0;
        const std::array<const char*, 1> names{"records"};
        ASSERT_TRUE((*env)->open_databases(names, {&records, 1}, false).ok());
        WriteTxn txn;
        ASSERT_EQ(txn.begin(**env), 0);
        KeyBytes<8> key = seq_key(50);
        MDB_val key_val = to_val(key);
        MDB_val value = to_val(std::string_view("x"));
        ASSERT_EQ(mdb_put(txn.get(), records, &key_val, &value, 0), 0);
        ASSERT_EQ(txn.commit(), 0);
    }
    EXPECT_EQ(append({"two"})[0].outcome, AppendOutcome::kUnavailable);
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kUnavailable);
    EXPECT_EQ(queue_->fill()->rows, 2U) << "nothing was overwritten";
}

}  // namespace
}  // namespace sluice::store
