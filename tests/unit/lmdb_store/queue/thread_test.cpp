// The queue with one thread that appends and others that look, read and trim meanwhile.
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <thread>

#include "unit/lmdb_store/queue/fixture.hpp"

namespace sluice::store {
namespace {

class QueueThreadTest : public QueueTest {
protected:
    /// Calls `look` on a thread of its own until `done`.
    std::thread meanwhile(std::function<void()> look) {
        return std::thread([this, look = std::move(look)] {
            while (!done_.load()) {
                look();
            }
        });
    }
    std::atomic<bool> done_{false};
};

TEST_F(QueueThreadTest, AppendsContinueWhileOthersCheckReadAndTrim) {
    constexpr std::uint64_t kBatches = 300;
    open({.map_bytes = 8U << 20, .sync = false, .idempotency_ttl_seconds = 60});
    std::atomic<std::uint64_t> read_upto{0};
    std::vector<std::thread> others;
    others.push_back(meanwhile([&] { static_cast<void>(queue_->closed_reason()); }));
    others.push_back(meanwhile([&] {
        EXPECT_TRUE(queue_->still_in_place());
        EXPECT_TRUE(queue_->fill().ok());
    }));
    others.push_back(meanwhile([&] {
        const std::uint64_t from = read_upto.load() + 1;
        const auto records = queue_->read({from}, 100, 1U << 20);
        ASSERT_TRUE(records.ok());
        std::uint64_t expected = from;
        for (const QueuedRecord& record : *records) {
            ASSERT_EQ(record.seq.value, expected++);
        }
        read_upto.store(expected - 1);
        queue_->control().publish_applied({expected - 1});
        ASSERT_TRUE(queue_->trim({expected - 1}, 10).ok());
    }));
    std::uint64_t stored = 0;
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
        const std::string key = "key" + std::to_string(batch / 2);
        const auto items = append({std::string(2000, 'x'), "y", "body"},
                                  {std::nullopt, std::nullopt, claim(key, "body")});
        for (const AppendItem& item : items) {
            ASSERT_THAT(item.outcome,
                        testing::AnyOf(AppendOutcome::kStored, AppendOutcome::kReplayed,
                                       AppendOutcome::kFull));
            stored += item.outcome == AppendOutcome::kStored ? 1U : 0U;
        }
    }
    for (int tries = 0; tries < 30'000 && read_upto.load() < stored; ++tries) {
        ::usleep(1000);
    }
    done_.store(true);
    for (std::thread& other : others) {
        other.join();
    }
    EXPECT_EQ(read_upto.load(), stored);
    EXPECT_EQ(queue_->fill()->last_seq.value, stored);
}

}  // namespace
}  // namespace sluice::store
