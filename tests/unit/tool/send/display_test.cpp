#include "tool/send/display.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using std::chrono::seconds;

TEST(SendPace, ShowsTheLastMinuteAndNotTheWholeRun) {
    Clock::time_point now{seconds(1000)};
    Pace pace(now);
    EXPECT_EQ(pace.per_second(now), std::nullopt);
    EXPECT_EQ(pace.seconds_for(1000, now), std::nullopt);
    for (int second = 0; second < 300; ++second) {
        pace.settled(1000, 100'000);
        pace.tick(now += seconds(1));
    }
    EXPECT_DOUBLE_EQ(*pace.per_second(now), 1000);
    EXPECT_DOUBLE_EQ(*pace.seconds_for(1'000'000, now), 10);
    for (int second = 0; second < 60; ++second) {
        pace.settled(5, 500);
        pace.tick(now += seconds(1));
    }
    EXPECT_DOUBLE_EQ(*pace.per_second(now), 5);
    EXPECT_DOUBLE_EQ(*pace.seconds_for(1'000'000, now), 2000);
}

TEST(SendPace, KnowsNoEndWhileNothingIsSettled) {
    Clock::time_point now{seconds(1000)};
    Pace pace(now);
    pace.tick(now += seconds(30));
    EXPECT_DOUBLE_EQ(*pace.per_second(now), 0);
    EXPECT_EQ(pace.seconds_for(1, now), std::nullopt);
}

}  // namespace
}  // namespace sluice::cli
