// When other threads help the one that applies: decision 9.
#include "worker/drain/applying.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "unit/worker/drain/fixture.hpp"

namespace sluice::worker {
namespace {

Applying::Options batches_of(std::size_t records, std::uint64_t help_from, unsigned threads) {
    Applying::Options options;
    options.batch.records_max = records;
    options.read_bytes_max = std::size_t{32} << 20;
    options.threads = threads;
    options.help_from = help_from;
    return options;
}

/// Applies what waits, and returns whether threads helped with each batch.
std::vector<bool> apply_all(Applying& applying) {
    std::vector<bool> helped;
    for (;;) {
        const auto step = applying.step();
        EXPECT_TRUE(step.ok()) << (step ? "" : step.error().message);
        if (!step || !step->worked) {
            return helped;
        }
        helped.push_back(applying.is_helped());
    }
}

TEST(Applying, ThreadsHelpFromABacklogUntilLessThanABatchWaits) {
    DrainStore store;
    Applying applying(store.paths(), store.queue(), store.opener(), batches_of(10, 50, 1), {});
    ASSERT_TRUE(applying.open().ok());
    store.orders(1, 45);
    EXPECT_EQ(apply_all(applying), std::vector<bool>(5, false));
    store.orders(100, 65);
    EXPECT_EQ(apply_all(applying), (std::vector<bool>{true, true, true, true, true, true, false}));
    store.orders(200, 40);
    EXPECT_EQ(apply_all(applying), std::vector<bool>(4, false));
    EXPECT_EQ(applying.head().totals.orders, 150U);
}

TEST(Applying, WithoutThreadsNoneHelp) {
    DrainStore store;
    Applying applying(store.paths(), store.queue(), store.opener(), batches_of(10, 0, 0), {});
    ASSERT_TRUE(applying.open().ok());
    store.orders(1, 30);
    EXPECT_EQ(apply_all(applying), std::vector<bool>(3, false));
}

}  // namespace
}  // namespace sluice::worker
