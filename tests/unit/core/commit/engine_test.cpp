#include "core/commit/engine.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace sluice {
namespace {

using Do = CommitEngine::Do;

std::vector<Do> kinds(const CommitEngine::Actions& actions) {
    std::vector<Do> found;
    for (const CommitEngine::Action& action : actions) {
        found.push_back(action.what);
    }
    return found;
}

/// An engine and its requests, driven by hand.
struct Bench {
    Waiter& arrive(std::uint64_t ms, std::vector<Do> expected, std::uint64_t bytes = 1000) {
        Waiter& waiter = *waiters.emplace_back(std::make_unique<Waiter>());
        waiter.joined_ms = ms;
        waiter.bytes = bytes;
        CommitEngine::Actions actions;
        EXPECT_TRUE(engine.arrived(waiter, actions));
        EXPECT_EQ(kinds(actions), expected);
        return waiter;
    }
    /// A turn that begins a commit.
    void begin(std::uint64_t ms) {
        CommitEngine::Actions actions;
        engine.iteration_ended({ms, ms * 1000}, false, actions);
        EXPECT_EQ(kinds(actions), std::vector{Do::kStart});
    }
    std::vector<Do> turn(std::uint64_t ms, bool quitting = false) {
        CommitEngine::Actions actions;
        engine.iteration_ended({ms, ms * 1000}, quitting, actions);
        return kinds(actions);
    }
    std::vector<Do> committed(std::size_t batch, std::uint64_t us, std::uint64_t ms) {
        CommitEngine::Actions actions;
        engine.committed(batch, us, {ms, ms * 1000}, actions);
        return kinds(actions);
    }
    std::vector<Do> answered(std::size_t batch, std::uint64_t us, std::uint64_t ms) {
        CommitEngine::Actions actions;
        engine.answered(batch, us, {ms, ms * 1000}, false, actions);
        return kinds(actions);
    }

    CommitEngine engine;
    std::vector<std::unique_ptr<Waiter>> waiters;
};

const std::vector<Do> kNothing;

TEST(CommitEngine, ALoneRequestIsCommittedAtTheEndOfItsTurn) {
    Bench bench;
    Waiter& waiter = bench.arrive(5, {Do::kRunAtIterationEnd});
    bench.begin(5);
    const WaiterChain taken = bench.engine.take(0);
    EXPECT_EQ(taken.first, &waiter);
    EXPECT_EQ(taken.count, 1U);
    EXPECT_TRUE(bench.engine.in_flight());
    EXPECT_EQ(bench.committed(0, 300, 6), kNothing);
    EXPECT_EQ(bench.answered(0, 5, 6), kNothing);
    EXPECT_FALSE(bench.engine.in_flight());
}

TEST(CommitEngine, RequestsOfOneIterationShareACommit) {
    Bench bench;
    bench.arrive(5, {Do::kRunAtIterationEnd});
    bench.arrive(5, {Do::kRunAtIterationEnd});
    bench.begin(5);
    bench.arrive(5, {Do::kSetWaitTimer});  // announced, not taken yet
    EXPECT_EQ(bench.engine.take(0).count, 3U);
}

TEST(CommitEngine, TheNextCommitIsAnnouncedWhileOneWorks) {
    Bench bench;
    bench.arrive(5, {Do::kRunAtIterationEnd});
    bench.begin(5);
    static_cast<void>(bench.engine.take(0));
    bench.arrive(6, {Do::kSetWaitTimer, Do::kStart});
    bench.arrive(7, {});
    EXPECT_EQ(bench.committed(0, 300, 7), kNothing);
    EXPECT_EQ(bench.answered(0, 5, 7), kNothing);
    EXPECT_EQ(bench.engine.take(1).count, 2U);
    EXPECT_EQ(bench.committed(1, 300, 8), kNothing);
    EXPECT_EQ(bench.answered(1, 5, 8), std::vector{Do::kClearWaitTimer});
}

TEST(CommitEngine, ABatchHasItsLimits) {
    Bench bench;
    for (std::size_t i = 0; i < CommitEngine::kBatchRequestsMax + 1; ++i) {
        bench.arrive(5, {Do::kRunAtIterationEnd});
    }
    EXPECT_EQ(bench.turn(5), (std::vector{Do::kSetWaitTimer, Do::kStart}));
    EXPECT_EQ(bench.engine.take(0).count, CommitEngine::kBatchRequestsMax);
    EXPECT_EQ(bench.engine.waiting(), 1U);

    Bench large;
    for (int i = 0; i < 3; ++i) {
        large.arrive(5, {Do::kRunAtIterationEnd}, CommitEngine::kBatchBytesMax / 2);
    }
    EXPECT_EQ(large.turn(5), (std::vector{Do::kSetWaitTimer, Do::kStart}));
    EXPECT_EQ(large.engine.take(0).count, 2U);
}

/// A slow commit answers first, and is then not forgotten.
TEST(CommitEngine, RequestsBeyondAFullBatchGoWithTheNextCommit) {
    Bench bench;
    bench.arrive(5, {Do::kRunAtIterationEnd}, CommitEngine::kBatchBytesMax);
    bench.arrive(5, {Do::kRunAtIterationEnd}, CommitEngine::kBatchBytesMax);
    EXPECT_EQ(bench.turn(5), (std::vector{Do::kSetWaitTimer, Do::kStart}));
    EXPECT_EQ(bench.engine.take(0).count, 1U);
    const std::vector<Do> before_answers = bench.committed(0, 900'000, 905);
    const std::vector<Do> after_answers = bench.answered(0, 1, 905);
    EXPECT_EQ(before_answers.size() + after_answers.size(), 1U) << "it is asked to go on";
    if (before_answers.empty() && after_answers[0] == Do::kRunNextIteration) {
        EXPECT_EQ(bench.turn(2000), std::vector{Do::kStart});
    }
    EXPECT_EQ(bench.engine.take(1 - (before_answers.empty() ? 1U : 0U)).count, 1U);
}

TEST(CommitEngine, UnstartedBatchIsReturnedAtOnce) {
    Bench bench;
    bench.arrive(5, {Do::kRunAtIterationEnd});
    bench.begin(5);
    EXPECT_EQ(bench.engine.not_started(0).count, 1U);
    bench.arrive(5, {Do::kRunAtIterationEnd});  // while the first is answered
    CommitEngine::Actions actions;
    bench.engine.answered_unstored(0, actions);
    EXPECT_EQ(kinds(actions), std::vector{Do::kRunAtIterationEnd});
    bench.begin(6);
    EXPECT_EQ(bench.engine.take(0).count, 1U);
}

TEST(CommitEngine, ArrivalIsRefusedBehindACommitThatHangs) {
    Bench bench;
    bench.arrive(10, {Do::kRunAtIterationEnd});
    bench.begin(10);
    static_cast<void>(bench.engine.take(0));
    Waiter late;
    late.joined_ms = 10 + CommitEngine::kWaitMaxMs;
    CommitEngine::Actions actions;
    EXPECT_FALSE(bench.engine.arrived(late, actions));
    EXPECT_EQ(kinds(actions), kNothing);
    late.joined_ms -= 1;
    EXPECT_TRUE(bench.engine.arrived(late, actions));
}

TEST(CommitEngine, OnlyOverdueRequestsAreReturned) {
    Bench bench;
    bench.arrive(10, {Do::kRunAtIterationEnd});
    bench.begin(10);
    static_cast<void>(bench.engine.take(0));
    Waiter& first = bench.arrive(20, {Do::kSetWaitTimer, Do::kStart});
    bench.arrive(21, {});
    CommitEngine::Actions actions;
    const WaiterChain late = bench.engine.overdue(20 + CommitEngine::kWaitMaxMs, actions);
    EXPECT_EQ(late.first, &first);
    EXPECT_EQ(late.count, 1U);
    EXPECT_EQ(first.next, nullptr);
    ASSERT_EQ(kinds(actions), std::vector{Do::kSetWaitTimer});
    EXPECT_EQ(actions.begin()->value, 1U);
    EXPECT_EQ(bench.engine.take(1).count, 1U);
}

TEST(CommitEngine, ACommitWithoutWaitersDoesNothing) {
    Bench bench;
    bench.arrive(10, {Do::kRunAtIterationEnd});
    bench.begin(10);
    CommitEngine::Actions actions;
    EXPECT_EQ(bench.engine.overdue(10 + CommitEngine::kWaitMaxMs, actions).count, 1U);
    EXPECT_EQ(bench.engine.take(0).count, 0U);
    EXPECT_EQ(bench.committed(0, 0, 3011), kNothing);
    EXPECT_EQ(bench.answered(0, 0, 3011), kNothing);
    bench.arrive(3012, {Do::kRunAtIterationEnd});
    bench.begin(3012);
}

/// One commit of 5 ms, answered at 25 ms, with one of its two requests there again.
void hold_back(Bench& bench) {
    bench.arrive(20, {Do::kRunAtIterationEnd});
    bench.arrive(20, {Do::kRunAtIterationEnd});
    bench.begin(20);
    static_cast<void>(bench.engine.take(0));
    EXPECT_EQ(bench.committed(0, 5000, 25), kNothing);
    EXPECT_EQ(bench.answered(0, 10, 25), kNothing);
    bench.arrive(25, {Do::kRunAtIterationEnd});
}

TEST(CommitEngine, TheNextCommitIsDelayedForAnsweredClients) {
    Bench bench;
    hold_back(bench);
    EXPECT_EQ(bench.turn(25), (std::vector{Do::kSetWaitTimer, Do::kRunNextIteration}));
    bench.arrive(25, {Do::kRunAtIterationEnd});
    EXPECT_EQ(bench.turn(25), std::vector{Do::kStart});
    EXPECT_EQ(bench.engine.take(0).count, 2U);
}

TEST(CommitEngine, AQuittingProcessDelaysNoCommit) {
    Bench bench;
    hold_back(bench);
    EXPECT_EQ(bench.turn(25, true), std::vector{Do::kStart});
}

}  // namespace
}  // namespace sluice
