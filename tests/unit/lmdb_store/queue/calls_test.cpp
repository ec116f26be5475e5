// The queue while a call to LMDB fails that is no write to the disk (fault_test covers those): a
// record is there if and only if it was acknowledged, and a restart serves again.
#include <lmdb.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/queue/fixture.hpp"

namespace sluice::store {
namespace {

class QueueCallsTest : public QueueTest {
protected:
    QueueCallsTest() { open(options_); }

    struct Met {
        bool struck = false;
        std::string name;
        std::vector<AppendItem> items;
    };
    /// A batch of a record without a key, one with a new key, a replay and a conflict.
    Met append_with(int nth, int error) {
        const std::string body = "body " + std::to_string(++bodies_);
        FailingCall call(kLmdb, nth, error);
        Met met;
        met.items =
            append({body, body, "old", "other"},
                   {std::nullopt, claim(body, body), claim("old", "old"), claim("old", "other")});
        call.disarm();
        met.struck = call.struck();
        met.name = call.name();
        expect_stored_exactly(met, body);
        return met;
    }
    void expect_stored_exactly(const Met& met, const std::string& body) {
        open(options_);
        const auto bodies = bodies_from(1);
        std::size_t expected = 0;
        for (const AppendItem& item : met.items) {
            EXPECT_NE(item.outcome, AppendOutcome::kPending) << met.name;
            expected += item.outcome == AppendOutcome::kStored ? 1 : 0;
        }
        const auto found = std::count(bodies.begin(), bodies.end(), body);
        const bool in_doubt = met.items[0].outcome == AppendOutcome::kInDoubt;
        EXPECT_TRUE(in_doubt || static_cast<std::size_t>(found) == expected)
            << met.name << ": " << found << " are there, " << expected << " were acknowledged";
        EXPECT_EQ(queue_->fill()->rows, bodies.size()) << met.name;
    }

    const QueueOptions options_{.map_bytes = 1U << 26, .idempotency_ttl_seconds = 60};
    int bodies_ = 0;
};

TEST_F(QueueCallsTest, AnswersMatchTheStoredRecords) {
    append({"old"}, {claim("old", "old")});
    for (const int error : {EIO, ENOSPC, ENOMEM, EAGAIN, MDB_MAP_FULL, MDB_TXN_FULL,
                            MDB_READERS_FULL, MDB_CORRUPTED, MDB_NOTFOUND}) {
        const int struck = fail_each([&](int nth) {
            const Met met = append_with(nth, error);
            for (const AppendItem& item : met.items) {
                EXPECT_NE(item.outcome, AppendOutcome::kTooLarge) << met.name;
            }
            if (!met.struck) {
                EXPECT_EQ(met.items[0].outcome, AppendOutcome::kStored);
                EXPECT_EQ(met.items[1].outcome, AppendOutcome::kStored);
                EXPECT_EQ(met.items[2].outcome, AppendOutcome::kReplayed);
                EXPECT_EQ(met.items[3].outcome, AppendOutcome::kConflict);
            }
            return met.struck;
        });
        EXPECT_GE(struck, 10) << error;
    }
}

/// The queue may refuse a known key as a new one only with an answer that makes the client retry.
TEST_F(QueueCallsTest, AReplayIsNeverStoredAgain) {
    append({"once"}, {claim("once", "once")});
    for (const int error : {EIO, ENOMEM, MDB_CORRUPTED, MDB_READERS_FULL}) {
        fail_each([&](int nth) {
            FailingCall call(kLmdb, nth, error);
            const auto items = append({"once"}, {claim("once", "once")});
            call.disarm();
            EXPECT_TRUE(items[0].outcome == AppendOutcome::kReplayed ||
                        items[0].outcome == AppendOutcome::kUnavailable)
                << call.name() << ": " << static_cast<int>(items[0].outcome);
            open(options_);
            EXPECT_EQ(bodies_from(1), std::vector<std::string>{"once"}) << call.name();
            return call.struck();
        });
    }
}

TEST_F(QueueCallsTest, ALookForAReplayThatFailsLeavesTheItemToAppend) {
    append({"once"}, {claim("once", "once")});
    EXPECT_GE(fail_each([&](int nth) {
                  AppendItem item;
                  item.claim = claim("once", "once");
                  FailingCall call(kLmdb, nth, EIO);
                  queue_->find_replay(item, kNow);
                  call.disarm();
                  EXPECT_EQ(item.outcome,
                            call.struck() ? AppendOutcome::kPending : AppendOutcome::kReplayed)
                      << call.name();
                  return call.struck();
              }),
              2);
}

TEST_F(QueueCallsTest, CallsOfTheWorkerSucceedOrAreRefused) {
    append({"a", "b", "c", "d"});
    const std::vector<std::function<bool()>> asked = {
        [&] { return queue_->read({1}, 10, 1000).ok(); },
        [&] { return queue_->fill().ok(); },
        [&] { return queue_->begin_drain({2}).ok(); },
        [&] { return queue_->trim({2}, 1).ok(); },
    };
    for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_GE(fail_each([&](int nth) {
                      queue_->control().publish_applied({3});
                      FailingCall call(kLmdb, nth, EIO);
                      const bool done = asked[i]();
                      call.disarm();
                      EXPECT_EQ(done, !call.struck()) << i << ": " << call.name();
                      const auto left = bodies_from(1);
                      EXPECT_EQ(left.size(), i == 3 && !call.struck() ? 3U : 4U) << call.name();
                      return call.struck();
                  }),
                  1)
            << i;
    }
}

TEST_F(QueueCallsTest, AQueueThatCouldNotBeOpenedCanBeOpenedLater) {
    append({"kept"});
    queue_.reset();
    for (const std::string_view family : {kLmdb, kSystem}) {
        for (const int error : {EIO, ENOMEM, EACCES}) {
            EXPECT_GE(fail_each([&](int nth) {
                          FailingCall call(family, nth, error);
                          const auto opened = Queue::open(paths_, options_);
                          call.disarm();
                          EXPECT_TRUE(opened.ok() || !opened.error().message.empty());
                          return call.struck();
                      }),
                      5);
        }
    }
    open(options_);
    EXPECT_EQ(bodies_from(1), std::vector<std::string>{"kept"});
}

}  // namespace
}  // namespace sluice::store
