#include "notify/outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::notify {
namespace {

using std::chrono::seconds;
using store::AttemptOutcome;
using store::ChangeId;
using store::PendingChange;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kStart = 1'700'000'000'000, kSecond = 1000, kHour = 3'600'000,
                        kDay = 24 * kHour;
constexpr unsigned kMiddle = 500;  // no jitter
const std::string kNode = "node";

PendingChange change(std::uint64_t last, const std::string& order = {},
                     std::uint64_t order_change = 0) {
    PendingChange row;
    row.change = {kNode, last};
    row.shop = ShopNumber{order.empty() ? 0U : 1U};
    row.order_id = OrderId(order);
    row.order_change = order_change;
    return row;
}

ChangeId id(std::uint64_t last) {
    return {kNode, last};
}

/// Takes all that may start, and returns their numbers.
std::vector<std::uint64_t> take_all(Outbox& outbox, std::uint64_t now) {
    std::vector<std::uint64_t> taken;
    while (const auto next = outbox.take(now)) {
        taken.push_back(next->change.last);
    }
    return taken;
}

TEST(Outbox, ChangesOfOneOrderAreSentOneAfterTheOther) {
    Outbox outbox({}, {});
    outbox.add(change(1, "a", 1));
    outbox.add(change(2, "a", 2));
    outbox.add(change(3, "b", 1));
    EXPECT_THAT(take_all(outbox, kStart), ElementsAre(1, 3));
    outbox.succeeded(id(1), kStart);
    EXPECT_THAT(take_all(outbox, kStart), ElementsAre(2));
}

TEST(Outbox, AFailedChangeHoldsItsOrderOnly) {
    Outbox outbox({}, {});
    outbox.add(change(1, "a", 1));
    outbox.add(change(2, "a", 2));
    outbox.add(change(3, "b", 1));
    outbox.add(change(4));
    ASSERT_THAT(take_all(outbox, kStart), ElementsAre(1, 3, 4));
    EXPECT_EQ(outbox.failed(id(1), kStart, kMiddle, {}, false).next_try, kStart + 5 * kSecond);
    EXPECT_THAT(take_all(outbox, kStart + 5 * kSecond - 1), IsEmpty());
    EXPECT_EQ(outbox.next_at(kStart), kStart + 5 * kSecond);
    EXPECT_THAT(take_all(outbox, kStart + 5 * kSecond), ElementsAre(1));
    outbox.succeeded(id(1), kStart + 5 * kSecond);
    EXPECT_THAT(take_all(outbox, kStart + 5 * kSecond), ElementsAre(2));
}

TEST(Outbox, AnEarlierChangeThatIsAddedLaterGoesFirst) {
    Outbox outbox({}, {});
    outbox.add(change(9, "a", 3));
    outbox.add(change(4, "a", 1));
    EXPECT_THAT(take_all(outbox, kStart), ElementsAre(4));
    outbox.add(change(6, "a", 2));
    EXPECT_THAT(take_all(outbox, kStart), IsEmpty());
    outbox.succeeded(id(4), kStart);
    EXPECT_THAT(take_all(outbox, kStart), ElementsAre(6));
}

TEST(Outbox, AtMostEightRequestsAreUnderWay) {
    Outbox outbox({}, {});
    for (std::uint64_t last = 1; last <= 20; ++last) {
        outbox.add(change(last));
    }
    EXPECT_EQ(take_all(outbox, kStart).size(), kUnderWayMax);
    outbox.succeeded(id(3), kStart);
    EXPECT_THAT(take_all(outbox, kStart), ElementsAre(9));
}

TEST(Outbox, RetriesFollowTheTableOfTimes) {
    Outbox outbox({}, {});
    outbox.add(change(1));
    const std::uint64_t delays[] = {5 * kSecond, 300 * kSecond, 1800 * kSecond, 2 * kHour,
                                    5 * kHour,   10 * kHour,    14 * kHour,     20 * kHour};
    std::uint64_t now = kStart;
    for (const std::uint64_t delay : delays) {
        ASSERT_TRUE(outbox.take(now));
        const auto failure = outbox.failed(id(1), now, kMiddle, {}, false);
        EXPECT_EQ(failure.outcome, AttemptOutcome::kRetry);
        EXPECT_EQ(failure.next_try, now + delay);
        now = failure.next_try;
    }
}

TEST(Outbox, RetryAfterDelaysTheNextTry) {
    Outbox outbox({}, {});
    outbox.add(change(1));
    ASSERT_TRUE(outbox.take(kStart));
    EXPECT_EQ(outbox.failed(id(1), kStart, kMiddle, seconds(120), false).next_try,
              kStart + 120 * kSecond);
}

TEST(Outbox, AChangeExpiresAfterNineRetriesIfOthersWereTakenMeanwhile) {
    Outbox outbox({}, {});
    outbox.add(change(1, "a", 1));
    outbox.add(change(2, "a", 2));
    std::uint64_t now = kStart, number = 100;
    for (unsigned failures = 1; failures <= kRetries; ++failures) {
        ASSERT_TRUE(outbox.take(now));
        now = outbox.failed(id(1), now, kMiddle, {}, false).next_try;
        outbox.add(change(++number));  // others are taken
        ASSERT_EQ(outbox.take(now - 1)->change.last, number);
        outbox.succeeded(id(number), now - 1);
    }
    ASSERT_EQ(outbox.take(now)->change.last, 1U);
    EXPECT_EQ(outbox.failed(id(1), now, kMiddle, {}, false).outcome, AttemptOutcome::kFailed);
    EXPECT_THAT(take_all(outbox, now), ElementsAre(2));
    EXPECT_EQ(outbox.size(), 1U);
}

TEST(Outbox, WithoutASuccessNothingExpiresAndTheDestinationIsDisabledAfterThreeDays) {
    Outbox outbox({}, {});
    outbox.add(change(1));
    std::uint64_t now = kStart;
    AttemptOutcome outcome = AttemptOutcome::kRetry;
    while (outcome == AttemptOutcome::kRetry) {
        ASSERT_TRUE(outbox.take(now));
        const auto failure = outbox.failed(id(1), now, kMiddle, {}, false);
        outcome = failure.outcome;
        ASSERT_TRUE(outcome == AttemptOutcome::kDisabled || now < kStart + 3 * kDay);
        now = outcome == AttemptOutcome::kRetry ? failure.next_try : now;
    }
    EXPECT_EQ(outcome, AttemptOutcome::kDisabled);
    EXPECT_GE(now, kStart + 3 * kDay);
    EXPECT_EQ(outbox.size(), 1U);
    outbox.start_fresh();
    EXPECT_EQ(outbox.failing_since(), 0U);
    EXPECT_THAT(take_all(outbox, now), ElementsAre(1));
}

TEST(Outbox, FailuresOfAnEarlierProcessCountForTheThreeDays) {
    store::DestinationProgress progress;
    progress.failing_since = kStart - 3 * kDay;
    Outbox outbox({change(1)}, progress);
    ASSERT_TRUE(outbox.take(kStart));
    EXPECT_EQ(outbox.failed(id(1), kStart, kMiddle, {}, false).outcome, AttemptOutcome::kDisabled);
}

TEST(Outbox, GoneDisablesAtOnceAndKeepsTheChange) {
    Outbox outbox({}, {});
    outbox.add(change(1));
    ASSERT_TRUE(outbox.take(kStart));
    EXPECT_EQ(outbox.failed(id(1), kStart, kMiddle, {}, true).outcome, AttemptOutcome::kDisabled);
    EXPECT_EQ(outbox.size(), 1U);
}

TEST(Outbox, TenFailuresInARowOverAMinuteLeaveOneProbeAtATime) {
    Outbox outbox({}, {});
    for (std::uint64_t last = 1; last <= 40; ++last) {
        outbox.add(change(last));
    }
    std::uint64_t now = kStart;
    for (int failure = 1; failure <= 10; ++failure, now += 7 * kSecond) {
        const auto taken = outbox.take(now);
        ASSERT_TRUE(taken) << failure;
        outbox.failed(taken->change, now, kMiddle, {}, false);
    }
    const std::uint64_t opened = now - 7 * kSecond;
    EXPECT_THAT(take_all(outbox, opened + 60 * kSecond - 1), IsEmpty());
    EXPECT_EQ(outbox.next_at(opened), opened + 60 * kSecond);
    const auto probe = take_all(outbox, opened + 60 * kSecond);
    ASSERT_EQ(probe.size(), 1U);
    outbox.succeeded(id(probe[0]), opened + 60 * kSecond);
    EXPECT_EQ(take_all(outbox, opened + 60 * kSecond).size(), kUnderWayMax);
}

TEST(Outbox, ReadsNoMoreThanCouldBeSentAtOnce) {
    Outbox outbox({}, {});
    for (std::uint64_t last = 1; last <= kDueAtOnceMax; ++last) {
        EXPECT_TRUE(outbox.may_read());
        outbox.add(change(last));
    }
    EXPECT_FALSE(outbox.may_read());
    take_all(outbox, kStart);
    EXPECT_TRUE(outbox.may_read());
}

TEST(Outbox, ChangesBehindAFailedOneOfTheirOrderDoNotKeepOthersFromBeingRead) {
    Outbox outbox({}, {});
    for (std::uint64_t last = 1; last <= kUnfinishedMax; ++last) {
        ASSERT_TRUE(outbox.may_read()) << last;
        outbox.add(change(last, "a", last));
    }
    EXPECT_FALSE(outbox.may_read());
}

TEST(Outbox, AClockThatWasSetBackDoesNotDelayARetry) {
    PendingChange row = change(1);
    row.failures = 1;
    row.due = kStart + 400 * kDay;
    Outbox outbox({row}, {});
    EXPECT_EQ(outbox.next_at(kStart), kStart);
    EXPECT_THAT(take_all(outbox, kStart), ElementsAre(1));
}

TEST(Outbox, StoredRowsAreWrittenOnceAndErasedWhenTheyAreFinished) {
    Outbox outbox({change(1)}, {});
    outbox.add(change(2));
    outbox.add(change(3));
    take_all(outbox, kStart);
    outbox.succeeded(id(3), kStart);
    auto rows = outbox.take_unstored();
    EXPECT_THAT(rows.first, ElementsAre(change(2)));
    EXPECT_THAT(rows.second, IsEmpty());
    outbox.succeeded(id(1), kStart);
    outbox.succeeded(id(2), kStart);
    rows = outbox.take_unstored();
    EXPECT_THAT(rows.first, IsEmpty());
    EXPECT_THAT(rows.second, ElementsAre(id(1), id(2)));
}

TEST(Outbox, AChangeThatIsThereAlreadyIsNotAddedTwice) {
    Outbox outbox({change(1)}, {});
    EXPECT_FALSE(outbox.add(change(1)));
    take_all(outbox, kStart);
    outbox.put_back(id(1));
    EXPECT_THAT(take_all(outbox, kStart), ElementsAre(1));
}

TEST(Outbox, ARestartForgetsAllButChangesUnderWay) {
    Outbox outbox({change(1, "a", 1), change(2, "a", 2), change(3)}, {});
    ASSERT_EQ(outbox.take(kStart)->change.last, 1U);
    outbox.clear();
    outbox.start_fresh();
    EXPECT_EQ(outbox.size(), 1U);
    outbox.succeeded(id(1), kStart);
    EXPECT_THAT(take_all(outbox, kStart), IsEmpty());
    outbox.add(change(4, "a", 3));
    EXPECT_THAT(take_all(outbox, kStart), ElementsAre(4));
    EXPECT_THAT(outbox.take_unstored().second, ElementsAre(id(2), id(3), id(1)));
}

}  // namespace
}  // namespace sluice::notify
