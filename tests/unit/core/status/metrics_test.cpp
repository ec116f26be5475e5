#include "core/status/metrics.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace sluice {
namespace {

std::unique_ptr<MetricsBlock[]> zeroed(std::size_t count) {
    return std::make_unique<MetricsBlock[]>(count);
}

TEST(Metrics, AnEmptyZoneHasEveryBoundAndNoCounts) {
    const auto blocks = zeroed(2);
    const MetricsSnapshot sum = sum_metrics({blocks.get(), 2});
    EXPECT_EQ(sum.commit_us.bounds.size(), kCommitBoundsUs.size());
    EXPECT_EQ(sum.commit_us.count, 0u);
    EXPECT_EQ(sum.of(Endpoint::kEvents).requests(), 0u);
    EXPECT_EQ(sum.commit_us.quantile(99), 0);
}

TEST(Metrics, BlocksOfWorkersAreAddedUp) {
    const auto blocks = zeroed(3);
    blocks[0].count_request(Endpoint::kEvents, Outcome::kAccepted, Reason::kNone, 3);
    blocks[2].count_request(Endpoint::kEvents, Outcome::kAccepted, Reason::kNone, 4);
    blocks[1].count_request(Endpoint::kCatalog, Outcome::kUnauthorized, Reason::kTokenScope, 1);
    blocks[1].count_commit(150, 64);

    const MetricsSnapshot sum = sum_metrics({blocks.get(), 3});
    EXPECT_EQ(sum.of(Endpoint::kEvents).of(Outcome::kAccepted), 2u);
    EXPECT_EQ(sum.of(Endpoint::kEvents).request_ms.sum, 7u);
    EXPECT_EQ(sum.of(Endpoint::kCatalog).of(Outcome::kUnauthorized), 1u);
    EXPECT_EQ(sum.of(Endpoint::kCatalog).reasons[static_cast<std::size_t>(Reason::kTokenScope)],
              1u);
    EXPECT_EQ(sum.commit_us.count, 1u);
    EXPECT_EQ(sum.commit_requests.sum, 64u);
}

TEST(Metrics, ABoundBelongsToItsBucket) {
    SharedHistogram<kBatchBounds> histogram{};
    histogram.observe(1);
    histogram.observe(2);
    histogram.observe(3);
    histogram.observe(1024);
    histogram.observe(1025);
    EXPECT_EQ(histogram.buckets[0], 1u);
    EXPECT_EQ(histogram.buckets[1], 1u);
    EXPECT_EQ(histogram.buckets[2], 1u);
    EXPECT_EQ(histogram.buckets[kBatchBounds.size() - 1], 1u);
    EXPECT_EQ(histogram.buckets[kBatchBounds.size()], 1u);
    EXPECT_EQ(histogram.sum, 1u + 2 + 3 + 1024 + 1025);
}

TEST(Metrics, QuantilesInterpolateAndEndAtTheLastBound) {
    const auto blocks = zeroed(1);
    for (int i = 0; i < 100; ++i) {
        blocks[0].count_commit(i < 50 ? 15 : 40, 1);
    }
    const HistogramValues low = sum_metrics({blocks.get(), 1}).commit_us;
    EXPECT_DOUBLE_EQ(low.quantile(25), 10);
    EXPECT_DOUBLE_EQ(low.quantile(75), 35);

    blocks[0].count_commit(60'000'000, 1);
    const HistogramValues high = sum_metrics({blocks.get(), 1}).commit_us;
    EXPECT_DOUBLE_EQ(high.quantile(100), kCommitBoundsUs.back());
}

TEST(Metrics, NothingIsLostWhenThreadsCountAtOnce) {
    const auto blocks = zeroed(1);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 10'000; ++i) {
                blocks[0].count_request(Endpoint::kEvents, Outcome::kLimited, Reason::kRateLimited,
                                        0);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(sum_metrics({blocks.get(), 1}).of(Endpoint::kEvents).of(Outcome::kLimited), 40'000u);
}

}  // namespace
}  // namespace sluice
