#include "notify/schedule.hpp"

#include <gtest/gtest.h>

namespace sluice::notify {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Millis kFirstTry{1'700'000'000'000};

TEST(RetryDelay, FollowsTheTableAndStaysAtADay) {
    const Millis table[] = {seconds(5), minutes(5), minutes(30), hours(2),  hours(5), hours(10),
                            hours(14),  hours(20),  hours(24),   hours(24), hours(24)};
    unsigned failures = 0;
    for (const Millis delay : table) {
        ++failures;
        EXPECT_EQ(retry_delay(failures, 500, {}), delay) << failures;
        EXPECT_EQ(retry_delay(failures, 0, {}), delay * 8 / 10) << failures;
        EXPECT_EQ(retry_delay(failures, 1000, {}), delay * 12 / 10) << failures;
        EXPECT_EQ(retry_delay(failures, 5000, {}), delay * 12 / 10) << failures;
    }
}

TEST(RetryDelay, RespectsALongerRetryAfterUpToADay) {
    EXPECT_EQ(retry_delay(1, 500, seconds(90)), seconds(90));
    EXPECT_EQ(retry_delay(1, 500, seconds(1)), seconds(5));
    EXPECT_EQ(retry_delay(1, 500, hours(24)), hours(24));
    EXPECT_EQ(retry_delay(1, 500, hours(1000)), hours(24));
}

/// Fails `count` times, a second apart from `from` on. Returns the time of the last failure.
Millis fail(Breaker& breaker, int count, Millis from) {
    for (int i = 0; i < count; ++i) {
        breaker.failed(from + i * seconds(1));
    }
    return from + (count - 1) * seconds(1);
}

TEST(NotifyBreaker, OpensAfterTenFailuresInARowThatLastedAMinute) {
    Breaker quick;
    fail(quick, 60, kFirstTry);
    EXPECT_FALSE(quick.is_open());
    quick.failed(kFirstTry + seconds(60));
    EXPECT_TRUE(quick.is_open());

    Breaker slow;
    fail(slow, 8, kFirstTry);
    slow.failed(kFirstTry + hours(1));
    EXPECT_FALSE(slow.is_open());
    slow.failed(kFirstTry + hours(2));
    EXPECT_TRUE(slow.is_open());
}

TEST(NotifyBreaker, ASuccessEndsTheRow) {
    Breaker breaker;
    fail(breaker, 9, kFirstTry);
    breaker.succeeded();
    fail(breaker, 9, kFirstTry + hours(1));
    EXPECT_FALSE(breaker.is_open());
    EXPECT_TRUE(breaker.may_start(kFirstTry + hours(1), 7));
}

TEST(NotifyBreaker, AdmitsOneProbeAfterEachPauseWhichDoublesToHalfAnHour) {
    Breaker breaker;
    Millis now = fail(breaker, 61, kFirstTry);
    for (const Millis pause :
         {minutes(1), minutes(2), minutes(4), minutes(8), minutes(16), minutes(30), minutes(30)}) {
        EXPECT_FALSE(breaker.may_start(now + pause - Millis(1), 0)) << pause.count();
        now += pause;
        EXPECT_TRUE(breaker.may_start(now, 0)) << pause.count();
        EXPECT_FALSE(breaker.may_start(now, 1)) << pause.count();
        breaker.failed(now);
    }
    breaker.succeeded();
    EXPECT_FALSE(breaker.is_open());
    EXPECT_TRUE(breaker.may_start(now, 0));
}

TEST(NotifyBreaker, AClockThatWasSetBackDelaysNoProbe) {
    Breaker breaker;
    const Millis opened = fail(breaker, 61, kFirstTry);
    const Millis now = opened - hours(24);
    EXPECT_EQ(breaker.probe_at(now), now);
    EXPECT_TRUE(breaker.may_start(now, 0));
    breaker.failed(now);
    EXPECT_FALSE(breaker.may_start(now + minutes(2) - Millis(1), 0)) << "the pause doubles";
    EXPECT_TRUE(breaker.may_start(now + minutes(2), 0));
}

TEST(NotifyBreaker, ARowLastsAMinuteAlsoIfTheClockWasSetBackMeanwhile) {
    Breaker breaker;
    fail(breaker, 9, kFirstTry);
    const Millis now = fail(breaker, 9, kFirstTry - hours(24));
    EXPECT_FALSE(breaker.is_open());
    breaker.failed(now + minutes(1));
    EXPECT_TRUE(breaker.is_open());
}

TEST(NotifyBreaker, LateFailuresOfEarlierRequestsDoNotLengthenThePause) {
    Breaker breaker;
    const Millis opened = fail(breaker, 61, kFirstTry);
    breaker.failed(opened + seconds(5));
    EXPECT_TRUE(breaker.may_start(opened + minutes(1), 0));
}

}  // namespace
}  // namespace sluice::notify
