// How often creators may look for orders (creators CE20).
#include <gtest/gtest.h>

#include "serve/http/creator_front.hpp"

namespace sluice::serve {
namespace {

constexpr std::int64_t kHour = 3600, kDay = 24 * kHour, kNoon = 20'000 * kDay + 12 * kHour;

TEST(FindLimits, ACreatorHas30InADayOfUtc) {
    FindLimits limits;
    for (int i = 0; i < 30; ++i) {
        EXPECT_FALSE(limits.count("acme", "c:acme/ann", kNoon + i * 60)) << i;
    }
    EXPECT_EQ(limits.count("acme", "c:acme/ann", kNoon + kHour), 11 * kHour);
    EXPECT_FALSE(limits.count("acme", "c:acme/ben", kNoon + kHour));
    EXPECT_FALSE(limits.count("beta", "c:beta/ann", kNoon + kHour));
    EXPECT_FALSE(limits.count("acme", "c:acme/ann", kNoon + 12 * kHour)) << "the next day";
}

TEST(FindLimits, TheCreatorsOfAnAccountHave300InAnHourTogether) {
    FindLimits limits;
    for (int i = 0; i < 300; ++i) {
        EXPECT_FALSE(limits.count("acme", "c:acme/" + std::to_string(i), kNoon + 60)) << i;
    }
    EXPECT_EQ(limits.count("acme", "c:acme/ann", kNoon + kHour - 1), 1);
    EXPECT_FALSE(limits.count("beta", "c:beta/ann", kNoon + kHour - 1));
    EXPECT_FALSE(limits.count("acme", "c:acme/ann", kNoon + kHour)) << "the next hour";
}

}  // namespace
}  // namespace sluice::serve
