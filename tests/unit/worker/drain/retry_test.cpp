// Retry: errors that may pass are tried again, in pauses that double; others end the drain.
#include "worker/drain/retry.hpp"

#include <gtest/gtest.h>

namespace sluice::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Retry::Time kStart{seconds(1000)};

TEST(RetryRules, AnErrorThatCannotPassEndsTheDrain) {
    for (const ErrorCode code : {ErrorCode::kInvalid, ErrorCode::kConflict, ErrorCode::kCorrupt,
                                 ErrorCode::kPermission, ErrorCode::kUnsupported}) {
        Retry retry(0);
        EXPECT_EQ(retry.failed(code, kStart).next, Retry::Next::kGiveUp);
    }
}

TEST(RetryRules, PausesDoubleUpToFiveSecondsAndRestartAfterSuccess) {
    Retry retry(0);
    Retry::Time now = kStart;
    for (const int ms : {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000}) {
        const Retry::Decision decision = retry.failed(ErrorCode::kNoSpace, now);
        EXPECT_EQ(decision.next, Retry::Next::kPause);
        EXPECT_EQ(decision.pause, milliseconds(ms));
        now += decision.pause;
    }
    (void)retry.succeeded(now);
    EXPECT_EQ(retry.failed(ErrorCode::kNoSpace, now).pause, milliseconds(50));
}

TEST(RetryRules, AFullMapIsTriedAtOnce) {
    Retry retry(0);
    const Retry::Decision decision = retry.failed(ErrorCode::kFull, kStart);
    EXPECT_EQ(decision.next, Retry::Next::kAtOnce);
    EXPECT_FALSE(decision.is_failure);
}

TEST(RetryRules, ACommandGivesUpWhenItsTimeIsOver) {
    Retry retry(15);
    EXPECT_EQ(retry.failed(ErrorCode::kIo, kStart).next, Retry::Next::kPause);
    EXPECT_EQ(retry.failed(ErrorCode::kIo, kStart + seconds(15)).next, Retry::Next::kPause);
    EXPECT_EQ(retry.failed(ErrorCode::kIo, kStart + milliseconds(15'001)).next,
              Retry::Next::kGiveUp);
}

TEST(RetryRules, NodesThatMeetForAMomentAreNoFailure) {
    Retry retry(0);
    EXPECT_FALSE(retry.failed(ErrorCode::kBusy, kStart).is_failure);
    EXPECT_FALSE(retry.failed(ErrorCode::kBusy, kStart + milliseconds(999)).is_failure);
    EXPECT_TRUE(retry.failed(ErrorCode::kBusy, kStart + seconds(1)).is_failure);
}

TEST(RetryRules, AFailureIsReportedOnceASecond) {
    Retry retry(0);
    int told = 0;
    for (int ms = 0; ms < 3000; ms += 50) {
        told += retry.failed(ErrorCode::kIo, kStart + milliseconds(ms)).is_logged ? 1 : 0;
    }
    EXPECT_EQ(told, 3);
}

TEST(RetryRules, RecoveryFromAReportedFailureIsReportedOnce) {
    Retry retry(0);
    EXPECT_EQ(retry.succeeded(kStart), std::nullopt);
    EXPECT_TRUE(retry.failed(ErrorCode::kNoSpace, kStart).is_logged);
    EXPECT_EQ(retry.succeeded(kStart + seconds(7)), seconds(7));
    EXPECT_EQ(retry.succeeded(kStart + seconds(8)), std::nullopt);
    (void)retry.failed(ErrorCode::kBusy, kStart + seconds(9));  // transient: not reported
    EXPECT_EQ(retry.succeeded(kStart + seconds(9)), std::nullopt);
}

}  // namespace
}  // namespace sluice::worker
