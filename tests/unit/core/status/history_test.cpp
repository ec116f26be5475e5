#include "core/status/history.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace sluice {
namespace {

struct Recorded {
    std::unique_ptr<MetricsBlock[]> block = std::make_unique<MetricsBlock[]>(1);
    std::unique_ptr<SharedHistory> history = std::make_unique<SharedHistory>();
    std::vector<HistoryPoint> points;

    bool offer(std::uint64_t now_ms, std::uint64_t depth = 0) {
        return history->offer(sum_metrics({block.get(), 1}), depth, now_ms);
    }
    void accept(int count) {
        for (int i = 0; i < count; ++i) {
            block[0].count_request(Endpoint::kEvents, Outcome::kAccepted, Reason::kNone, 1);
        }
    }
    const std::vector<HistoryPoint>& read() {
        history->read(points);
        return points;
    }
};

TEST(StatusHistory, TheFirstPointCountsNothingBeforeIt) {
    Recorded recorded;
    recorded.accept(100);
    ASSERT_TRUE(recorded.offer(1'000'000, 7));
    ASSERT_EQ(recorded.read().size(), 1u);
    EXPECT_EQ(recorded.points[0].accepted_events, 0u);
    EXPECT_EQ(recorded.points[0].span_ms, 0u);
    EXPECT_EQ(recorded.points[0].queue_depth, 7u);
}

TEST(StatusHistory, APointCountsRequestsSinceTheLast) {
    Recorded recorded;
    recorded.offer(1'000'000);
    recorded.accept(30);
    recorded.block[0].count_request(Endpoint::kCatalog, Outcome::kInvalid, Reason::kFields, 1);
    recorded.block[0].count_request(Endpoint::kEvents, Outcome::kUnavailable, Reason::kQueueFull,
                                    1);
    recorded.block[0].count_commit(40, 30);
    EXPECT_FALSE(recorded.offer(1'000'000 + kHistoryPeriodMs - 1));
    ASSERT_TRUE(recorded.offer(1'000'000 + kHistoryPeriodMs));
    const HistoryPoint& point = recorded.read().back();
    EXPECT_EQ(point.span_ms, kHistoryPeriodMs);
    EXPECT_EQ(point.accepted_events, 30u);
    EXPECT_EQ(point.refused, 1u);
    EXPECT_EQ(point.failed, 1u);
    EXPECT_EQ(point.commits, 1u);
    EXPECT_GT(point.commit_p99_us, 20u);
    EXPECT_LE(point.commit_p99_us, 50u);
}

TEST(StatusHistory, KeepsTheNewestPointsInOrder) {
    Recorded recorded;
    const std::uint64_t start = 1'000'000;
    for (std::uint64_t i = 0; i < kHistoryPoints + 20; ++i) {
        ASSERT_TRUE(recorded.offer(start + i * kHistoryPeriodMs, i));
    }
    const auto& points = recorded.read();
    ASSERT_EQ(points.size(), kHistoryPoints - 1);
    EXPECT_EQ(points.back().queue_depth, kHistoryPoints + 19);
    for (std::size_t i = 1; i < points.size(); ++i) {
        EXPECT_EQ(points[i].queue_depth, points[i - 1].queue_depth + 1);
    }
}

TEST(StatusHistory, ContinuesAfterTheClockSteppedBack) {
    Recorded recorded;
    recorded.offer(1'000'000'000);
    recorded.accept(5);
    EXPECT_TRUE(recorded.offer(1'000'000));
    EXPECT_EQ(recorded.read().back().span_ms, 0u);
    EXPECT_FALSE(recorded.offer(1'000'001));
    EXPECT_TRUE(recorded.offer(1'000'000 + kHistoryPeriodMs));
}

}  // namespace
}  // namespace sluice
