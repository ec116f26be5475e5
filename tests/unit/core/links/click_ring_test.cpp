#include "core/links/click_ring.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

BufferedClick click_at(std::uint64_t ms) {
    BufferedClick click;
    click.at_ms = ms;
    return click;
}

std::vector<std::uint64_t> take(ClickRing& ring, std::size_t most) {
    std::vector<std::uint64_t> times;
    const std::size_t taken =
        ring.take(most, [&](const BufferedClick& click) { times.push_back(click.at_ms); });
    EXPECT_EQ(taken, times.size());
    return times;
}

using Times = std::vector<std::uint64_t>;

TEST(ClickRing, DU2_ItHoldsItsCapacityAndNoMore) {
    ClickRing ring(3);
    EXPECT_TRUE(ring.empty());
    for (std::uint64_t ms = 1; ms <= 3; ++ms) {
        EXPECT_TRUE(ring.push(click_at(ms)));
    }
    EXPECT_FALSE(ring.push(click_at(4)));
    EXPECT_EQ(ring.size(), 3U);
    EXPECT_EQ(take(ring, 10), (Times{1, 2, 3}));
    EXPECT_TRUE(ring.empty());
    EXPECT_EQ(take(ring, 10), Times{});
}

TEST(ClickRing, DU3_TheOldestLeaveFirstAcrossItsEnd) {
    ClickRing ring(3);
    EXPECT_TRUE(ring.push(click_at(1)));
    EXPECT_TRUE(ring.push(click_at(2)));
    EXPECT_EQ(take(ring, 1), Times{1});
    EXPECT_TRUE(ring.push(click_at(3)));
    EXPECT_TRUE(ring.push(click_at(4)));
    EXPECT_FALSE(ring.push(click_at(5)));
    EXPECT_EQ(take(ring, 2), (Times{2, 3}));
    EXPECT_EQ(take(ring, 2), Times{4});
}

TEST(ClickRing, ARingWithoutRoomKeepsNothing) {
    ClickRing ring(0);
    EXPECT_FALSE(ring.push(click_at(1)));
    EXPECT_EQ(take(ring, 1), Times{});
}

}  // namespace
}  // namespace sluice
