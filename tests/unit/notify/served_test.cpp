#include "notify/served.hpp"

#include <gtest/gtest.h>

namespace sluice::notify {
namespace {

constexpr std::uint64_t kReadAt = 1'700'000'000'000, kReadPause = 1000, kSetBack = 3'600'000;
constexpr std::uint64_t kEntries = 1;  ///< The account has one entry, and none was read.

/// A destination whose first read failed at kReadAt.
Served after_failed_read() {
    Served served({}, {}, {});
    std::optional<FeedOrder> order = served.next_read(kEntries, kReadAt);
    EXPECT_TRUE(order);
    FeedBatch batch;
    batch.order = *std::move(order);
    batch.error = Error{ErrorCode::kIo, "the ledger cannot be read"};
    EXPECT_EQ(served.took(std::move(batch), kReadAt), "");
    return served;
}

TEST(Served, ReadsAgainASecondAfterAReadFailed) {
    Served served = after_failed_read();
    EXPECT_FALSE(served.next_read(kEntries, kReadAt));
    EXPECT_FALSE(served.next_read(kEntries, kReadAt + kReadPause - 1));
    EXPECT_TRUE(served.next_read(kEntries, kReadAt + kReadPause));
}

TEST(Served, AClockThatIsSetBackDelaysNoRead) {
    Served served = after_failed_read();
    EXPECT_TRUE(served.next_read(kEntries, kReadAt - kSetBack));
}

}  // namespace
}  // namespace sluice::notify
