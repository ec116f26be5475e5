// A queue in a temporary store, and short words to fill and read it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lmdb_store/queue/queue.hpp"
#include "os/clock/clock.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {

/// Owns what a batch points at.
class TestBatch {
public:
    explicit TestBatch(std::vector<std::string> bodies,
                       const std::vector<std::optional<IdempotencyClaim>>& claims = {},
                       Timestamp now = kNow)
        : bodies_(std::move(bodies)), envelopes_(bodies_.size()), items_(bodies_.size()) {
        for (std::size_t i = 0; i < bodies_.size(); ++i) {
            RecordMeta meta;
            meta.account_id = "acme";
            meta.shop_id = "shop";
            meta.received_at = now;
            envelopes_[i].encode(meta, bodies_[i]);
            items_[i].prefix = envelopes_[i].prefix();
            items_[i].body = bodies_[i];
            items_[i].received_at = now;
            if (i < claims.size()) {
                items_[i].claim = claims[i];
            }
        }
    }
    std::vector<AppendItem>& items() { return items_; }

private:
    std::vector<std::string> bodies_;
    std::vector<RecordEnvelope> envelopes_;
    std::vector<AppendItem> items_;
};

class QueueTest : public testing::Test {
protected:
    QueueTest() { open({}); }

    /// As a worker of a new nginx master does.
    void open(const QueueOptions& options) {
        queue_.reset();
        auto opened = Queue::open(paths_, options);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        queue_ = std::move(*opened);
        queue_->control().opened_by_master(boot_ms() + 1);
    }
    /// Appends bodies as one batch, each with the claim of the same place if there is one.
    std::vector<AppendItem> append(std::vector<std::string> bodies,
                                   const std::vector<std::optional<IdempotencyClaim>>& claims = {},
                                   Timestamp now = kNow) {
        TestBatch batch(std::move(bodies), claims, now);
        queue_->append(batch.items(), now);
        return batch.items();
    }
    static IdempotencyClaim claim(std::string_view key, std::string_view body,
                                  std::uint32_t count = 3) {
        return {{7}, key, Topic::kProductUpsert, sha256(body), count};
    }
    static std::vector<std::string> bodies_from(Queue& queue, std::uint64_t from) {
        std::vector<std::string> bodies;
        for (;;) {
            auto records = queue.read({from}, 1000, 1U << 20);
            EXPECT_TRUE(records.ok());
            if (!records.ok() || records->empty()) {
                return bodies;
            }
            for (const QueuedRecord& record : *records) {
                const auto view = decode_record(record.bytes);
                EXPECT_TRUE(view.ok());
                bodies.emplace_back(view->body);
                from = record.seq.value + 1;
            }
        }
    }
    std::vector<std::string> bodies_from(std::uint64_t from) { return bodies_from(*queue_, from); }

    /// Appends `body` until the queue takes no more. How many it took.
    std::uint64_t append_until_closed(const std::string& body) {
        std::uint64_t stored = 0;
        while (stored < 100'000 && append({body})[0].outcome == AppendOutcome::kStored) {
            ++stored;
        }
        return stored;
    }
    void trim_all(std::uint64_t upto) {
        for (;;) {
            const auto slice = queue_->trim({upto}, 500);
            ASSERT_TRUE(slice.ok()) << slice.error().message;
            if (*slice == 0) {
                return;
            }
        }
    }

    TempStore store_;
    const StorePaths& paths_ = store_.paths();
    std::unique_ptr<Queue> queue_;
};

}  // namespace sluice::store
