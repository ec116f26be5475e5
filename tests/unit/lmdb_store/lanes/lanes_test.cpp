// Lanes on real files: taken, written, moved, recovered, refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lmdb_store/lanes/lane_reader.hpp"
#include "unit/lmdb_store/lanes/fixture.hpp"

namespace sluice::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(LanesTest, L3DurableRecordsAreMovedInOrderWithReceipts) {
    Lane lane(*queue_);
    lane.write({"one", "two"});
    lane.write({"three"});
    EXPECT_EQ(queue_->fill_with_lanes()->lanes.records, 3U);
    EXPECT_EQ(queue_->fill_with_lanes()->depth({0}), 3U);
    ASSERT_TRUE(queue_->move_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("one", "two", "three"));
    EXPECT_EQ(queue_->fill_with_lanes()->lanes.records, 0U);
    EXPECT_EQ(queue_->fill_with_lanes()->depth({0}), 3U);
    const auto records = *queue_->read({3}, 1, 1000);
    const auto third = decode_record(records[0].bytes);
    EXPECT_EQ(third->receipt, (Receipt{lane.writer().number(), lane.last_position(), 0}));
    ASSERT_TRUE(queue_->move_lanes().ok()) << "nothing is moved twice";
    EXPECT_THAT(bodies_from(1), ElementsAre("one", "two", "three"));
}

TEST_F(LanesTest, L3LanesAreMergedByTheirStamps) {
    Lane first(*queue_);
    Lane second(*queue_);
    EXPECT_NE(first.writer().number(), second.writer().number());
    first.write({"a"});
    second.write({"b"});
    second.write({"c"});
    first.write({"d"});
    ASSERT_TRUE(queue_->move_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("a", "b", "c", "d"));
}

/// Bytes that this process's read calls have returned.
std::uint64_t bytes_read() {
    std::ifstream file("/proc/self/io");
    std::string word;
    std::uint64_t bytes = 0;
    file >> word >> bytes;
    EXPECT_EQ(word, "rchar:");
    return bytes;
}

/// A transaction moves a part of the contents of each of many lanes.
TEST_F(LanesTest, L8AMoverReadsLittleMoreThanItMoves) {
    constexpr std::uint64_t kLanes = 8;
    constexpr std::uint64_t kBatches = 64;
    const std::string body(15'000, 'x');
    std::vector<std::unique_ptr<Lane>> lanes;
    for (std::uint64_t i = 0; i < kLanes; ++i) {
        lanes.push_back(std::make_unique<Lane>(*queue_));
    }
    for (std::uint64_t i = 0; i < kBatches; ++i) {
        for (const auto& lane : lanes) {
            lane->write({body});
        }
    }
    const std::uint64_t written = kLanes * kBatches * (16U << 10);
    const std::uint64_t before = bytes_read();
    ASSERT_TRUE(queue_->move_lanes().ok());
    EXPECT_LT(bytes_read() - before, 2 * written);
    EXPECT_EQ(queue_->fill()->last_seq.value, kLanes * kBatches);
}

TEST(LaneBuffersTest, MemoryIsKeptForTheNextMove) {
    LaneBuffers buffers;
    AlignedBytes first = buffers.take();
    const char* const memory = first.get();
    ASSERT_NE(memory, nullptr);
    buffers.give_back(std::move(first));
    const AlignedBytes again = buffers.take();
    const AlignedBytes other = buffers.take();
    EXPECT_EQ(again.get(), memory);
    EXPECT_NE(other.get(), memory);
    buffers.give_back(nullptr);  // of a lane that was not read
    EXPECT_NE(buffers.take().get(), nullptr);
}

TEST_F(LanesTest, L3ADirectAppendMovesAllLanesFirst) {
    Lane lane(*queue_);
    lane.write({"in a lane"});
    EXPECT_EQ(append({"direct"})[0].seq.value, 2U);
    EXPECT_THAT(bodies_from(1), ElementsAre("in a lane", "direct"));
    EXPECT_EQ(queue_->lanes_left().bytes, 0U);
}

TEST_F(LanesTest, L3UnpublishedBatchesAreNotMoved) {
    Lane lane(*queue_);
    lane.write({"under way"}, false);
    ASSERT_TRUE(queue_->move_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre());
}

TEST_F(LanesTest, L3AMoverPublishesTheRoomToTheWriter) {
    Lane lane(*queue_);
    lane.write({"one"});
    ASSERT_TRUE(queue_->move_lanes().ok());
    const auto room = lane.writer().room();
    ASSERT_TRUE(room);
    EXPECT_EQ(room->floor, lane.last_position());
    EXPECT_GT(room->moved, room->floor);
}

/// Also what `scripts/sanitize thread` looks at: two threads, as in a process of nginx.
TEST_F(LanesTest, L3AMoverRunsConcurrentlyWithTheWriter) {
    constexpr int kBatches = 200;
    Lane lane(*queue_);
    std::atomic<bool> is_written{false};
    std::thread writer([&] {
        for (int i = 0; i < kBatches; ++i) {
            const std::uint64_t end = lane.last_position() + 2 * kLaneBlockBytes;
            for (auto room = lane.writer().room();
                 room && end > room->floor + lane.writer().bytes() - kLaneBlockBytes;
                 room = lane.writer().room()) {
                std::this_thread::yield();
            }
            lane.write({"event " + std::to_string(i)});
        }
        is_written.store(true);
    });
    while (!is_written.load()) {
        EXPECT_TRUE(queue_->move_lanes().ok());
    }
    writer.join();
    ASSERT_TRUE(queue_->move_lanes().ok());
    const std::vector<std::string> bodies = bodies_from(1);
    ASSERT_EQ(bodies.size(), std::size_t{kBatches});
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        EXPECT_EQ(bodies[i], "event " + std::to_string(i));
    }
}

/// While other processes fill their lanes as fast as they are emptied: else its thread would never
/// be back, its process could not end, and who waits for room in its own lane would not see it.
TEST_F(LanesTest, L8AMoveEndsHoweverMuchIsWrittenMeanwhile) {
    constexpr std::uint64_t kBefore = 60;
    const std::string body(59'000, 'x');
    Lane lane(*queue_);
    for (std::uint64_t i = 0; i < kBefore; ++i) {
        lane.write({body});
    }
    const std::uint64_t moved_before = lane.writer().room()->moved;
    std::atomic<bool> over{false};
    std::thread writer([&] {
        while (lane.writer().room()->moved == moved_before) {
            std::this_thread::yield();
        }
        for (std::uint64_t i = 0; i < kBefore && !over.load(); ++i) {
            lane.write({body});
        }
    });
    EXPECT_TRUE(queue_->move_lanes().ok());
    EXPECT_EQ(queue_->fill()->last_seq.value, kBefore);
    EXPECT_GT(queue_->lanes_left().bytes, 0U) << "which is seen";
    EXPECT_EQ(queue_->lanes_left().batch_bytes, 60U << 10);
    over.store(true);
    writer.join();
    EXPECT_TRUE(queue_->move_lanes().ok());
    EXPECT_GT(queue_->fill()->last_seq.value, kBefore) << "nothing was written meanwhile";
    EXPECT_EQ(queue_->lanes_left().bytes, 0U);
}

TEST_F(LanesTest, L4AnUnownedLaneIsMovedFirst) {
    {
        Lane lane(*queue_);
        lane.write({"answered"});
        lane.write({"in doubt"}, false);
    }
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("answered", "in doubt"));
    EXPECT_EQ(queue_->fill_with_lanes()->lanes.in_use, 0U);
    open({});
    EXPECT_EQ(append({"next"})[0].seq.value, 3U);
}

TEST_F(LanesTest, L4ACommandThatOpensTheQueueRecoversBeforeItAppends) {
    {
        Lane lane(*queue_);
        lane.write({"answered"});
        lane.write({"in doubt"}, false);  // only a recovery looks for it
    }
    open({});
    append({"command"});
    EXPECT_THAT(bodies_from(1), ElementsAre("answered", "in doubt", "command"));
}

TEST_F(LanesTest, L4ADrainRecoversBeforeItReads) {
    {
        Lane lane(*queue_);
        lane.write({"answered"});
        lane.write({"in doubt"}, false);
    }
    open({});
    ASSERT_TRUE(queue_->begin_drain({0}).ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("answered", "in doubt"));
}

TEST_F(LanesTest, L4AKilledProcessLosesNothingThatItPublished) {
    queue_.reset();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto queue = Queue::open(paths_, {});
        Lane lane(**queue);
        for (int i = 0; i < 50; ++i) {
            lane.write({"event " + std::to_string(i)});
            if (i % 20 == 10) {
                (void)(*queue)->move_lanes();
            }
        }
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    open({});
    ASSERT_TRUE(queue_->recover_lanes().ok());
    const std::vector<std::string> bodies = bodies_from(1);
    ASSERT_EQ(bodies.size(), 50U);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        EXPECT_EQ(bodies[i], "event " + std::to_string(i));
    }
}

TEST_F(LanesTest, L4MoreThanATransactionsWorthIsRecoveredWhole) {
    std::vector<std::string> expected;
    {
        Lane lane(*queue_);
        for (int i = 0; i < 40; ++i) {
            expected.push_back(std::string(59'000, static_cast<char>('a' + i % 26)));
            lane.write({expected.back()});
        }
    }
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_EQ(bodies_from(1), expected);
}

TEST_F(LanesTest, L10AClaimDoesNotWaitForALargeBacklogAndOrderStaysRight) {
    std::vector<std::string> expected;
    {
        Lane lane(*queue_);
        for (int i = 0; i < 40; ++i) {
            expected.push_back(std::string(59'000, static_cast<char>('a' + i % 26)));
            lane.write({expected.back()});
        }
    }
    open({});
    Lane again(*queue_);
    EXPECT_EQ(again.writer().number(), 1U);
    EXPECT_THAT(bodies_from(1), ElementsAre());
    again.write({"next"});
    expected.emplace_back("next");
    ASSERT_TRUE(queue_->move_lanes().ok());
    EXPECT_EQ(bodies_from(1), expected);
}

TEST_F(LanesTest, L10AClaimWithoutRoomMovesTheBacklogOfAnotherLane) {
    TempStore small;
    const auto queue = Queue::open(small.paths(), {.map_bytes = 16U << 20});
    std::vector<std::unique_ptr<Lane>> lanes;
    do {
        lanes.push_back(std::make_unique<Lane>(**queue));
    } while (lanes.back()->ok());
    lanes.pop_back();
    for (const std::unique_ptr<Lane>& lane : lanes) {
        for (int i = 0; i < 14; ++i) {
            lane->write({std::string(5000, 'x')});
        }
    }
    const std::uint32_t number = lanes.back()->writer().number();
    lanes.pop_back();
    Lane again(**queue);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.writer().number(), number);
}

TEST_F(LanesTest, L10TheLanesThatAreWantedFitBelowTheMark) {
    TempStore small;
    const auto queue = Queue::open(small.paths(), {.map_bytes = 64U << 20, .lanes_wanted = 16});
    std::vector<std::unique_ptr<Lane>> lanes;
    for (int i = 0; i < 16; ++i) {
        lanes.push_back(std::make_unique<Lane>(**queue));
        ASSERT_TRUE(lanes.back()->ok()) << i;
    }
}

TEST_F(LanesTest, L5ACellThatFellBehindIsPutRightByTheNextMove) {
    Lane lane(*queue_);
    lane.write({"one"});
    ASSERT_TRUE(queue_->move_lanes().ok());
    const auto room = lane.writer().room();
    // As a mover that committed earlier, and was slower here, would leave it.
    std::fstream cells(paths_.lane_cells, std::ios::in | std::ios::out | std::ios::binary);
    cells.seekp(offsetof(LaneCell, floor));
    cells.write(std::string(2 * sizeof(std::uint64_t), '\0').data(), 2 * sizeof(std::uint64_t));
    cells.close();
    EXPECT_FALSE(lane.writer().room() && lane.writer().room()->floor == room->floor);
    ASSERT_TRUE(queue_->move_lanes().ok());
    ASSERT_TRUE(lane.writer().room());
    EXPECT_EQ(lane.writer().room()->floor, room->floor);
    EXPECT_EQ(lane.writer().room()->moved, room->moved);
}

TEST_F(LanesTest, L1ALaneIsTakenAgainAndNothingOldInItPassesForNew) {
    std::uint32_t number = 0;
    {
        Lane lane(*queue_);
        number = lane.writer().number();
        lane.write({"one"});
    }
    for (int i = 0; i < 3; ++i) {
        Lane lane(*queue_);
        EXPECT_EQ(lane.writer().number(), number);
        lane.write({"again " + std::to_string(i)});
    }
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("one", "again 0", "again 1", "again 2"));
    EXPECT_EQ(queue_->fill_with_lanes()->lanes.lanes, 1U);
}

/// A power cut left a batch of which nothing can be read, and behind it one that is whole.
TEST_F(LanesTest, L4RemainsOfATornBatchNeverReturn) {
    {
        Lane lane(*queue_);
        lane.write({std::string(5000, 't')}, false);
        const std::uint64_t torn = lane.last_position();
        lane.write({"behind it"}, false);
        flip(file_of(0), kLaneBlockBytes + torn % lane.writer().bytes() + 150);
    }
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre());
    {
        Lane lane(*queue_);
        lane.write({"new"});
    }
    open({});
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("new"));
}

TEST(LaneCellRules, L4ACellIsValidForItsLaneAndBootOnly) {
    const Uuid lane{1};
    const Uuid other{2};
    const Uuid boot{3};
    std::atomic<std::uint64_t> word{0};
    EXPECT_EQ(get_cell(word, cell_key(lane, boot)), std::nullopt) << "a new file";
    put_cell(word, 5 * kLaneBlockBytes, cell_key(lane, boot));
    EXPECT_EQ(get_cell(word, cell_key(lane, boot)), 5 * kLaneBlockBytes);
    EXPECT_EQ(get_cell(word, cell_key(other, boot)), std::nullopt);
    EXPECT_EQ(get_cell(word, cell_key(lane, Uuid{4})), std::nullopt);
}

TEST_F(LanesTest, L1ALaneThatRootMakesBelongsToTheOwnerOfTheStore) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "needs root";
    }
    constexpr uid_t kOwner = 12'345;
    ASSERT_EQ(::chown(paths_.lane_cells.c_str(), kOwner, kOwner), 0);
    open({});
    Lane lane(*queue_);
    struct stat made {};
    ASSERT_EQ(::stat(file_of(lane.writer().number()).c_str(), &made), 0);
    EXPECT_EQ(made.st_uid, kOwner);
    EXPECT_EQ(made.st_gid, kOwner);
    struct stat cells {};
    ASSERT_EQ(::stat(paths_.lane_cells.c_str(), &cells), 0);
    EXPECT_EQ(made.st_mode & 0777U, cells.st_mode & 0777U);
}

TEST_F(LanesTest, L1ALaneRunsOverItsEndAndOn) {
    Lane lane(*queue_);
    const std::uint64_t laps = 3 * lane.writer().bytes();
    std::vector<std::string> expected;
    for (std::uint64_t written = 0; written < laps; written += 60'000) {
        expected.push_back(std::string(59'000, static_cast<char>('a' + expected.size() % 26)));
        lane.write({expected.back()});
        ASSERT_TRUE(queue_->move_lanes().ok());
        if (expected.size() % 50 == 0) {
            ASSERT_EQ(bodies_from(1), expected);
        }
    }
    EXPECT_EQ(bodies_from(1), expected);
}

TEST_F(LanesTest, L4DamageBelowTheDurableEndIsRefusedAndLatched) {
    Lane lane(*queue_);
    lane.write({"one"});
    const std::uint64_t position = lane.last_position();
    lane.write({"two"});
    flip(file_of(lane.writer().number()), kLaneBlockBytes + position % lane.writer().bytes() + 150);
    const Status moved = queue_->move_lanes();
    ASSERT_FALSE(moved.ok());
    EXPECT_THAT(moved.error().message, HasSubstr(file_of(lane.writer().number()).string()));
    EXPECT_THAT(moved.error().message, HasSubstr("offset " + std::to_string(position)));
    EXPECT_EQ(queue_->latched(), Latch::kDamage);
    EXPECT_EQ(append({"next"})[0].outcome, AppendOutcome::kUnavailable);
    EXPECT_THAT(bodies_from(1), ElementsAre());
}

TEST_F(LanesTest, L4AMissingForeignSwappedCutOrNewerLaneIsRefusedByName) {
    std::uint64_t bytes = 0;
    {
        Lane lane(*queue_);
        Lane other(*queue_);
        lane.write({"answered"});
        other.write({"too"});
        bytes = lane.writer().bytes();
    }
    const auto zero = file_of(0);
    const auto kept = paths_.lanes / "kept";
    std::filesystem::copy_file(zero, kept);
    const auto refused = [&](const char* what) {
        queue_.reset();
        auto opened = Queue::open(paths_, {});
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        const auto taken = (*opened)->take_lane();
        const std::string why = taken.ok() ? "it was taken" : taken.error().message;
        EXPECT_THAT(why, HasSubstr(zero.string())) << what;
        EXPECT_THAT(why, HasSubstr(what));
        if (opened.ok()) {
            (*opened)->control().clear_latch();
            EXPECT_EQ((*opened)->fill()->last_seq.value, 0U);
        }
        opened = Error{ErrorCode::kInternal, ""};
        std::filesystem::remove(zero);
        std::filesystem::copy_file(kept, zero);
    };
    std::filesystem::remove(zero);
    refused("is missing");
    std::filesystem::remove(zero);
    std::filesystem::copy_file(file_of(1), zero);
    refused("another lane");
    std::filesystem::resize_file(zero, kLaneBlockBytes + bytes / 2);
    refused("truncated");
    std::filesystem::resize_file(zero, 100);
    refused("shorter than its head");
    {
        std::fstream file(zero, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4);
        file.put('\2');
    }
    refused("newer release");
    flip(zero, 20);
    refused("damaged head");
    open({});
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_THAT(bodies_from(1), ElementsAre("answered", "too"));
}

TEST_F(LanesTest, L4AnOlderCopyOfALaneIsRefused) {
    const auto kept = paths_.lanes / "kept";
    {
        Lane lane(*queue_);
        lane.write({"one"});
        std::filesystem::copy_file(file_of(0), kept);
        ASSERT_TRUE(queue_->move_lanes().ok());
        lane.write({"two"});
        ASSERT_TRUE(queue_->move_lanes().ok());
        lane.write({"three"});
    }
    queue_.reset();
    std::filesystem::remove(file_of(0));
    std::filesystem::rename(kept, file_of(0));
    open({});
    EXPECT_THAT(refused_to_take(), HasSubstr("older copy"));
}

TEST_F(LanesTest, L4ALaneIsTakenAgainAfterABatchOfSeveralBlocksWasMoved) {
    {
        Lane lane(*queue_);
        lane.write({std::string(59'000, 'x')});
        ASSERT_TRUE(queue_->move_lanes().ok());
    }
    open({});
    EXPECT_TRUE(Lane(*queue_).ok());
}

TEST_F(LanesTest, L4ALaneThatTheQueueDoesNotKnowAndThatHoldsEventsIsRefused) {
    {
        Lane lane(*queue_);
        lane.write({"one"});
    }
    queue_.reset();
    std::filesystem::copy_file(file_of(0), file_of(7));
    const auto opened = Queue::open(paths_, {});
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().message, HasSubstr(file_of(7).string()));
}

/// A lane has its name before its row, and its row before its first event: one who reads the rows
/// before he sees the name must not take it for a stranger.
TEST_F(LanesTest, L4AQueueIsOpenedWhileOthersMakeLanes) {
    constexpr int kRounds = 6;
    const QueueOptions options{.map_bytes = 64U << 20};
    queue_.reset();
    for (int round = 0; round < kRounds; ++round) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            auto queue = Queue::open(paths_, options);
            std::vector<std::unique_ptr<Lane>> lanes;
            for (int made = 0; made <= round; ++made) {
                lanes.push_back(std::make_unique<Lane>(**queue));
                lanes.back()->write({std::to_string(round) + " " + std::to_string(made)});
            }
            ::_exit(HasFailure() ? 1 : 0);
        }
        int status = 0;
        while (::waitpid(child, &status, WNOHANG) == 0) {
            const auto opened = Queue::open(paths_, options);
            ASSERT_TRUE(opened.ok()) << opened.error().message;
        }
        EXPECT_EQ(status, 0);
    }
    open(options);
    ASSERT_TRUE(queue_->recover_lanes().ok());
    EXPECT_EQ(bodies_from(1).size(), 1U + 2U + 3U + 4U + 5U + 6U);
}

TEST_F(LanesTest, L4AQueueOfAnotherStoreIsRefused) {
    TempStore other;
    queue_.reset();
    std::filesystem::copy_file(other.paths().queue / "data.mdb", paths_.queue / "data.mdb",
                               std::filesystem::copy_options::overwrite_existing);
    const auto opened = Queue::open(paths_, {});
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().message, HasSubstr("another store"));
}

TEST_F(LanesTest, AMissingLaneCanBeGivenUp) {
    {
        Lane lane(*queue_);
        lane.write({"lost"});
    }
    std::filesystem::remove(file_of(0));
    EXPECT_THAT(*queue_->drop_missing_lanes(), ElementsAre(file_of(0).string()));
    EXPECT_THAT(*queue_->drop_missing_lanes(), ElementsAre());
    open({});
    EXPECT_TRUE(Lane(*queue_).ok());
}

TEST_F(LanesTest, L5ALatchStopsEveryProcessUntilAWriteTestOrANewMaster) {
    Lane lane(*queue_);
    queue_->latch(Latch::kIo, "the disk failed");
    EXPECT_FALSE(queue_->takes_lanes());
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kInDoubt);
    EXPECT_EQ(append({"no"})[0].outcome, AppendOutcome::kUnavailable);
    EXPECT_EQ(queue_->latch_text(), "the disk failed");
    EXPECT_TRUE(queue_->latched());
    ASSERT_TRUE(queue_->unlatch().ok());
    EXPECT_EQ(append({"yes"})[0].outcome, AppendOutcome::kStored);
    queue_->latch(Latch::kIo, "again");
    queue_->control().opened_by_master(boot_ms() + 1);
    EXPECT_FALSE(queue_->latched());
}

TEST_F(LanesTest, L5RoomForTheLanesIsReserved) {
    const std::uint64_t before = queue_->fill()->bytes_high_water;
    Lane lane(*queue_);
    ASSERT_TRUE(queue_->move_lanes().ok());
    EXPECT_EQ(queue_->fill()->bytes_high_water, before - 3 * lane.writer().bytes());
}

TEST_F(LanesTest, ASmallMapHasSmallLanesAndNotMoreThanFit) {
    TempStore small;
    auto queue = Queue::open(small.paths(), {.map_bytes = 4U << 20});
    std::vector<std::unique_ptr<Lane>> lanes;
    do {
        lanes.push_back(std::make_unique<Lane>(**queue));
    } while (lanes.back()->ok() && lanes.size() < 100);
    EXPECT_LT(lanes.size(), 10U) << "a process without a lane goes on without";
    EXPECT_EQ(lanes[0]->writer().bytes(), 64U << 10);
}

}  // namespace
}  // namespace sluice::store
