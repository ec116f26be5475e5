#include "lmdb_store/destinations/destination_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lmdb_store/environment/table_access.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using Mode = DestinationStore::Mode;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kNowMs = 1'700'000'000'000;
const std::string kOwnerId = "0e5c0000-0000-4000-8000-000000000001";

std::unique_ptr<DestinationStore> open_destinations(const TempStore& store) {
    EXPECT_TRUE(DestinationStore::create(store.paths()).ok());
    auto opened = DestinationStore::open(store.paths(), Mode::kWrite);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(opened).value();
}

StoredDestination destination(const std::string& id) {
    StoredDestination row;
    row.destination.id = id;
    row.destination.uuid = "uuid of " + id;
    row.destination.account_id = AccountId("acme");
    row.destination.account = AccountNumber{7};
    row.destination.url = "https://hooks.example.com/x";
    row.destination.types = {"order.attributed", "payout.paid"};
    row.destination.allowed_blocks = {"10.1.0.0/16"};
    row.destination.secret = std::string("sealed\0bytes", 12);
    row.destination.restart = lists::FeedPlace{{kOwnerId, {3, {1, 2, 3}}}};
    row.progress.place[kOwnerId] = {41, {9, 8, 7}};
    row.progress.entries = 50;
    return row;
}

PendingChange change(std::uint64_t last, std::uint64_t due = 0) {
    PendingChange row;
    row.change = {kOwnerId, last};
    row.shop = ShopNumber{2};
    row.order_id = OrderId("o1");
    row.order_change = last;
    row.due = due;
    return row;
}

DestinationStep step_of(const StoredDestination& row) {
    DestinationStep step;
    step.id = row.destination.id;
    step.uuid = row.destination.uuid;
    step.revision = row.destination.revision;
    step.progress = row.progress;
    return step;
}

Attempt attempt_at(std::uint64_t at) {
    Attempt attempt;
    attempt.at = at;
    attempt.destination = "one";
    attempt.change = {kOwnerId, at};
    attempt.outcome = AttemptOutcome::kRetry;
    attempt.error = "answered 503";
    return attempt;
}

std::vector<std::uint64_t> log_times(DestinationStore& store) {
    std::vector<std::uint64_t> times;
    EXPECT_TRUE(store
                    .scan_attempts([&times](const Attempt& one) {
                        times.push_back(one.at);
                        return true;
                    })
                    .ok());
    return times;
}

TEST(DestinationStore, ADestinationIsReadAsItWasAdded) {
    const TempStore store;
    const auto opened = open_destinations(store);
    const StoredDestination added = destination("one");
    ASSERT_TRUE(opened->add(added).ok());
    const auto found = opened->find("one");
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->destination.url, added.destination.url);
    EXPECT_EQ(found->destination.types, added.destination.types);
    EXPECT_EQ(found->destination.allowed_blocks, added.destination.allowed_blocks);
    EXPECT_EQ(found->destination.secret, added.destination.secret);
    EXPECT_EQ(found->destination.restart, added.destination.restart);
    EXPECT_EQ(found->destination.account, added.destination.account);
    EXPECT_EQ(found->progress.place, added.progress.place);
    EXPECT_EQ(lag_of(found->progress), 9U);
}

TEST(DestinationStore, ASecondDestinationOfTheSameIdIsRefused) {
    const TempStore store;
    const auto opened = open_destinations(store);
    ASSERT_TRUE(opened->add(destination("one")).ok());
    EXPECT_EQ(opened->add(destination("one")).error().code, ErrorCode::kConflict);
}

TEST(DestinationStore, AtMostAHundredDestinationsAreTaken) {
    const TempStore store;
    const auto opened = open_destinations(store);
    for (std::size_t i = 0; i < kDestinationsMax; ++i) {
        ASSERT_TRUE(opened->add(destination("d" + std::to_string(i))).ok());
    }
    EXPECT_EQ(opened->add(destination("more")).error().code, ErrorCode::kLimit);
    ASSERT_TRUE(opened->remove("d0").ok());
    EXPECT_TRUE(opened->add(destination("more")).ok());
}

TEST(DestinationStore, AStepKeepsUnfinishedChangesAndForgetsFinishedOnes) {
    const TempStore store;
    const auto opened = open_destinations(store);
    const StoredDestination row = destination("one");
    ASSERT_TRUE(opened->add(row).ok());
    DestinationStep step = step_of(row);
    step.put = {change(1), change(2, kNowMs)};
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    step.finished = {{kOwnerId, 1}, {kOwnerId, 2}};
    step.put = {change(2), change(3)};  // 2 is to be sent again
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    const auto pending = opened->pending("one");
    ASSERT_TRUE(pending.ok());
    EXPECT_THAT(*pending, ElementsAre(change(2), change(3)));
    EXPECT_EQ(opened->find("one")->progress.pending, 2U);
}

TEST(DestinationStore, AStepOfARemovedDestinationIsIgnored) {
    const TempStore store;
    const auto opened = open_destinations(store);
    const StoredDestination row = destination("one");
    ASSERT_TRUE(opened->add(row).ok());
    ASSERT_TRUE(opened->remove("one").ok());
    StoredDestination again = row;
    again.destination.uuid = "another";
    ASSERT_TRUE(opened->add(again).ok());
    DestinationStep step = step_of(row);
    step.put = {change(1)};
    step.progress.delivered = 5;
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    EXPECT_EQ(opened->find("one")->progress.delivered, 0U);
    EXPECT_EQ(opened->find("one")->progress.pending, 0U);
}

TEST(DestinationStore, AResumeWinsAgainstAStepThatWasReadBefore) {
    const TempStore store;
    const auto opened = open_destinations(store);
    const StoredDestination row = destination("one");
    ASSERT_TRUE(opened->add(row).ok());
    DestinationStep step = step_of(row);
    step.progress.disabled_at = kNowMs;
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    EXPECT_EQ(state_of(*opened->find("one")), "disabled");
    ASSERT_TRUE(opened
                    ->change("one",
                             [](StoredDestination& stored) {
                                 stored.progress.disabled_at = 0;
                                 return Status::success();
                             })
                    .ok());
    step.progress.delivered = 3;
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    EXPECT_EQ(state_of(*opened->find("one")), "active");
    EXPECT_EQ(opened->find("one")->progress.delivered, 3U);
}

TEST(DestinationStore, TheLogLosesAttemptsOlderThanThirtyDays) {
    const TempStore store;
    const auto opened = open_destinations(store);
    const StoredDestination row = destination("one");
    ASSERT_TRUE(opened->add(row).ok());
    DestinationStep step = step_of(row);
    step.attempts = {attempt_at(kNowMs - kAttemptAgeMaxMs - 1),
                     attempt_at(kNowMs - kAttemptAgeMaxMs), attempt_at(kNowMs)};
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    EXPECT_THAT(log_times(*opened), ElementsAre(kNowMs, kNowMs - kAttemptAgeMaxMs));
}

TEST(DestinationStore, TheLogKeepsAHundredThousandAttempts) {
    const TempStore store;
    const auto opened = open_destinations(store);
    const StoredDestination row = destination("one");
    ASSERT_TRUE(opened->add(row).ok());
    DestinationStep step = step_of(row);
    step.attempts.assign(kAttemptsMax, attempt_at(kNowMs));
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    step.attempts = {attempt_at(kNowMs + 1), attempt_at(kNowMs + 2)};
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    const auto times = log_times(*opened);
    EXPECT_EQ(times.size(), kAttemptsMax);
    EXPECT_EQ(times.front(), kNowMs + 2);
}

TEST(DestinationStore, ReplaysKeepTheirPlacesUntilTheyEnd) {
    const TempStore store;
    const auto opened = open_destinations(store);
    const StoredDestination row = destination("one");
    ASSERT_TRUE(opened->add(row).ok());
    Replay replay;
    replay.until[kOwnerId] = {9, {}};
    replay.since = kNowMs;
    ASSERT_TRUE(opened->add_replay("one", replay).ok());
    replay.changes = {{kOwnerId, 4}};
    ASSERT_TRUE(opened->add_replay("one", replay).ok());
    auto stored = *opened->replays("one");
    ASSERT_EQ(stored.size(), 2U);
    EXPECT_EQ(stored[1].changes, replay.changes);
    DestinationStep step = step_of(row);
    stored[0].place[kOwnerId] = {5, {}};
    step.replays = {stored[0]};
    step.ended_replays = {2};
    ASSERT_TRUE(opened->apply({step}, kNowMs).ok());
    stored = *opened->replays("one");
    ASSERT_EQ(stored.size(), 1U);
    EXPECT_EQ(stored[0].place[kOwnerId].change, 5U);
    EXPECT_EQ(stored[0].since, kNowMs);
}

TEST(DestinationStore, AnotherKeyIsRefused) {
    const TempStore store;
    const auto opened = open_destinations(store);
    EXPECT_TRUE(opened->key().ok());
    struct stat info {};
    ASSERT_EQ(::stat(DestinationPaths(store.paths()).key.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0400U);
    ASSERT_TRUE(MasterKey::random().save(DestinationPaths(store.paths()).key).ok());
    const auto key = opened->key();
    ASSERT_FALSE(key.ok());
    EXPECT_THAT(key.error().message, HasSubstr("is not the key that sealed"));
}

TEST(DestinationStore, AFolderOfAnotherStoreIsRefused) {
    const TempStore store, other;
    { const auto opened = open_destinations(store); }
    std::filesystem::copy(DestinationPaths(store.paths()).folder,
                          DestinationPaths(other.paths()).folder);
    const auto opened = DestinationStore::open(other.paths(), Mode::kRead);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kConflict);
    EXPECT_THAT(opened.error().message, HasSubstr("belongs to another store"));
}

TEST(DestinationStore, AnotherFormatIsRefused) {
    const TempStore store;
    { const auto opened = open_destinations(store); }
    {
        auto environment = Environment::open(
            {.folder = DestinationPaths(store.paths()).folder, .map_bytes = 1 << 20});
        ASSERT_TRUE(environment.ok());
        MDB_dbi table = 0;
        const char* const name = "destinations";
        ASSERT_TRUE(
            (*environment)->open_databases(std::span(&name, 1), std::span(&table, 1), false).ok());
        WriteTxn txn;
        ASSERT_EQ(txn.begin(**environment), 0);
        ASSERT_EQ(put_main(txn.get(), kFormatKey, std::string_view("\2\0\0\0", 4)), 0);
        ASSERT_EQ(txn.commit(), 0);
    }
    const auto opened = DestinationStore::open(store.paths(), Mode::kRead);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
}

TEST(DestinationStore, WithoutAFolderTheErrorNamesTheCommandThatMakesIt) {
    const TempStore store;
    const auto opened = DestinationStore::open(store.paths(), Mode::kRead);
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().message, HasSubstr("sluice notify add"));
}

}  // namespace
}  // namespace sluice::store
