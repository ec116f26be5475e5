// Which orders go through the lane, and which straight to the queue.
#include "core/commit/lane_route.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::uint64_t kOrder = 8U << 10;
constexpr std::uint64_t kMany = LaneRoute::kManyBytes / kOrder;

/// So many orders arrive at once, and are answered.
void answer_at_once(LaneRoute& route, std::uint64_t orders, std::uint64_t now_ms) {
    for (std::uint64_t i = 0; i < orders; ++i) {
        route.arrived(kOrder, now_ms);
    }
    for (std::uint64_t i = 0; i < orders; ++i) {
        route.done(kOrder);
    }
}

LaneRoute on_a_disk_that_takes(std::uint64_t us) {
    LaneRoute route;
    for (unsigned i = 0; i < 3 * LaneRoute::kWritesCompared; ++i) {
        route.written(us + i % 10 * 500);
    }
    return route;
}

TEST(LaneRoute, TakesTheLaneUnlessVeryMuchWaits) {
    LaneRoute route;
    EXPECT_TRUE(route.takes_lane(1000));
    answer_at_once(route, kMany - 1, 1000);
    EXPECT_TRUE(route.takes_lane(1000));
    answer_at_once(route, kMany, 1001);
    EXPECT_FALSE(route.takes_lane(1001));
}

TEST(LaneRoute, AnsweredClientsCountUntilTheyCanResend) {
    LaneRoute route;
    answer_at_once(route, kMany, 1000);
    answer_at_once(route, 1, 1000 + LaneRoute::kWindowMs);
    EXPECT_FALSE(route.takes_lane(1000 + LaneRoute::kWindowMs));
    answer_at_once(route, 1, 1000 + 2 * LaneRoute::kWindowMs);
    EXPECT_TRUE(route.takes_lane(1000 + 2 * LaneRoute::kWindowMs));
}

TEST(LaneRoute, WaitingBytesCountInEveryWindow) {
    LaneRoute route;
    for (std::uint64_t i = 0; i < kMany; ++i) {
        route.arrived(kOrder, 1000);
    }
    answer_at_once(route, 1, 9000);
    EXPECT_FALSE(route.takes_lane(9000));
}

TEST(LaneRoute, AMoverThatFellBehindIsGivenTimeAndEachTimeMore) {
    LaneRoute route = on_a_disk_that_takes(100);
    std::uint64_t now = 1000;
    for (std::uint64_t avoided = LaneRoute::kAvoidMs; avoided < LaneRoute::kAvoidMsMax;
         avoided *= 2) {
        route.fell_behind(now);
        EXPECT_FALSE(route.takes_lane(now + avoided - 1));
        EXPECT_TRUE(route.takes_lane(now + avoided));
        now += avoided + 1;
    }
    for (int i = 0; i < 2; ++i) {
        route.fell_behind(now);
        EXPECT_FALSE(route.takes_lane(now + LaneRoute::kAvoidMsMax - 1));
        EXPECT_TRUE(route.takes_lane(now + LaneRoute::kAvoidMsMax));
        now += LaneRoute::kAvoidMsMax + 1;
    }
    now += LaneRoute::kSoonMs;
    route.fell_behind(now);
    EXPECT_TRUE(route.takes_lane(now + LaneRoute::kAvoidMs)) << "it went well for long enough";
}

TEST(LaneRoute, RepeatedReportsWhileLanesAreBypassedCountOnce) {
    LaneRoute route = on_a_disk_that_takes(100);
    for (std::uint64_t now = 1000; now < 1000 + LaneRoute::kAvoidMs; ++now) {
        route.fell_behind(now);
    }
    EXPECT_TRUE(route.takes_lane(1000 + LaneRoute::kAvoidMs));
}

/// There the commits of many processes would wait for each other.
TEST(LaneRoute, L8WhereAWriteIsSlowTheLaneIsWaitedFor) {
    LaneRoute route = on_a_disk_that_takes(LaneRoute::kSlowWriteUs + 1);
    route.fell_behind(1000);
    EXPECT_TRUE(route.takes_lane(1000));
    LaneRoute unknown;
    unknown.fell_behind(1000);
    EXPECT_TRUE(unknown.takes_lane(1000));
}

TEST(LaneRoute, ADiskThatBecameQuickIsFoundOut) {
    LaneRoute route = on_a_disk_that_takes(LaneRoute::kSlowWriteUs + 1);
    route.written(LaneRoute::kSlowWriteUs);
    route.fell_behind(1000);
    EXPECT_FALSE(route.takes_lane(1000));
}

TEST(LaneRoute, ADiskThatBecameSlowIsFoundOut) {
    LaneRoute route = on_a_disk_that_takes(100);
    for (unsigned i = 0; i < 2 * LaneRoute::kWritesCompared; ++i) {
        route.written(LaneRoute::kSlowWriteUs + 1);
    }
    route.fell_behind(1000);
    EXPECT_TRUE(route.takes_lane(1000));
}

}  // namespace
}  // namespace sluice
