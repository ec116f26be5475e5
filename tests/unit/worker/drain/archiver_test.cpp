// The order of an archive is that of the ledger (K9), whichever commits were left unanswered, and
// whichever ledger the store is given.
#include "worker/drain/archiver.hpp"

#include <gtest/gtest.h>

#include "unit/worker/drain/fixture.hpp"

namespace sluice::worker {
namespace {

class ArchiveOrder : public testing::Test {
protected:
    ArchiveOrder() {
        for (int i = 0; i < 6; ++i) {
            store_.order("o" + std::to_string(i), 1);
        }
        ledger_ = store_.ledger();
        read();
        open();
    }
    void read() { inputs_ = *read_inputs(store_.queue(), store_.paths(), {1}, 1000, 1U << 24); }
    void open() {
        auto opened = Archiver::open({store_.paths(),
                                      store_.queue(),
                                      {},
                                      [this] { return ledger_->snapshot(store_.queue().uuid()); },
                                      [] {}});
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        archiver_ = std::move(*opened);
    }
    /// One transaction with inputs up to `last`.
    BatchOutcome apply_to(std::uint64_t last) {
        BatchLimits limits;
        limits.records_max =
            last - ledger_->snapshot(store_.queue().uuid())->head().applied_seq.value;
        auto outcome = applier_.apply(*ledger_, store_.queue().uuid(), inputs_, applied_, limits);
        EXPECT_TRUE(outcome.ok()) << outcome.error().message;
        EXPECT_EQ(outcome->head.applied_seq.value, last);
        return *outcome;
    }
    void archive_to(std::uint64_t last, const std::optional<AppliedBatch>& batch) {
        const Status added = archiver_->add(inputs_, applied_, last - applied_, batch, kReceived);
        EXPECT_TRUE(added.ok()) << added.error().message;
        applied_ = last;
    }
    void other_node() {
        std::vector<OwnedInput> inputs(1, inputs_.front());
        inputs.front().seq = {++others_};
        EXPECT_TRUE(applier_.apply(*ledger_, "other", inputs, 0, {}).ok());
    }
    /// `1:1-2 3:3-3`: number, first and last input.
    std::string order() {
        const auto behind = archiver_->catch_up({applied_}, kReceived);
        EXPECT_TRUE(behind.ok()) << behind.error().message;
        EXPECT_TRUE(archiver_->flush().ok());
        auto reader = store::OrderReader::open(store_.paths().archive, store_.queue().uuid());
        std::string text;
        for (auto row = reader->next(); row && *row; row = reader->next()) {
            text += std::to_string((*row)->number) + ":" + std::to_string((*row)->first_seq.value) +
                    "-" + std::to_string((*row)->last_seq.value) + " ";
        }
        return text;
    }
    /// An empty ledger in the place of the first one.
    void lose_ledger() {
        ledger_.reset();
        std::filesystem::remove_all(store_.paths().ledger);
        std::filesystem::create_directory(store_.paths().ledger);
        ASSERT_TRUE(store::EmbeddedLedger::create(store_.paths().ledger).ok());
        ledger_ = store_.ledger();
        others_ = 0;
        applied_ = 0;
    }
    /// Three batches of this node, between those of the other.
    void three_batches() {
        for (const std::uint64_t last : {2U, 3U, 4U}) {
            archive_to(last, apply_to(last).batch);
            other_node();
        }
    }

    DrainStore store_;
    std::unique_ptr<store::EmbeddedLedger> ledger_;
    std::vector<OwnedInput> inputs_;
    BatchApplier applier_;
    std::unique_ptr<Archiver> archiver_;
    std::uint64_t applied_ = 0, others_ = 0;
};

TEST_F(ArchiveOrder, K9_HasTheBatchOfACommitThatWasNotAnswered) {
    ASSERT_EQ(order(), "");
    archive_to(2, apply_to(2).batch);
    other_node();
    apply_to(3);  // committed; the drain has an error
    other_node();
    archive_to(4, apply_to(4).batch);  // skips input 3
    EXPECT_EQ(order(), "1:1-2 3:3-3 5:4-4 ");
}

TEST_F(ArchiveOrder, K9_HasTheBatchOfUnansweredWorkAlone) {
    constexpr int kOrders = 300;  // more than an import attributes at once
    store_.command(ProgramApply{{spring_program()}});
    store_.orders(100, kOrders);
    const std::uint64_t last =
        store_.command(CreatorImport{{{2, CreatorId("anna"), ProgramId("spring"), "SPRING"}}})
            .value;
    read();
    ASSERT_EQ(order(), "");
    const BatchOutcome import = apply_to(last);
    ASSERT_NE(import.work.pieces, 0U);
    archive_to(last, import.batch);
    other_node();
    ASSERT_TRUE(applier_.apply(*ledger_, store_.queue().uuid(), inputs_, last, {}).ok());
    archiver_->reread_order();  // the work's commit was not answered
    other_node();
    store_.order("last", 1);
    read();
    archive_to(last + 1, apply_to(last + 1).batch);
    EXPECT_EQ(order(), "1:1-308 3:309-308 5:309-309 ");
}

TEST_F(ArchiveOrder, K9_IsThatOfARestoredLedgerWithFewerBatches) {
    ASSERT_EQ(order(), "");
    three_batches();
    ASSERT_EQ(order(), "1:1-2 3:3-3 5:4-4 ");
    lose_ledger();
    other_node();
    apply_to(4);
    applied_ = 4;
    open();
    EXPECT_EQ(order(), "2:1-4 ");
}

TEST_F(ArchiveOrder, K9_IsThatOfALedgerWithAnotherBatchOfTheSameNumber) {
    ASSERT_EQ(order(), "");
    three_batches();
    ASSERT_EQ(order(), "1:1-2 3:3-3 5:4-4 ");
    lose_ledger();
    for (const std::uint64_t last : {1U, 2U, 3U, 5U}) {
        apply_to(last);
        applied_ = last;
        other_node();
    }
    open();
    EXPECT_EQ(order(), "1:1-1 3:2-2 5:3-3 7:4-5 ");
}

TEST_F(ArchiveOrder, K9_OfABackupEndsWithItsQueue) {
    ASSERT_EQ(order(), "");
    three_batches();
    ASSERT_EQ(order(), "1:1-2 3:3-3 5:4-4 ");
    const auto rows = [this](std::uint64_t last) {
        return *store::order_bytes_up_to(store_.paths().archive, store_.queue().uuid(), {last}) /
               40;
    };
    EXPECT_EQ(rows(0), 0U);
    EXPECT_EQ(rows(2), 1U);
    EXPECT_EQ(rows(3), 2U);
    EXPECT_EQ(rows(9), 3U);
}

/// A power failure may lose a row and keep the rows after it.
TEST_F(ArchiveOrder, K9_ARowThatAPowerFailureToreIsWrittenAgain) {
    three_batches();
    const std::string rows = order();
    ASSERT_EQ(rows, "1:1-2 3:3-3 5:4-4 ");
    for (std::size_t torn = 0; torn < 3; ++torn) {
        archiver_.reset();
        const auto path = store_.paths().archive / ("order." + store_.queue().uuid());
        std::string bytes = store::read_text(path);
        const std::size_t row_bytes = bytes.size() / 3;
        bytes.replace(torn * row_bytes, row_bytes, row_bytes, '\0');
        store::write_text(path, bytes);
        open();
        EXPECT_EQ(order(), rows) << torn;
    }
}

TEST_F(ArchiveOrder, K9_SaysHowMuchWorkIsDoneWhileSomeIsLeft) {
    auto writer = store::OrderWriter::open(store_.paths().archive, "queue");
    ASSERT_TRUE(writer->put({1, "queue", {1}, {3}, 0}).ok());
    ASSERT_TRUE(writer->flush().ok());
    EXPECT_FALSE(writer->is_dirty());
    ASSERT_TRUE(writer->put({1, "queue", {1}, {4}, 2}).ok());
    EXPECT_TRUE(writer->is_dirty());
    ASSERT_TRUE(writer->flush().ok());
    EXPECT_EQ((*store::last_in_order(store_.paths().archive, "queue"))->slices, 2U);
    EXPECT_EQ(writer->put({0, "queue", {1}, {2}, {}}).error().code, ErrorCode::kConflict);
}

}  // namespace
}  // namespace sluice::worker
