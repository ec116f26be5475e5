// Zeros behind the end of the queue's file: it grows by chunks, and never beyond what it may.
#include "lmdb_store/environment/preallocation.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <set>

#include "os/clock/clock.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/queue/fixture.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

class PreallocationTest : public QueueTest {
protected:
    [[nodiscard]] std::uint64_t file_bytes() const {
        return fs::file_size(paths_.queue / "data.mdb");
    }
    /// The sizes that the file had after each of so many batches.
    std::set<std::uint64_t> sizes_of(int batches, const std::string& body) {
        std::set<std::uint64_t> sizes;
        for (int batch = 0; batch < batches; ++batch) {
            EXPECT_EQ(append({body, body})[0].outcome, AppendOutcome::kStored);
            sizes.insert(file_bytes());
        }
        return sizes;
    }
};

TEST_F(PreallocationTest, TheFileGrowsByChunksAndNotWithEveryCommit) {
    sizes_of(2, "first");
    if (file_bytes() < Preallocation::kChunkBytes) {
        GTEST_SKIP() << "nothing is written ahead on this file system";
    }
    const std::uint64_t before = file_bytes();
    const std::set<std::uint64_t> sizes = sizes_of(100, std::string(20'000, 'x'));
    EXPECT_GE(*sizes.rbegin(), before + 3'000'000);
    for (const std::uint64_t size : sizes) {
        EXPECT_EQ((size - before) % Preallocation::kChunkBytes, 0U);
    }
    EXPECT_THAT(bodies_from(1), testing::SizeIs(204)) << "no record was overwritten";
}

/// Each sync would then have to write the inode too.
TEST_F(PreallocationTest, ACommitAsksForNoFilesTimes) {
    constexpr std::uint64_t kLookInPlaceEveryUs = 500'000;  // append() looks at its path so often
    append({"first"});
    const std::uint64_t began_us = monotonic_us();
    std::uint64_t looks = 0;
    for (int batch = 0; batch < 50; ++batch) {
        for (const char* const name : {"sys_fstat", "sys_stat"}) {
            const FailingCall call(name, 0, EIO);
            append({std::string(20'000, 'x')});
            looks += call.name() == "sys_stat" ? 1U : 0U;
            EXPECT_NE(call.name(), "sys_fstat") << "sys_fstatvfs is of the disk";
        }
    }
    EXPECT_LE(looks, 1 + (monotonic_us() - began_us) / kLookInPlaceEveryUs);
}

TEST_F(PreallocationTest, AFileThatAnotherMadeLongerIsNotMadeLongerOnceMore) {
    append({"first"});
    if (file_bytes() < Preallocation::kChunkBytes) {
        GTEST_SKIP() << "nothing is written ahead on this file system";
    }
    const std::uint64_t longer = file_bytes() + 8 * Preallocation::kChunkBytes;
    fs::resize_file(paths_.queue / "data.mdb", longer);
    EXPECT_EQ(sizes_of(50, std::string(20'000, 'x')), std::set<std::uint64_t>{longer});
}

TEST_F(PreallocationTest, TheFileStaysWithinTheMap) {
    constexpr std::uint64_t kMapBytes = 3U << 20;
    open({.map_bytes = kMapBytes});
    EXPECT_GT(append_until_closed(std::string(10'000, 'x')), 100U);
    EXPECT_LE(file_bytes(), kMapBytes);
}

TEST_F(PreallocationTest, ADrainedQueueNeedsNoMoreOfIt) {
    for (int round = 0; round < 5; ++round) {
        sizes_of(10, std::string(5000, 'x'));
        trim_all(queue_->fill()->last_seq.value);
    }
    const std::uint64_t before = file_bytes();
    for (int round = 0; round < 20; ++round) {
        sizes_of(10, std::string(5000, 'x'));
        trim_all(queue_->fill()->last_seq.value);
    }
    EXPECT_EQ(file_bytes(), before);
}

TEST_F(PreallocationTest, AnotherProcessOrReleaseOpensTheLongerFile) {
    append({"one"});
    open({});
    EXPECT_EQ(bodies_from(1), std::vector<std::string>{"one"});
    EXPECT_LT(queue_->fill()->bytes_used, Preallocation::kChunkBytes) << "zeros are not in use";
}

}  // namespace
}  // namespace sluice::store
