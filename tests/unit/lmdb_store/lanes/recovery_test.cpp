// Recovery on real files: each lane's end is found once, synced, and read at most twice.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/lanes/lane_recovery.hpp"
#include "lmdb_store/lanes/lane_set.hpp"
#include "lmdb_store/lanes/rows.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/failing_memory.hpp"
#include "unit/lmdb_store/lanes/fixture.hpp"

namespace sluice::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LaneRecoveryTest : public LanesTest {
protected:
    /// Writes `batches` batches of `records` times `body` to each of `count` lanes, which then have
    /// no owner.
    void leave_lanes(std::size_t count, std::size_t batches, const std::string& body,
                     std::size_t records = 1) {
        std::vector<std::unique_ptr<Lane>> lanes;
        for (std::size_t i = 0; i < count; ++i) {
            lanes.push_back(std::make_unique<Lane>(*queue_));
            ASSERT_TRUE(lanes.back()->ok());
        }
        for (std::size_t i = 0; i < batches; ++i) {
            for (const auto& lane : lanes) {
                lane->write(std::vector<std::string>(records, body));
            }
        }
    }
    /// Makes the cells unknown, as a restart of the machine does.
    void forget_cells() {
        std::ofstream(paths_.lane_cells, std::ios::binary | std::ios::in | std::ios::out)
            .write(std::string(LaneCells::kFileBytes, '\0').data(), LaneCells::kFileBytes);
    }
    [[nodiscard]] LaneRecovery::ReadRows read_rows() const {
        return [this] {
            auto environment = Environment::open({.folder = paths_.queue});
            ReadTxn txn;
            std::vector<LaneRow> rows;
            EXPECT_EQ(txn.begin(**environment), 0);
            EXPECT_EQ(read_lane_rows(txn.get(), rows), 0);
            return Result<std::vector<LaneRow>>(std::move(rows));
        };
    }
    [[nodiscard]] std::uint64_t bytes_of_lanes() const {
        std::uint64_t bytes = 0;
        for (const auto& file : std::filesystem::directory_iterator(paths_.lanes)) {
            bytes += file.path().extension() == ".lane" ? file.file_size() : 0;
        }
        return bytes;
    }
};

TEST_F(LaneRecoveryTest, L10EachByteOfFullLanesIsReadAtMostTwice) {
    constexpr std::size_t kLanes = 4;
    open({.map_bytes = 256U << 20, .lane_bytes = 2U << 20});
    leave_lanes(kLanes, 34, std::string(60'000, 'x'));  // batches of 60 KB
    queue_.reset();
    forget_cells();
    open({.map_bytes = 256U << 20});
    const std::uint64_t before = bytes_read_by_pread();
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_LE(bytes_read_by_pread() - before, 2 * bytes_of_lanes());
    EXPECT_EQ(queue_->fill()->last_seq.value, kLanes * 34);
}

TEST_F(LaneRecoveryTest, L10ManyLanesWithFewRecordsAreReadOnceAndMovedOnce) {
    constexpr std::size_t kLanes = 64;
    constexpr std::size_t kBatches = 10;
    constexpr std::size_t kRecords = 8960;
    open({.lane_bytes = 1U << 20});
    leave_lanes(kLanes, kBatches, std::string(1000, 'x'), kRecords / kBatches / kLanes);
    queue_.reset();
    open({});
    const std::uint64_t held = queue_->fill_with_lanes()->lanes.bytes;
    const std::uint64_t before = bytes_read_by_pread();
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_LE(bytes_read_by_pread() - before, 2 * held + kLanes * 16 * kLaneBlockBytes);
    EXPECT_EQ(queue_->fill()->last_seq.value, kRecords);
}

TEST_F(LaneRecoveryTest, L10OnlyAnEmptyLaneIsClaimed) {
    leave_lanes(1, 14, std::string(60'000, 'x'));
    open({});
    auto lanes = LaneSet::open(paths_, true);
    ASSERT_TRUE(lanes.ok());
    LaneRecovery recovery(**lanes, read_rows());
    ASSERT_TRUE(recovery.settle().ok());
    EXPECT_FALSE(recovery.claim()->has_value());
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_TRUE(recovery.claim()->has_value());
}

/// A process that finds the end of a lane has the lane's lock, as a writer has.
TEST_F(LaneRecoveryTest, L10AnEndThatAnotherProcessFindsIsWaitedFor) {
    leave_lanes(1, 2, "answered");
    forget_cells();
    auto lanes = LaneSet::open(paths_, true);
    ASSERT_TRUE(lanes.ok());
    LaneRecovery recovery(**lanes, read_rows());
    Result<LaneFile> opened = LaneFile::open((*lanes)->path_of(0), true);
    ASSERT_TRUE(opened.ok());
    auto file = std::make_optional(std::move(*opened));
    ASSERT_TRUE(file->try_lock());
    auto cells = std::make_optional<Fd>(::open(paths_.lane_cells.c_str(), O_RDWR | O_CLOEXEC));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_start = 2;
    lock.l_len = 1;
    ASSERT_EQ(::fcntl(cells->get(), F_OFD_SETLK, &lock), 0);
    auto settled = std::async(std::launch::async, [&] { return recovery.settle(); });
    EXPECT_EQ(settled.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    file.reset();  // it died before it had found the end
    cells.reset();
    const Result<bool> any = settled.get();
    ASSERT_TRUE(any.ok()) << any.error().message;
    EXPECT_TRUE(*any);
}

TEST(LaneRows, L10NumbersOfDroppedLanesAreTakenOnceThereIsNoHigherOne) {
    EXPECT_EQ(new_lane_number({}), 0U);
    std::vector<LaneRow> rows(kLanesMax);
    for (std::uint32_t number = 0; number < kLanesMax; ++number) {
        rows[number].number = number;
    }
    rows.erase(rows.begin() + 3);
    EXPECT_EQ(new_lane_number(rows), 3U);
    rows.pop_back();
    EXPECT_EQ(new_lane_number(rows), kLanesMax - 1);
}

/// Stamps of two boots have no order, so lanes hold batches of one earlier boot at most.
TEST_F(LaneRecoveryTest, L10ABacklogOfAnEarlierBootIsMovedBeforeAClaim) {
    std::vector<std::string> expected;
    {
        Lane lane(*queue_);
        lane.write_in_boot({1, 2, 3});
        for (int i = 0; i < 40; ++i) {
            expected.push_back(std::string(59'000, static_cast<char>('a' + i % 26)));
            lane.write({expected.back()});
        }
    }
    open({});
    queue_->control().words().lanes_boot.store(0);  // as that boot's processes left it
    Lane again(*queue_);
    EXPECT_EQ(again.writer().number(), 0U);
    EXPECT_EQ(bodies_from(1), expected);
}

/// Or else each of 64 workers would read a batch of 64 full lanes, one worker after the other.
TEST_F(LaneRecoveryTest, L10OneProcessLooksForBatchesOfAnEarlierBoot) {
    leave_lanes(4, 14, std::string(59'000, 'x'));
    open({});
    queue_->control().words().lanes_boot.store(0);
    const std::uint64_t before = bytes_read_by_pread();
    const Lane first(*queue_);
    const std::uint64_t of_first = bytes_read_by_pread() - before;
    const Lane second(*queue_);
    const std::uint64_t of_second = bytes_read_by_pread() - before - of_first;
    EXPECT_GT(of_first, 4 * 59'000U);
    EXPECT_LT(of_second, 59'000U);
}

TEST_F(LaneRecoveryTest, L1LanesOfASmallMapAreLeftOnceTheMapHasGrown) {
    TempStore store;
    const auto bytes_of_a_lane = [&](std::uint64_t map_bytes) {
        const auto queue = Queue::open(store.paths(), {.map_bytes = map_bytes, .lanes_wanted = 12});
        EXPECT_TRUE(queue.ok());
        const auto lane = (*queue)->take_lane();
        EXPECT_TRUE(lane.ok() && *lane != nullptr);
        return (*lane)->bytes();
    };
    const std::uint64_t small = bytes_of_a_lane(32U << 20);
    EXPECT_EQ(bytes_of_a_lane(32U << 20), small) << "the same lane";
    EXPECT_GT(bytes_of_a_lane(1U << 30), 8 * small);
    EXPECT_GT(bytes_of_a_lane(1U << 30), 8 * small);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(store.paths().lanes), {}), 3)
        << "two lanes, and their cells";
}

TEST_F(LaneRecoveryTest, L10AProcessThatShutsDownTakesNoLane) {
    const auto unwanted = std::make_shared<std::atomic<bool>>(true);
    open({.lane_unwanted = unwanted});
    const auto none = queue_->take_lane();
    ASSERT_TRUE(none.ok());
    EXPECT_EQ(*none, nullptr);
    EXPECT_EQ(append({"stored"})[0].outcome, AppendOutcome::kStored);
    *unwanted = false;
    EXPECT_TRUE(Lane(*queue_).ok());
}

TEST_F(LaneRecoveryTest, L10AnEndThatWasFoundIsNotSoughtAgain) {
    leave_lanes(3, 2, "answered");
    ASSERT_TRUE(queue_->recover_lanes().ok());
    open({});
    const std::uint64_t before = bytes_read_by_pread();
    const auto file_heads = 3 * kLaneBlockBytes;
    ASSERT_TRUE(queue_->recover_lanes().ok());
    append({"next"});
    EXPECT_LE(bytes_read_by_pread() - before, file_heads);
}

TEST_F(LaneRecoveryTest, L10ALaneIsSyncedBeforeBatchesPastItsDurableEndAreMoved) {
    {
        Lane lane(*queue_);
        lane.write({"answered"});
        lane.write({"written, not synced"}, false);
    }
    FailingCall call("sys_fdatasync", 0, EIO);
    EXPECT_FALSE(queue_->recover_lanes().ok());
    EXPECT_TRUE(call.struck());
    EXPECT_EQ(queue_->latched(), Latch::kIo);
    EXPECT_THAT(bodies_from(1), ElementsAre());
    call.disarm();
    ASSERT_TRUE(queue_->unlatch().ok());
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("answered", "written, not synced"));
}

/// The writer lives, and its cell was lost.
TEST_F(LaneRecoveryTest, L10BatchesOfAnUnknownCellAreSyncedBeforeTheyAreMoved) {
    Lane lane(*queue_);
    ASSERT_TRUE(queue_->move_lanes().ok());
    lane.write({"written, not synced"}, false);
    forget_cells();
    FailingCall call("sys_fdatasync", 0, EIO);
    EXPECT_FALSE(queue_->move_lanes().ok());
    EXPECT_TRUE(call.struck());
    EXPECT_THAT(bodies_from(1), ElementsAre());
}

/// Waits until the thread sleeps in a lock.
void wait_until_blocked(pid_t thread) {
    for (int asleep = 0; asleep < 50;) {
        std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
        std::string stat;
        std::getline(file, stat);
        const std::size_t name_end = stat.rfind(')');
        asleep = name_end != std::string::npos && stat[name_end + 2] == 'S' ? asleep + 1 : 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Orders that are answered while a batch waits for the writer lock need not come before it.
TEST_F(LaneRecoveryTest, L10ADirectAppendLeavesBatchesThatWereStampedAfterItsArrival) {
    Lane lane(*queue_);
    lane.write({"before"});
    auto environment = Environment::open({.folder = paths_.queue});
    ASSERT_TRUE(environment.ok());
    WriteTxn holder;
    ASSERT_EQ(holder.begin(**environment), 0);
    std::atomic<pid_t> thread{0};
    std::thread appender([&] {
        thread.store(::gettid());
        EXPECT_EQ(append({"direct"})[0].outcome, AppendOutcome::kStored);
    });
    while (thread.load() == 0) {
        std::this_thread::yield();
    }
    wait_until_blocked(thread.load());
    lane.write({"after"});
    holder.abort();
    appender.join();
    EXPECT_THAT(bodies_from(1), ElementsAre("before", "direct"));
    ASSERT_TRUE(queue_->move_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("before", "direct", "after"));
}

TEST_F(LaneRecoveryTest, L10EveryErrorOfReadingALaneLatchesExceptALackOfMemory) {
    Lane lane(*queue_);
    lane.write({"answered"});
    for (const int error : {EIO, ENODATA, EREMOTEIO, ENOLINK, EBADMSG, EUCLEAN, EILSEQ, ETIMEDOUT,
                            ENXIO, ENODEV, ESTALE, EOPNOTSUPP}) {
        const FailingCall call("sys_pread", 0, error, kForGood);
        EXPECT_FALSE(queue_->move_lanes().ok());
        EXPECT_EQ(queue_->latched(), Latch::kIo) << std::strerror(error);
        queue_->control().clear_latch();
    }
    for (const int error : {ENOMEM, EAGAIN}) {
        const FailingCall call("sys_pread", 0, error, kForGood);
        EXPECT_FALSE(queue_->move_lanes().ok());
        EXPECT_FALSE(queue_->latched()) << std::strerror(error);
    }
    ASSERT_TRUE(queue_->move_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("answered"));
}

TEST_F(LaneRecoveryTest, L10EveryErrorOfACommitLatchesExceptALackOfRoom) {
    for (const int error : {EIO, ENODATA, EREMOTEIO, ENOLINK, EBADMSG, ETIMEDOUT}) {
        const FailingCall call("mdb_txn_commit", 0, error);
        EXPECT_EQ(append({"in doubt"})[0].outcome, AppendOutcome::kInDoubt);
        EXPECT_EQ(queue_->latched(), Latch::kIo) << std::strerror(error);
        queue_->control().clear_latch();
    }
    const FailingCall full("mdb_txn_commit", 0, ENOSPC);
    EXPECT_EQ(append({"later"})[0].outcome, AppendOutcome::kNoSpace);
    EXPECT_FALSE(queue_->latched());
}

/// append() and latch() are noexcept: an allocation that fails in them would end the process.
TEST_F(LaneRecoveryTest, L10AnErrorLatchesWithoutMemory) {
    Lane lane(*queue_);
    lane.write({"answered"});
    ASSERT_TRUE(queue_->recover_lanes().ok());
    bool struck = true;
    for (int nth = 0; struck; ++nth) {
        TestBatch batch({"direct"});
        {
            const FailingCall call("sys_pread", 0, EIO, kForGood);
            const FailingMemory memory(nth);
            queue_->append(batch.items(), kNow);
            struck = memory.struck();
        }
        EXPECT_NE(batch.items()[0].outcome, AppendOutcome::kPending);
        EXPECT_NE(batch.items()[0].outcome, AppendOutcome::kStored);
        queue_->control().clear_latch();
        ASSERT_LT(nth, 1000);
    }
}

TEST_F(LaneRecoveryTest, L10ALaneThatAKilledProcessDidNotFinishIsDeleted) {
    const auto left = paths_.lanes / "new.4194303";
    write_text(left, std::string(100'000, '\0'));
    Lane lane(*queue_);
    EXPECT_TRUE(lane.ok());
    EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(LaneRecoveryTest, L10ALatchEndsOnlyByAMasterThatWasStartedAfterTheFault) {
    ControlPage& page = queue_->control();
    const std::uint64_t older = boot_ms() - 1;
    page.opened_by_master(older);
    queue_->latch(Latch::kIo, "the disk failed");
    page.opened_by_master(older - 1000);  // another nginx on the store
    page.opened_by_master(older);         // a reload, or a worker in the place of another
    EXPECT_TRUE(queue_->latched());
    page.opened_by_master(boot_ms() + 1);
    EXPECT_FALSE(queue_->latched());
}

TEST_F(LaneRecoveryTest, L10ASecondFaultIsNotEndedByAMasterFromBetweenTheTwo) {
    queue_->latch(Latch::kIo, "the first fault");
    const std::uint64_t between = boot_ms() + 1;
    while (boot_ms() <= between) {
        std::this_thread::yield();
    }
    queue_->latch(Latch::kIo, "the second fault");
    queue_->control().opened_by_master(between);
    EXPECT_TRUE(queue_->latched());
    EXPECT_THAT(queue_->latch_text(), HasSubstr("first"));
}

TEST_F(LaneRecoveryTest, TheTextOfALatchHasNoByteThatATerminalObeys) {
    queue_->latch(Latch::kIo, "\x1b[31mred\n\x9b\xff failed");
    EXPECT_EQ(queue_->latch_text(), "?[31mred??? failed");
}

}  // namespace
}  // namespace sluice::store
