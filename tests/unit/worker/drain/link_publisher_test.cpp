// Publication of links (clicks LK3), and the batches that come meanwhile.
#include "worker/drain/link_publisher.hpp"

#include <gtest/gtest.h>

#include "lmdb_store/links/published_file.hpp"
#include "unit/worker/drain/fixture.hpp"

namespace sluice::worker {
namespace {

constexpr const char* kNode = "11111111-2222-3333-4444-555555555555";

/// Returns whether a transaction begins, which enlarges the map of a new ledger.
bool begins(Ledger& ledger) {
    try {
        (void)ledger.begin(kNode);
        return true;
    } catch (const LedgerFailure& failure) {
        EXPECT_EQ(failure.error().code, ErrorCode::kBusy) << failure.error().message;
        return false;
    }
}

TEST(LinkPublisherTest, LK3_ASnapshotThatWasReadKeepsNoMapFromGrowing) {
    constexpr int kTries = 3;  // the first may meet the thread while it reads
    DrainStore store;
    auto opened =
        store::EmbeddedLedger::open(store.paths().ledger, store::EmbeddedLedger::Mode::kReadWrite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Ledger& ledger = **opened;
    LinkPublisher publisher(store.paths(), store.queue().control().words());
    ASSERT_TRUE(publisher.turn(ledger, kNode).ok());
    bool has_begun = false;
    for (int i = 0; i < kTries && !has_begun; ++i) {
        publisher.release();
        has_begun = begins(ledger);
    }
    EXPECT_TRUE(has_begun);
    publisher.settle();
}

TEST(LinkPublisherTest, LK3_AStoreThatNeverHadALinkGetsAFileWithoutOne) {
    DrainStore store;
    auto opened =
        store::EmbeddedLedger::open(store.paths().ledger, store::EmbeddedLedger::Mode::kReadWrite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_FALSE(store::read_links_head(store.paths()).ok());
    {
        LinkPublisher publisher(store.paths(), store.queue().control().words());
        ASSERT_TRUE(publisher.finish(**opened, kNode).ok());
    }
    const auto links = store::read_links(store.paths(), 1);
    ASSERT_TRUE(links.ok()) << links.error().message;
    EXPECT_EQ(links->head().revision, 0U);
    EXPECT_EQ(links->head().generation, 1U);
    LinkPublisher again(store.paths(), store.queue().control().words());
    ASSERT_TRUE(again.finish(**opened, kNode).ok());
    EXPECT_EQ(store::read_links_head(store.paths())->generation, 1U);
}

}  // namespace
}  // namespace sluice::worker
