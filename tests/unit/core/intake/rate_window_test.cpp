#include "core/intake/rate_window.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace sluice {
namespace {

constexpr RateLimit kThreePerMinute{3, 60};

TEST(RateRules, WindowsAreAlignedToTheEpoch) {
    for (const std::int64_t now : {120, 121, 150, 179}) {
        const RateStep step = count_request(0, kThreePerMinute, now);
        EXPECT_EQ(step.verdict.reset_second, 180) << now;
        EXPECT_EQ(step.verdict.retry_after, static_cast<std::uint32_t>(180 - now));
    }
    EXPECT_EQ(count_request(0, {1, 7}, 1'700'000'000).verdict.reset_second % 7, 0);
}

TEST(RateRules, ExactlyTheLimitIsAllowedAndRemainingCountsDownToZero) {
    std::uint64_t word = 0;
    for (const auto& [allowed, remaining] : std::vector<std::pair<bool, std::uint32_t>>{
             {true, 2}, {true, 1}, {true, 0}, {false, 0}, {false, 0}}) {
        const RateStep step = count_request(word, kThreePerMinute, 130);
        EXPECT_EQ(step.verdict.allowed, allowed);
        EXPECT_EQ(step.verdict.remaining, remaining);
        EXPECT_EQ(step.verdict.limit, 3U);
        EXPECT_EQ(step.verdict.reset_second, 180);
        word = step.word;
    }
}

TEST(RateRules, EverySecondOfAWindowIsOfTheSameWindow) {
    std::uint64_t word = 0;
    for (const std::int64_t now : {120, 121, 178, 179}) {
        const RateStep step = count_request(word, kThreePerMinute, now);
        EXPECT_EQ(step.verdict.allowed, now != 179) << now;
        EXPECT_EQ(step.verdict.reset_second, 180) << now;
        word = step.word;
    }
    EXPECT_EQ(count_request(word, kThreePerMinute, 180).verdict.remaining, 2U);
}

TEST(RateRules, RefusedRequestsDoNotLengthenTheWindow) {
    std::uint64_t word = 0;
    for (int i = 0; i < 1000; ++i) {
        word = count_request(word, kThreePerMinute, 130 + i % 50).word;
    }
    const RateStep next = count_request(word, kThreePerMinute, 180);
    EXPECT_TRUE(next.verdict.allowed);
    EXPECT_EQ(next.verdict.remaining, 2U);
    EXPECT_EQ(next.verdict.reset_second, 240);
}

TEST(RateRules, ThePartsOfTheNodesAddUpToTheLimit) {
    for (std::uint32_t nodes = 1; nodes <= 40; ++nodes) {
        for (std::uint32_t limit = nodes; limit <= 200; ++limit) {
            std::uint64_t sum = 0;
            for (std::uint32_t index = 1; index <= nodes; ++index) {
                const RateLimit part = node_part({limit, 60}, {index, nodes});
                EXPECT_EQ(part.window_seconds, 60U);
                EXPECT_EQ(part.requests, (limit + nodes - index) / nodes);
                sum += part.requests;
            }
            ASSERT_EQ(sum, limit) << nodes;
        }
    }
    EXPECT_EQ(node_part({268'435'455, 60}, {1, 2}).requests, 134'217'728U);
    EXPECT_EQ(node_part({268'435'455, 60}, {2, 2}).requests, 134'217'727U);
}

TEST(RateRules, NoNodeShutsAnAccountOut) {
    EXPECT_EQ(node_part({2, 60}, {3, 3}).requests, 1U);
    EXPECT_EQ(node_part({1, 60}, {1000, 1000}).requests, 1U);
}

TEST(RateRules, NoLimitHasNoParts) {
    EXPECT_EQ(node_part({0, 60}, {1, 3}).requests, 0U);
    EXPECT_EQ(node_part({7, 60}, {0, 0}).requests, 7U);
    EXPECT_EQ(node_part({7, 60}, {1, 1}).requests, 7U);
}

TEST(RateRules, RetryAfterIsAtLeastOne) {
    EXPECT_EQ(count_request(0, kThreePerMinute, 179).verdict.retry_after, 1U);
    EXPECT_EQ(count_request(0, {1, 1}, 100).verdict.retry_after, 1U);
}

TEST(RateRules, AChangedLimitKeepsTheUsedCount) {
    std::uint64_t word = 0;
    for (int i = 0; i < 3; ++i) {
        word = count_request(word, kThreePerMinute, 130).word;
    }
    EXPECT_FALSE(count_request(word, kThreePerMinute, 131).verdict.allowed);
    EXPECT_EQ(count_request(word, {10, 60}, 131).verdict.remaining, 6U);
    EXPECT_FALSE(count_request(word, {2, 60}, 131).verdict.allowed);
    EXPECT_EQ(count_request(word, {2, 60}, 131).verdict.remaining, 0U);
}

TEST(RateRules, AChangedLengthKeepsTheCountAndMovesTheEnd) {
    const std::uint64_t word = count_request(0, kThreePerMinute, 130).word;  // Ends at 180.
    const RateStep longer = count_request(word, {3, 3600}, 131);
    EXPECT_EQ(longer.verdict.reset_second, 3600);
    EXPECT_EQ(longer.verdict.remaining, 1U);
    const RateStep shorter = count_request(word, {3, 10}, 131);
    EXPECT_EQ(shorter.verdict.reset_second, 140);
    EXPECT_EQ(shorter.verdict.remaining, 1U);
}

TEST(RateRules, AWorkerWithALaggingClockCountsInTheNewWindow) {
    const std::uint64_t word = count_request(0, kThreePerMinute, 180).word;  // Ends at 240.
    for (const std::int64_t now : {178, 179}) {
        const RateStep lagging = count_request(word, kThreePerMinute, now);
        EXPECT_EQ(lagging.verdict.reset_second, 240) << now;
        EXPECT_EQ(lagging.verdict.remaining, 1U);
        EXPECT_EQ(lagging.verdict.retry_after, static_cast<std::uint32_t>(240 - now));
    }
}

TEST(RateRules, AClockThatSteppedBackCannotExtendTheWindow) {
    const std::uint64_t word = count_request(0, kThreePerMinute, 1'000'000).word;
    for (const std::int64_t back : {3, 61, 3600, 900'000}) {
        const RateStep step = count_request(word, kThreePerMinute, 1'000'000 - back);
        EXPECT_LE(step.verdict.reset_second, 1'000'000 - back + 60 + 2) << back;
        EXPECT_EQ(step.verdict.remaining, 1U) << "the count is kept";
    }
}

TEST(RateRules, TheCountSaturates) {
    constexpr std::uint64_t kCountMax = (1U << 28) - 1;
    const std::uint64_t word = std::uint64_t{180} << 28 | kCountMax;
    const RateStep step = count_request(word, kThreePerMinute, 130);
    EXPECT_EQ(step.word, word);
    EXPECT_FALSE(step.verdict.allowed);
}

TEST(RateRules, AnyWordAndAnyClockGiveAVerdictWithinTheWindow) {
    std::mt19937_64 random(123);
    for (int i = 0; i < 200'000; ++i) {
        const RateLimit limit{1 + static_cast<std::uint32_t>(random() % 1000),
                              1 + static_cast<std::uint32_t>(random() % 86'400)};
        const auto now = static_cast<std::int64_t>(random() >> (1 + random() % 63));
        const RateStep step = count_request(random() >> (random() % 64), limit, now);
        EXPECT_LE(step.verdict.remaining, limit.requests);
        EXPECT_GE(step.verdict.retry_after, 1U);
        EXPECT_LE(step.verdict.retry_after, limit.window_seconds + 2);
        EXPECT_EQ(step.verdict.reset_second, static_cast<std::int64_t>(step.word >> 28));
    }
}

TEST(RateRules, UseIsShownUntilTheWindowEnds) {
    std::uint64_t word = 0;
    for (int i = 0; i < 3; ++i) {
        word = count_request(word, {10, 60}, 130).word;
    }
    EXPECT_EQ(rate_use(word, 130).used, 3U);
    EXPECT_EQ(rate_use(word, 130).reset_second, 180);
    EXPECT_EQ(rate_use(word, 179).used, 3U);
    EXPECT_EQ(rate_use(word, 180).used, 0U);
    EXPECT_EQ(rate_use(0, 130).used, 0U);
}

TEST(RateRules, CountingFromManyThreadsIsExact) {
    std::atomic<std::uint64_t> word = 0;
    std::atomic<int> allowed = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 5000; ++i) {
                allowed += count_request(word, {1234, 60}, 130).allowed ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(allowed, 1234);
    EXPECT_EQ(word & ((1U << 28) - 1), 20'000U);
}

}  // namespace
}  // namespace sluice
