#include "ngx_module/commit_pace.hpp"

#include <gtest/gtest.h>

namespace sluice::ngx {
namespace {

constexpr std::uint64_t kAnswersUs = 200;  ///< Of 32 requests.

/// A closed loop of 64 clients: 32 are answered, 32 wait already.
CommitPace pace_of(std::uint64_t commit_us) {
    CommitPace pace;
    pace.committed(commit_us, 64);
    pace.answered(kAnswersUs, 32, 10'000);
    return pace;
}

TEST(CommitPace, FastCommitsBeginBeforeTheAnswers) {
    EXPECT_TRUE(pace_of(500).overlaps());
}

TEST(CommitPace, SlowCommitsWaitForThoseWhoWereAnswered) {
    const CommitPace pace = pace_of(5000);
    EXPECT_FALSE(pace.overlaps());
    EXPECT_TRUE(pace.holds_back(32, 10'001));
}

TEST(CommitPace, NobodyIsWaitedForWhenAllAreThere) {
    EXPECT_FALSE(pace_of(5000).holds_back(64, 10'001));
    EXPECT_FALSE(pace_of(5000).holds_back(65, 10'001));
}

TEST(CommitPace, ACommitIsHeldBackForAPartOfItsTimeAtMost) {
    const CommitPace pace = pace_of(5000);
    const std::uint64_t until = 10'000 + 5000 / CommitPace::kHoldPart;
    EXPECT_TRUE(pace.holds_back(32, until - 1));
    EXPECT_FALSE(pace.holds_back(32, until));
}

TEST(CommitPace, ALoneClientOfAnIdleWorkerIsNeverHeldBack) {
    CommitPace pace;
    EXPECT_FALSE(pace.holds_back(1, 10'000));
    pace.committed(5000, 1);
    pace.answered(10, 1, 10'000);
    EXPECT_FALSE(pace.holds_back(1, 10'001));
}

TEST(CommitPace, OneSlowCommitDoesNotChangeThePace) {
    CommitPace pace = pace_of(500);
    pace.committed(100'000, 64);
    EXPECT_TRUE(pace.overlaps());
}

TEST(CommitPace, ManySlowCommitsDo) {
    CommitPace pace = pace_of(500);
    for (int i = 0; i < 50; ++i) {
        pace.committed(5000, 64);
        pace.answered(kAnswersUs, 32, 10'000);
    }
    EXPECT_FALSE(pace.overlaps());
}

}  // namespace
}  // namespace sluice::ngx
