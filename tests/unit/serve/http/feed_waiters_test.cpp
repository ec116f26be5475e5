// The number of requests that may wait for changes, and the time at which each is woken.
#include "serve/http/feed_waiters.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::serve {
namespace {

constexpr AccountNumber kAcme{1}, kBeta{2};

struct Waiting {
    void park(AccountNumber account, std::uint64_t entries, Clock::time_point until = {}) {
        waiters.park({this,
                      account,
                      entries,
                      until,
                      [this, account] { woken.push_back(account); },
                      [] { return false; },
                      {}});
    }
    FeedWaiters waiters;
    std::vector<AccountNumber> woken;
};

TEST(FeedWaiters, AnAccountHasEight) {
    FeedWaiters waiters;
    for (std::size_t i = 0; i < FeedWaiters::kWaitsOfOneMax; ++i) {
        EXPECT_TRUE(waiters.begin(kAcme));
    }
    EXPECT_FALSE(waiters.begin(kAcme));
    EXPECT_TRUE(waiters.begin(kBeta));
    waiters.end(kAcme);
    EXPECT_TRUE(waiters.begin(kAcme));
    EXPECT_EQ(waiters.count(), FeedWaiters::kWaitsOfOneMax + 1);
}

TEST(FeedWaiters, AProcessHasNineHundred) {
    FeedWaiters waiters;
    for (std::uint32_t i = 0; i < FeedWaiters::kWaitsMax; ++i) {
        ASSERT_TRUE(waiters.begin({i + 1}));
    }
    EXPECT_FALSE(waiters.begin({FeedWaiters::kWaitsMax + 1}));
    waiters.end({1});
    EXPECT_TRUE(waiters.begin({FeedWaiters::kWaitsMax + 1}));
}

TEST(FeedWaiters, OnlyAccountsWithOtherEntriesAreWoken) {
    Waiting waiting;
    waiting.park(kAcme, 5);
    waiting.park(kBeta, 0);
    waiting.waiters.note({{kAcme, 5}});
    EXPECT_TRUE(waiting.woken.empty());
    waiting.waiters.note({{kAcme, 6}});
    EXPECT_EQ(waiting.woken, std::vector{kAcme});
    waiting.waiters.note({{kAcme, 7}, {kBeta, 1}});
    EXPECT_EQ(waiting.woken, (std::vector{kAcme, kBeta}));
    EXPECT_FALSE(waiting.waiters.has_parked());
}

TEST(FeedWaiters, ARestoredLedgerWithFewerEntriesWakes) {
    Waiting waiting;
    waiting.park(kAcme, 5);
    waiting.waiters.note({});
    EXPECT_EQ(waiting.woken, std::vector{kAcme});
}

TEST(FeedWaiters, AWaitEndsAtItsTime) {
    Waiting waiting;
    const Clock::time_point start;
    waiting.park(kAcme, 5, start + std::chrono::seconds(2));
    waiting.park(kBeta, 5, start + std::chrono::seconds(3));
    waiting.waiters.expire(start + std::chrono::seconds(2), 1);
    EXPECT_EQ(waiting.woken, std::vector{kAcme});
    waiting.waiters.wake_all();
    EXPECT_EQ(waiting.woken, (std::vector{kAcme, kBeta}));
}

class RevokedWaiters : public testing::Test {
protected:
    void park(AccountNumber account, bool& is_revoked) {
        waiters.park({nullptr, account, 5, Clock::time_point::max(), [this] { ++woken; },
                      [this, &is_revoked] {
                          ++asked;
                          return is_revoked;
                      },
                      start});
    }
    void SetUp() override {
        waiters.expire(start, 1);
        park(kAcme, revoked);
        park(kBeta, never);
    }
    void after(std::chrono::milliseconds time, std::uint64_t generation) {
        waiters.expire(start + time, generation);
    }

    const Clock::time_point start = Clock::time_point() + std::chrono::hours(1);
    FeedWaiters waiters;
    bool revoked = false, never = false;
    int woken = 0, asked = 0;
};

TEST_F(RevokedWaiters, AreWokenAfterAChangeOfTheRegistry) {
    revoked = true;
    after(std::chrono::milliseconds(9'999), 1);
    EXPECT_EQ(asked, 0) << "nobody can have been revoked";
    after(std::chrono::milliseconds(9'999), 2);
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(woken, 1);
    EXPECT_TRUE(waiters.has_parked());
    after(std::chrono::milliseconds(10'100), 2);
    EXPECT_EQ(asked, 2) << "they were asked after that change";
}

TEST_F(RevokedWaiters, AreAskedOnceInAsManyMillisecondsAsThereAreWaiters) {
    after(std::chrono::milliseconds(1), 2);
    EXPECT_EQ(asked, 0);
    after(std::chrono::milliseconds(2), 2);
    EXPECT_EQ(asked, 2);
    after(std::chrono::milliseconds(3), 3);
    EXPECT_EQ(asked, 2);
    after(std::chrono::milliseconds(4), 3);
    EXPECT_EQ(asked, 4);
}

TEST_F(RevokedWaiters, AreAskedEveryTenSecondsBecauseTokensExpire) {
    revoked = true;
    after(std::chrono::seconds(10), 1);
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(woken, 1);
}

TEST_F(RevokedWaiters, AreAskedAlwaysIfTheGenerationIsNotKnown) {
    after(std::chrono::milliseconds(2), 0);
    after(std::chrono::milliseconds(4), 0);
    EXPECT_EQ(asked, 4);
}

TEST(FeedWaiters, AWaiterMayParkAgainWhileItIsWoken) {
    FeedWaiters waiters;
    int woken = 0;
    waiters.park(
        {nullptr,
         kAcme,
         5,
         {},
         [&] {
             ++woken;
             waiters.park({nullptr, kAcme, 6, {}, [&] { ++woken; }, [] { return false; }, {}});
         },
         [] { return false; },
         {}});
    waiters.note({{kAcme, 6}});
    EXPECT_EQ(woken, 1);
    EXPECT_TRUE(waiters.has_parked());
    waiters.note({{kAcme, 7}});
    EXPECT_EQ(woken, 2);
}

TEST(FeedWaiters, AWaiterThatLeavesIsNotWoken) {
    Waiting first, other;
    FeedWaiters waiters;
    int woken = 0;
    for (const void* const owner : {&first, &other}) {
        waiters.park({owner,
                      kAcme,
                      5,
                      Clock::time_point::max(),
                      [&woken] { ++woken; },
                      [] { return false; },
                      {}});
    }
    EXPECT_TRUE(waiters.is_parked(&first));
    EXPECT_TRUE(waiters.leave(&first));
    EXPECT_FALSE(waiters.is_parked(&first));
    EXPECT_FALSE(waiters.leave(&first));
    waiters.wake_all();
    EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace sluice::serve
