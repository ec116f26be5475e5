// Threads change when an input is prepared, and nothing else.
#include "worker/drain/prepared_ahead.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "unit/ledger_digest.hpp"
#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/rebuild.hpp"

namespace sluice::worker {
namespace {

/// Valid orders, and every 50th input one that is not: no record, no JSON, a command, a large one.
std::vector<OwnedInput> some_inputs(std::size_t count) {
    std::vector<OwnedInput> inputs(count);
    RecordEnvelope envelope;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t kind = i % 200;
        const Topic topic = kind == 50 ? Topic::kDeadReplay : Topic::kOrderUpdate;
        std::string body = kind == 100 ? "no JSON" : order_body("o" + std::to_string(i), 1, "1.00");
        body.append(kind == 150 ? 20'000 : 0, ' ');
        envelope.encode(DrainStore::meta_of(topic), body);
        inputs[i].seq = {i + 1};
        inputs[i].record = kind == 0 ? "no record" : std::string(envelope.prefix()) + body;
    }
    return inputs;
}

void expect_equal(const PreparedInput& ahead, const PreparedInput& own, std::size_t at) {
    EXPECT_EQ(ahead.record.ok(), own.record.ok()) << at;
    EXPECT_EQ(ahead.digest, own.digest) << at;
    EXPECT_EQ(ahead.body_sha256, own.body_sha256) << at;
    EXPECT_EQ(ahead.fault, own.fault) << at;
    EXPECT_EQ(ahead.customer, own.customer) << at;
    ASSERT_EQ(ahead.event == nullptr, own.event == nullptr) << at;
    if (own.event != nullptr) {
        EXPECT_EQ(ahead.event->order_id, own.event->order_id);
        EXPECT_EQ(ahead.event->line_items.at(0).line_item_id, "l1");
        EXPECT_EQ(ahead.event->refund_line_items.at(0).refund_line_item_id,
                  own.event->refund_line_items.at(0).refund_line_item_id);
    }
}

TEST(PreparedAhead, ThreadsPrepareAsTheApplierDoes) {
    const std::vector<OwnedInput> inputs = some_inputs(3000);
    for (const unsigned threads : {1U, 3U}) {
        PreparedAhead ahead(threads);
        InputPreparer preparer;
        PreparedInput own;
        std::size_t prepared = 0;
        // A thread is first only if the system lets it run while this one sleeps.
        for (int round = 0; prepared <= inputs.size() && round < 100; ++round) {
            const PreparedScope scope(ahead, inputs);
            for (std::size_t at = 0; at < inputs.size(); ++at) {
                if (at % 100 == 0) {
                    std::this_thread::sleep_for(std::chrono::microseconds(200));
                }
                const PreparedInput* const found = ahead.at(at);
                if (found == nullptr) {
                    continue;
                }
                EXPECT_NE(at % 200, 150U) << "a large input was kept in the window";
                ++prepared;
                preparer.prepare(inputs[at].view(), own);
                expect_equal(*found, own, at);
            }
        }
        EXPECT_GT(prepared, inputs.size()) << "the threads were never first";
    }
}

TEST(PreparedAhead, ABatchThatEndsEarlyLeavesNoThreadAtItsInputs) {
    PreparedAhead ahead(2);
    for (std::size_t end = 0; end < 200; ++end) {
        std::vector<OwnedInput> inputs = some_inputs(400);
        const PreparedScope scope(ahead, inputs);
        for (std::size_t at = 0; at < end; ++at) {
            static_cast<void>(ahead.at(at));
        }
    }  // a thread that still read them would read freed memory (make sanitize)
}

TEST(PreparedAhead, WithoutThreadsTheApplierPreparesAll) {
    const std::vector<OwnedInput> inputs = some_inputs(100);
    PreparedAhead ahead(0);
    const PreparedScope scope(ahead, inputs);
    for (std::size_t at = 0; at < inputs.size(); ++at) {
        EXPECT_EQ(ahead.at(at), nullptr);
    }
}

constexpr std::uint64_t kInputs = 1946;

/// Something of everything, in batches that are read ahead: kInputs.
void fill_ahead(DrainStore& store) {
    store.orders(0, 300);
    store.program_and_creator();
    store.orders(200, 600);
    store.orders(0, 200, 2);
    for (int i = 0; i < 40; ++i) {
        store.order("o" + std::to_string(i), 3, "25.00");
    }
    store.append(Topic::kOrderUpdate, "no JSON");
    store.append_bulk(Topic::kOrderUpdate, order_body("large", 1) + std::string(300'000, ' '));
    store.command(Forget{ForgetBy::kCustomer, "c-2", sha256("R")});
    store.orders(100, 300, 4);
    store.command(Adjust{OrderId("o1"), Decimal(-150, 2)});
    store.orders(2000, 500);
}

/// Returns the digest of all rows of what the archive says.
Digest256 rebuilt(const DrainStore& store, const std::string& name, unsigned threads,
                  const std::string& node) {
    RebuildOptions options;
    options.threads = threads;
    auto begun = Rebuild::begin({store.paths().archive}, store.paths().root / name, options);
    EXPECT_TRUE(begun.ok()) << begun.error().message;
    const Status replayed = (*begun)->replay();
    EXPECT_TRUE(replayed.ok()) << replayed.error().message;
    EXPECT_EQ((*begun)->inputs_count(), kInputs);
    return store::ledger_digest(*(*begun)->ledger().rows(node));
}

TEST(PreparedAhead, AnyNumberOfThreadsGivesTheSameLedgerAndArchive) {
    for (const unsigned threads : {0U, 1U, 4U}) {
        DrainStore store;
        fill_ahead(store);
        DrainOptions options;
        options.batch.records_max = 100;
        options.threads = threads;
        options.help_from = 0;
        store.drain_all(options);
        const std::string node = store.queue().uuid();
        EXPECT_EQ(store.head().totals.dead, 1U);
        EXPECT_TRUE(store.ledger()->verify(node, 3).empty());
        const Digest256 alone = rebuilt(store, "alone", 0, node);
        EXPECT_EQ(rebuilt(store, "two", 1, node), alone);
        EXPECT_EQ(rebuilt(store, "five", 4, node), alone);
        auto again = Rebuild::begin({store.paths().archive}, store.paths().root / "again", {});
        ASSERT_TRUE(again.ok()) << again.error().message;
        ASSERT_TRUE((*again)->replay().ok());
        const auto compared = (*again)->compare(*store.ledger(), node);
        ASSERT_TRUE(compared.ok()) << compared.error().message;
        EXPECT_TRUE(compared->equal) << threads << ": " << compared->text;
    }
}

}  // namespace
}  // namespace sluice::worker
