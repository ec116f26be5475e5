#include "core/commit/lane_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace sluice {
namespace {

using LaneDo = LaneEngine::Do;

constexpr std::uint64_t kLaneSize = 64 * kLaneBlockBytes;

/// An engine with an open lane, driven by hand.
struct LaneBench {
    explicit LaneBench(std::uint64_t size = kLaneSize) { engine.opened(size, kLaneBlockBytes, 0); }

    static std::vector<LaneDo> kinds(const LaneEngine::Actions& actions) {
        std::vector<LaneDo> found;
        for (const LaneEngine::Action& action : actions) {
            found.push_back(action.what);
        }
        return found;
    }
    bool arrive(std::uint64_t ms, std::uint64_t bytes = 1000) {
        Waiter& waiter = *waiters.emplace_back(std::make_unique<Waiter>());
        waiter.joined_ms = ms;
        waiter.bytes = bytes;
        LaneEngine::Actions actions;
        const bool taken = engine.arrived(waiter, actions);
        last = kinds(actions);
        return taken;
    }
    std::vector<LaneDo> turn(std::uint64_t ms) {
        LaneEngine::Actions actions;
        engine.iteration_ended({ms, ms * 1'000'000}, actions);
        return kinds(actions);
    }
    std::vector<LaneDo> written(std::size_t slot, std::uint64_t ms,
                                LaneWrite outcome = LaneWrite::kDurable, std::uint64_t us = 100) {
        LaneEngine::Actions actions;
        engine.written(slot, outcome, us, ms, actions);
        return kinds(actions);
    }
    std::vector<LaneDo> answered(std::size_t slot, std::uint64_t ms) {
        LaneEngine::Actions actions;
        engine.answered(slot, ms, actions);
        return kinds(actions);
    }
    std::vector<LaneDo> moved(std::uint64_t ms) {
        LaneEngine::Actions actions;
        engine.moved(ms, actions);
        return kinds(actions);
    }
    std::vector<LaneDo> move_due(std::uint64_t ms) {
        LaneEngine::Actions actions;
        engine.move_due(ms, actions);
        return kinds(actions);
    }
    /// Batches of an eighth of the ring, written and answered, until there is no room. What the
    /// last turn asked for.
    std::vector<LaneDo> fill() {
        for (std::size_t slot = 0;; slot = (slot + 1) % LaneEngine::kSlots) {
            EXPECT_TRUE(arrive(10, engine.record_bytes_max()));
            const std::vector<LaneDo> asked = turn(10);
            if (asked.empty() || asked[0] != LaneDo::kWrite) {
                return asked;
            }
            static_cast<void>(written(slot, 10));
            static_cast<void>(answered(slot, 10));
        }
    }

    LaneEngine engine;
    std::vector<std::unique_ptr<Waiter>> waiters;
    std::vector<LaneDo> last;
};

/// The offsets of a lane that was returned are not read any more, so no move would ever end.
TEST(LaneEngineRules, L10AClosedLaneAsksForNoMoreMoves) {
    LaneBench bench;
    static_cast<void>(bench.fill());
    LaneEngine::Actions actions;
    bench.engine.close(actions);
    static_cast<void>(bench.engine.refused(actions));
    EXPECT_EQ(bench.moved(20), std::vector<LaneDo>{});
    EXPECT_EQ(bench.move_due(100), std::vector<LaneDo>{});
}

TEST(LaneEngineRules, L2ABatchBeginsAtTheEndOfATurnWithAllThatWait) {
    LaneBench bench;
    EXPECT_TRUE(bench.arrive(5));
    EXPECT_TRUE(bench.arrive(5));
    EXPECT_EQ(bench.turn(5), (std::vector{LaneDo::kWrite, LaneDo::kClearWaitTimer}));
    EXPECT_EQ(bench.engine.batch_of(0).count, 2U);
    EXPECT_EQ(bench.engine.head_of(0).offset, kLaneBlockBytes);
    EXPECT_EQ(bench.engine.head_of(0).stamp_ns, 5'000'000U);
    EXPECT_EQ(bench.engine.head_of(0).answered, kLaneBlockBytes);
}

/// A record of any size is either refused by the limit or finds room: the limit is rounded as
/// batches are.
TEST(LaneEngineRules, L5TheLargestRecordOfEveryRingIsWritten) {
    for (std::uint64_t blocks = 1; blocks < 600; ++blocks) {
        LaneBench bench(blocks * kLaneBlockBytes);
        const std::uint64_t most = bench.engine.record_bytes_max();
        EXPECT_EQ(most == 0, blocks < 8) << blocks;
        const std::uint64_t eighth = std::min(blocks * kLaneBlockBytes / 8, kLaneBatchBytesMax);
        EXPECT_GT(lane_batch_bytes(most + 1, 1), eighth) << blocks;
        if (most > 0) {
            ASSERT_TRUE(bench.arrive(5, most));
            ASSERT_EQ(bench.turn(5), std::vector{LaneDo::kWrite}) << blocks;
            EXPECT_LE(bench.engine.head_of(0).bytes, eighth) << blocks;
        }
    }
}

TEST(LaneEngineRules, L3TheOffsetIsPublishedBeforeTheAnswers) {
    LaneBench bench;
    EXPECT_TRUE(bench.arrive(5));
    EXPECT_EQ(bench.turn(5), std::vector{LaneDo::kWrite});
    EXPECT_EQ(bench.written(0, 6), (std::vector{LaneDo::kPublish, LaneDo::kAnswer, LaneDo::kMove}));
    EXPECT_EQ(bench.engine.outcome_of(0), LaneWrite::kDurable);
    EXPECT_TRUE(bench.answered(0, 6).empty());
    EXPECT_FALSE(bench.engine.in_flight());
}

TEST(LaneEngineRules, L2OneWriteIsUnderWayAndTwoWhereTheyAreSlow) {
    LaneBench bench;
    EXPECT_TRUE(bench.arrive(5));
    EXPECT_EQ(bench.turn(5), std::vector{LaneDo::kWrite});
    EXPECT_TRUE(bench.arrive(6));
    EXPECT_TRUE(bench.turn(6).empty());
    static_cast<void>(bench.written(0, 7, LaneWrite::kDurable, 2000));
    static_cast<void>(bench.answered(0, 7));
    EXPECT_EQ(bench.turn(7)[0], LaneDo::kWrite);
    EXPECT_TRUE(bench.arrive(8));
    EXPECT_EQ(bench.turn(8)[0], LaneDo::kWrite);
    EXPECT_EQ(bench.engine.head_of(1).end(), bench.engine.head_of(2).offset);
    EXPECT_TRUE(bench.arrive(9));
    EXPECT_TRUE(bench.turn(9).empty()) << "three are slower";
}

TEST(LaneEngineRules, L2AnswersLeaveInTheOrderOfPositions) {
    LaneBench bench;
    EXPECT_TRUE(bench.arrive(5));
    static_cast<void>(bench.turn(5));
    static_cast<void>(bench.written(0, 7, LaneWrite::kDurable, 2000));
    static_cast<void>(bench.answered(0, 7));
    for (std::uint64_t ms : {8U, 9U}) {
        EXPECT_TRUE(bench.arrive(ms));
        static_cast<void>(bench.turn(ms));
    }
    EXPECT_TRUE(bench.written(2, 10).empty()) << "the one in front is not durable";
    EXPECT_EQ(bench.written(1, 11)[0], LaneDo::kPublish);
    EXPECT_EQ(bench.engine.durable(), bench.engine.head_of(2).end());
}

TEST(LaneEngineRules, L5AfterAFailedWriteNoBatchIsWrittenAndLaterOnesAreInDoubt) {
    LaneBench bench;
    EXPECT_TRUE(bench.arrive(5));
    static_cast<void>(bench.turn(5));
    static_cast<void>(bench.written(0, 7, LaneWrite::kDurable, 2000));
    static_cast<void>(bench.answered(0, 7));
    for (std::uint64_t ms : {8U, 9U, 10U}) {
        EXPECT_TRUE(bench.arrive(ms));
        static_cast<void>(bench.turn(ms));
    }
    EXPECT_EQ(bench.written(1, 11, LaneWrite::kFailed),
              (std::vector{LaneDo::kRefuse, LaneDo::kAnswer}));
    EXPECT_FALSE(bench.engine.is_open());
    EXPECT_FALSE(bench.arrive(11));
    LaneEngine::Actions actions;
    EXPECT_EQ(bench.engine.refused(actions).count, 1U);
    static_cast<void>(bench.answered(1, 11));
    EXPECT_EQ(bench.written(2, 12), std::vector{LaneDo::kAnswer});
    EXPECT_EQ(bench.engine.outcome_of(2), LaneWrite::kFailed) << "nobody finds it behind the gap";
    EXPECT_TRUE(bench.answered(2, 12).empty()) << "a person has to look first";
}

TEST(LaneEngineRules, L5AfterAFullDiskTheLaneIsReopened) {
    LaneBench bench;
    EXPECT_TRUE(bench.arrive(5));
    static_cast<void>(bench.turn(5));
    EXPECT_EQ(bench.written(0, 6, LaneWrite::kNoRoom), std::vector{LaneDo::kAnswer});
    EXPECT_EQ(bench.answered(0, 6), std::vector{LaneDo::kReopen});
    bench.engine.opened(kLaneSize, 5 * kLaneBlockBytes, 4 * kLaneBlockBytes);
    EXPECT_TRUE(bench.arrive(7));
    EXPECT_EQ(bench.turn(7)[0], LaneDo::kWrite);
    EXPECT_EQ(bench.engine.head_of(1).offset, 5 * kLaneBlockBytes);
}

TEST(LaneEngineRules, L5AFullLaneStartsAMoveAndLooksAgainUntilThereIsRoom) {
    LaneBench bench;
    static_cast<void>(bench.fill());
    EXPECT_GE(bench.engine.waiting(), 1U);
    EXPECT_TRUE(bench.moved(11).empty()) << "another process moved, perhaps: it looks at 15";
    LaneEngine::Actions due;
    bench.engine.move_due(15, due);
    EXPECT_EQ(LaneBench::kinds(due), (std::vector{LaneDo::kMove, LaneDo::kSetMoveTimer}));
    EXPECT_TRUE(bench.turn(16).empty());
    bench.engine.room(kLaneSize / 2, kLaneSize / 2 + kLaneBlockBytes);
    EXPECT_EQ(bench.moved(17).back(), LaneDo::kRunAtIterationEnd);
    EXPECT_EQ(bench.turn(17)[0], LaneDo::kWrite);
}

/// Its mover moves for all lanes. While other processes fill theirs, that takes long.
TEST(LaneEngineRules, L8AFullLaneFindsRoomWhileItsOwnMoverWorksOnForOthers) {
    LaneBench bench;
    EXPECT_EQ(bench.fill()[0], LaneDo::kSetMoveTimer) << "its mover works already";
    bench.engine.room(kLaneSize / 2, kLaneSize / 2 + kLaneBlockBytes);
    LaneEngine::Actions due;
    bench.engine.move_due(10 + LaneEngine::kFullCheckMs, due);
    EXPECT_EQ(LaneBench::kinds(due), std::vector{LaneDo::kRunAtIterationEnd});
    EXPECT_EQ(bench.turn(16)[0], LaneDo::kWrite);
}

TEST(LaneEngineRules, L5RequestsThatWaitTooLongForRoomAreOverdue) {
    LaneBench bench;
    static_cast<void>(bench.fill());
    LaneEngine::Actions actions;
    EXPECT_EQ(bench.engine.overdue(9 + LaneEngine::kWaitMaxMs, actions).count, 0U);
    LaneEngine::Actions more;
    EXPECT_EQ(bench.engine.overdue(10 + LaneEngine::kWaitMaxMs, more).count, 1U);
    EXPECT_EQ(bench.engine.waiting(), 0U);
}

TEST(LaneEngineRules, L5ArrivalIsRefusedBehindAWriteThatHangs) {
    LaneBench bench;
    EXPECT_TRUE(bench.arrive(5));
    static_cast<void>(bench.turn(5));
    EXPECT_TRUE(bench.arrive(4 + LaneEngine::kWaitMaxMs));
    EXPECT_FALSE(bench.arrive(5 + LaneEngine::kWaitMaxMs));
}

TEST(LaneEngineRules, L3AMoveIsRequestedAtOnceAndThenAtIntervals) {
    LaneBench bench;
    EXPECT_TRUE(bench.arrive(100));
    static_cast<void>(bench.turn(100));
    EXPECT_EQ(bench.written(0, 100).back(), LaneDo::kMove);
    static_cast<void>(bench.answered(0, 100));
    bench.engine.room(kLaneBlockBytes, 2 * kLaneBlockBytes);
    EXPECT_TRUE(bench.moved(101).empty());
    EXPECT_TRUE(bench.arrive(110));
    static_cast<void>(bench.turn(110));
    EXPECT_EQ(bench.written(1, 110).back(), LaneDo::kSetMoveTimer);
}

/// Writes and answers batches, and never moves, until so much is durable. Returns the requested
/// actions.
std::vector<LaneDo> write_until(LaneBench& bench, std::uint64_t durable, std::uint64_t ms) {
    std::vector<LaneDo> asked;
    for (std::size_t slot = 0; bench.engine.durable() < durable;
         slot = (slot + 1) % LaneEngine::kSlots) {
        EXPECT_TRUE(bench.arrive(ms, 30'000));
        EXPECT_EQ(bench.turn(ms)[0], LaneDo::kWrite);
        for (const LaneDo what : bench.written(slot, ms)) {
            asked.push_back(what);
        }
        static_cast<void>(bench.answered(slot, ms));
    }
    return asked;
}

TEST(LaneEngineRules, L3WhileAnotherProcessMovesTheNextAttemptWaits) {
    constexpr std::uint64_t kLarge = 2 * LaneEngine::kMoveBytes;
    LaneBench bench(8U << 20);
    const std::vector<LaneDo> asked = write_until(bench, kLarge, 100);
    EXPECT_EQ(std::count(asked.begin(), asked.end(), LaneDo::kMove), 1);
    EXPECT_EQ(bench.moved(101), std::vector{LaneDo::kSetMoveTimer})
        << "it brought this lane nothing";
    const std::vector<LaneDo> later = write_until(bench, 2 * kLarge, 102);
    EXPECT_EQ(std::count(later.begin(), later.end(), LaneDo::kMove), 0);
    LaneEngine::Actions due;
    bench.engine.move_due(151, due);
    EXPECT_EQ(LaneBench::kinds(due), std::vector{LaneDo::kMove});
    bench.engine.room(kLaneBlockBytes, kLarge);
    EXPECT_EQ(bench.moved(152), std::vector{LaneDo::kMove}) << "it did, and much is left";
}

TEST(LaneEngineRules, ACellThatSaysMoreThanWasWrittenIsNotTrusted) {
    LaneBench bench;
    static_cast<void>(bench.fill());
    bench.engine.room(10 * kLaneSize, 10 * kLaneSize + kLaneBlockBytes);
    static_cast<void>(bench.moved(11));
    EXPECT_TRUE(bench.turn(11).empty());
}

}  // namespace
}  // namespace sluice
