// An environment whose map cannot be moved, which LMDB then lacks but would use; and an environment
// that cannot be opened for lack of memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <thread>
#include <vector>

#include "lmdb_store/environment/environment.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/failing_memory.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kMapSize = 16U << 20;

class EnvironmentCallsTest : public testing::Test {
protected:
    EnvironmentCallsTest() {
        const Status made = Environment::create(folder_.path(), {}, {}, [](MDB_txn*) { return 0; });
        EXPECT_TRUE(made.ok());
        environment_ = open();
    }
    std::shared_ptr<Environment> open() {
        auto opened = Environment::open({folder_.path(), kMapSize, 4, false, true});
        EXPECT_TRUE(opened.ok());
        return opened.ok() ? *opened : nullptr;
    }
    int write() {
        WriteTxn txn;
        const int rc = txn.begin(*environment_);
        return rc == 0 ? txn.commit() : rc;
    }

    TempFolder folder_;
    std::shared_ptr<Environment> environment_;
};

TEST_F(EnvironmentCallsTest, AMapThatIsTooLargeIsRefusedAndTheOldOneStays) {
    ReadTxn kept;
    ASSERT_EQ(kept.begin(*environment_), 0);
    kept.reset();
    EXPECT_EQ(environment_->set_map_bytes(std::size_t{1} << 50), ENOMEM) << "beyond 128 TB";
    EXPECT_EQ(environment_->map_bytes(), kMapSize);
    EXPECT_EQ(write(), 0);
    EXPECT_EQ(kept.renew(*environment_), 0);
    kept.reset();
    EXPECT_EQ(environment_->set_map_bytes(2 * kMapSize), 0);
    EXPECT_EQ(environment_->map_bytes(), 2 * kMapSize);
    EXPECT_EQ(write(), 0);
}

TEST_F(EnvironmentCallsTest, AMapThatIsLostAllTheSameEndsTransactionsAndNotTheProcess) {
    ReadTxn kept;
    ASSERT_EQ(kept.begin(*environment_), 0);
    kept.reset();
    {
        const FailingCall call("mdb_env_set_mapsize", 0, ENOMEM);
        EXPECT_EQ(environment_->set_map_bytes(2 * kMapSize), ENOMEM);
    }
    EXPECT_EQ(write(), ENOMEM);
    EXPECT_EQ(kept.renew(*environment_), ENOMEM);
    EXPECT_EQ(environment_->map_bytes(), 0U);
    EXPECT_EQ(environment_->set_map_bytes(kMapSize), ENOMEM);
    kept.abort();
    environment_.reset();
    environment_ = open();
    EXPECT_EQ(write(), 0) << "opened anew it serves";
}

TEST_F(EnvironmentCallsTest, AMapIsMovedBetweenTheTransactionsOfOtherThreads) {
    std::atomic<bool> done{false};
    std::atomic<int> failed{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i) {
        readers.emplace_back([&] {
            ReadTxn txn;
            while (!done) {
                failed += txn.renew(*environment_) == 0 ? 0 : 1;
                txn.reset();
            }
        });
    }
    for (std::size_t round = 0; round < 200; ++round) {
        const std::size_t bytes = kMapSize * (1 + round % 2);
        EXPECT_EQ(environment_->set_map_bytes(bytes), 0);
        EXPECT_EQ(environment_->map_bytes(), bytes);
    }
    done = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(write(), 0);
}

TEST_F(EnvironmentCallsTest, AFullTableOfReadersIsClearedAndTriedAgain) {
    const FailingCall call("mdb_txn_begin", 0, MDB_READERS_FULL);
    EXPECT_EQ(write(), 0);
    EXPECT_TRUE(call.struck());
}

TEST_F(EnvironmentCallsTest, AMapThatAnotherProcessEnlargedIsTakenOver) {
    {
        const FailingCall call("mdb_txn_begin", 0, MDB_MAP_RESIZED);
        EXPECT_EQ(write(), 0);
        EXPECT_TRUE(call.struck());
    }
    const FailingCall call("mdb_txn_renew", 0, MDB_MAP_RESIZED);
    ReadTxn kept;
    ASSERT_EQ(kept.begin(*environment_), 0);
    kept.reset();
    EXPECT_EQ(kept.renew(*environment_), 0);
    EXPECT_TRUE(call.struck());
}

TEST_F(EnvironmentCallsTest, AFailedAllocationWhileOpeningDoesNotPreventALaterOpening) {
    environment_.reset();
    const EnvironmentOptions options{folder_.path(), kMapSize, 4, false, true};
    int met = 0;
    for (bool struck = true; struck; ++met) {
        const FailingMemory memory(met);
        try {
            const auto opened = Environment::open(options);
            EXPECT_TRUE(opened.ok() || memory.struck());
        } catch (const std::bad_alloc&) {
            EXPECT_TRUE(memory.struck());
        }
        struck = memory.struck();
    }
    EXPECT_GT(met, 5);
    environment_ = open();
    EXPECT_EQ(write(), 0);
}

}  // namespace
}  // namespace sluice::store
