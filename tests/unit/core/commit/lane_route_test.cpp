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

TEST(LaneRoute, TakesTheLaneUnlessVeryMuchWaits) {
    LaneRoute route;
    answer_at_once(route, kMany - 1, 1000);
    EXPECT_TRUE(route.takes_lane());
    answer_at_once(route, kMany, 1001);
    EXPECT_FALSE(route.takes_lane());
}

TEST(LaneRoute, ThoseWhoWereAnsweredCountUntilTheyHadTimeToSendAgain) {
    LaneRoute route;
    answer_at_once(route, kMany, 1000);
    answer_at_once(route, 1, 1000 + LaneRoute::kWindowMs);
    EXPECT_FALSE(route.takes_lane());
    answer_at_once(route, 1, 1000 + 2 * LaneRoute::kWindowMs);
    EXPECT_TRUE(route.takes_lane());
}

TEST(LaneRoute, AfterAPauseTheLaneIsTakenAgain) {
    LaneRoute route;
    answer_at_once(route, kMany, 1000);
    answer_at_once(route, 1, 1000 + 2 * LaneRoute::kWindowMs);
    EXPECT_TRUE(route.takes_lane());
}

TEST(LaneRoute, WhatStillWaitsCountsInEveryWindow) {
    LaneRoute route;
    for (std::uint64_t i = 0; i < kMany; ++i) {
        route.arrived(kOrder, 1000);
    }
    answer_at_once(route, 1, 9000);
    EXPECT_FALSE(route.takes_lane());
}

}  // namespace
}  // namespace sluice
