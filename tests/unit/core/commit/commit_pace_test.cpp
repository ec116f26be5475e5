#include "core/commit/commit_pace.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::uint64_t kAnswersUs = 200;  ///< For 32 requests.

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

TEST(CommitPace, SlowCommitsWaitForAnsweredClients) {
    CommitPace pace = pace_of(5000);
    EXPECT_FALSE(pace.overlaps());
    EXPECT_TRUE(pace.delays(32, 10'001));
}

TEST(CommitPace, CommitsWithoutDelayWhenAllClientsWait) {
    EXPECT_FALSE(pace_of(5000).delays(64, 10'001));
    EXPECT_FALSE(pace_of(5000).delays(65, 10'001));
}

TEST(CommitPace, ACommitIsDelayedForAPartOfItsTimeAtMost) {
    CommitPace pace = pace_of(5000);
    const std::uint64_t until = 10'000 + 5000 / CommitPace::kDelayPart;
    EXPECT_TRUE(pace.delays(32, until - 1));
    EXPECT_FALSE(pace.delays(32, until));
}

TEST(CommitPace, ALoneClientOfAnIdleWorkerIsNeverDelayed) {
    CommitPace pace;
    EXPECT_FALSE(pace.delays(1, 10'000));
    pace.committed(5000, 1);
    pace.answered(10, 1, 10'000);
    EXPECT_FALSE(pace.delays(1, 10'001));
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

/// Commits of clients that send on without answers: `come` join while one is held back.
void hold_back(CommitPace& pace, int commits, std::size_t come) {
    for (int i = 0; i < commits; ++i) {
        pace.committed(5000, 64);
        pace.answered(kAnswersUs, 32, 10'000);
        static_cast<void>(pace.delays(32, 10'001));
        pace.began(32 + come);
    }
}

TEST(CommitPace, TheDelayEndsIfNoClientArrives) {
    CommitPace pace;
    hold_back(pace, CommitPace::kTrust, 3);
    pace.committed(5000, 64);
    pace.answered(kAnswersUs, 32, 10'000);
    EXPECT_FALSE(pace.delays(32, 10'001));
    EXPECT_TRUE(pace.overlaps()) << "nor do the answers come first";
}

TEST(CommitPace, TheDelayContinuesWhileHalfOfTheMissingArrive) {
    CommitPace pace;
    hold_back(pace, 100, 16);
    EXPECT_FALSE(pace.overlaps());
    EXPECT_TRUE(pace.delays(32, 10'001));
}

TEST(CommitPace, HoldingBackInVainSometimesDoesNotEndIt) {
    CommitPace pace;
    for (int i = 0; i < 20; ++i) {
        hold_back(pace, CommitPace::kTrust - 1, 0);
        hold_back(pace, 1, 32);
    }
    EXPECT_TRUE(pace.delays(32, 10'001));
}

TEST(CommitPace, HoldingBackIsTriedAgainAndTrustedAgain) {
    CommitPace pace;
    hold_back(pace, CommitPace::kTrust, 0);
    hold_back(pace, CommitPace::kTryEvery - 1, 32);
    EXPECT_TRUE(pace.overlaps()) << "not yet";
    hold_back(pace, 2, 32);
    EXPECT_FALSE(pace.overlaps());
    EXPECT_TRUE(pace.delays(32, 10'001));
}

TEST(CommitPace, AnUndelayedCommitChangesNoEstimate) {
    CommitPace pace = pace_of(5000);
    for (unsigned i = 0; i < 2 * CommitPace::kTrust; ++i) {
        pace.began(1);
    }
    EXPECT_TRUE(pace.delays(32, 10'001));
}

}  // namespace
}  // namespace sluice
