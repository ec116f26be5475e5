#include "worker/drain/drain.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "lmdb_store/archive/archive.hpp"
#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/housekeeping.hpp"

namespace sluice::worker {
namespace {

std::string accrued_of(DrainStore& store, const std::string& order) {
    OrderState state;
    const auto ledger = store.ledger();
    const auto snapshot = ledger->snapshot(store.queue().uuid());
    if (!snapshot->load_order({{1}, {1}, OrderId(order)}, state)) {
        return "no such order";
    }
    const Position* position = state.position();
    return position == nullptr || position->accruals.empty()
               ? "nothing"
               : position->accruals.front().accrued.to_string();
}

TEST(Drain, AppliesTheQueueInOrderAndCountsEveryInputOnce) {
    DrainStore store;
    store.program_and_creator();
    store.order("a", 1);
    store.order("b", 5);
    store.order("b", 5);           // duplicate
    store.order("a", 2, "50.00");  // refund
    store.order("b", 3);           // stale
    store.append(Topic::kOrderUpdate, "no JSON");
    store.append(Topic::kProductUpsert,
                 R"({"products":[{"platform_product_id":"p","title":"t"}]})");
    store.drain_all();
    const LedgerHead head = store.head();
    EXPECT_EQ(head.applied_seq.value, 9U);
    EXPECT_EQ(head.totals.commands, 2U);
    EXPECT_EQ(head.totals.applied, 3U);
    EXPECT_EQ(head.totals.duplicate, 1U);
    EXPECT_EQ(head.totals.stale, 1U);
    EXPECT_EQ(head.totals.dead, 1U);
    EXPECT_EQ(head.totals.catalog, 1U);
    EXPECT_EQ(accrued_of(store, "a"), "5.00");
    EXPECT_EQ(accrued_of(store, "b"), "10.00");
}

/// A ledger whose disk breaks when the test says so.
class LedgerThatBreaks final : public Ledger {
public:
    LedgerThatBreaks(std::unique_ptr<Ledger> sound, const bool& broken)
        : sound_(std::move(sound)), broken_(broken) {}
    std::unique_ptr<LedgerTxn> begin(std::string_view node) override {
        if (broken_) {
            throw LedgerFailure({ErrorCode::kIo, "the disk is broken"});
        }
        return sound_->begin(node);
    }
    std::unique_ptr<LedgerReader> snapshot(std::string_view node) override {
        return sound_->snapshot(node);
    }

private:
    std::unique_ptr<Ledger> sound_;
    const bool& broken_;
};

TEST(Drain, AStopWhileTheLedgerCannotBeOpenedEndsCleanly) {
    DrainStore store;
    store.orders(0, 3);
    std::filesystem::remove_all(store.paths().archive);
    std::ofstream(store.paths().archive) << "in the way";

    bool broken = false;
    const LedgerOpener sound = embedded_ledger(store.paths());
    const LedgerOpener opener = [&]() -> Result<std::unique_ptr<Ledger>> {
        if (broken) {
            return Error{ErrorCode::kIo, "the disk is broken"};
        }
        auto opened = sound();
        if (!opened) {
            return opened.error();
        }
        return std::unique_ptr<Ledger>(
            std::make_unique<LedgerThatBreaks>(std::move(*opened), broken));
    };
    std::atomic<bool> stop{false};
    DrainEvents events;
    int warned = 0;  // of the archive, the first time before anything is applied
    events.warning = [&](const std::string&) {
        if (++warned != 2) {
            return;
        }
        std::filesystem::remove(store.paths().archive);
        std::filesystem::create_directory(store.paths().archive);  // it can be opened from now on
        store.order("later", 1);
        broken = true;
    };
    int told = 0;
    events.retrying = [&](const Error&) { stop = ++told == 3; };  // the archive is due by then
    auto drain = Drain::open(store.paths(), store.queue(), opener, {}, events);
    ASSERT_TRUE(drain.ok()) << drain.error().message;
    EXPECT_TRUE((*drain)->run(stop).ok());
    EXPECT_TRUE(broken);
    EXPECT_EQ((*drain)->applied_seq().value, 3U);
}

TEST(Drain, PublishesTheCheckpointAndTrimsAppliedRecords) {
    DrainStore store;
    store.orders(0, 2500);
    store.drain_all();
    EXPECT_EQ(store.queue().control().applied().value, 2500U);
    const auto fill = store.queue().fill();
    EXPECT_EQ(fill->rows, 0U);
    EXPECT_EQ(fill->last_seq.value, 2500U);
    store.order("next", 1);
    store.drain_all();
    EXPECT_EQ(store.head().applied_seq.value, 2501U);
    auto& words = store.queue().control().words();
    EXPECT_EQ(words.applied.load(), 2501U);
    EXPECT_EQ(words.orders.load(), 2501U);
    EXPECT_EQ(words.worker_state.load(), static_cast<std::uint64_t>(store::WorkerState::kStopped));
}

/// The last input that another process finds in the archive, as its files are now.
std::uint64_t last_archived(DrainStore& store) {
    std::uint64_t last = 0;
    auto reader = store::ArchiveReader::open(store.paths().archive);
    while (reader.ok()) {
        const auto place = (*reader)->next();
        if (!place.ok() || !*place) {
            break;
        }
        last = (*place)->input.seq.value;
    }
    return last;
}

TEST(Drain, PublishesNothingThatTheArchiveDoesNotHold) {
    DrainStore store;
    store.orders(0, 20);
    const auto drain = store.drain();
    ASSERT_NE(drain, nullptr);
    std::thread worker([&] { EXPECT_TRUE(drain->run(store.stop_).ok()); });
    std::uint64_t published = 0;
    while (published < 20 && !testing::Test::HasFailure()) {
        published = store.queue().control().applied().value;
        EXPECT_LE(published, last_archived(store)) << "it would be trimmed";
    }
    store.stop_ = true;
    worker.join();
}

TEST(Drain, BatchBoundariesDoNotShowInTheLedger) {
    // One queue twice: its UUID is in the ids of its commands and in its journal's chain.
    DrainStore one;
    DrainStore many;
    one.program_and_creator();
    one.orders(0, 300);
    one.orders(0, 300, 2);
    one.close_queue();
    many.close_queue();
    std::filesystem::copy(one.paths().root, many.paths().root,
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
    const auto rows = [](DrainStore& store, std::size_t records_max) {
        store.open_queue();
        DrainOptions options;
        options.batch.records_max = records_max;
        store.drain_all(options);
        std::string all;
        const auto ledger = store.ledger();
        const auto all_rows = ledger->rows("");
        while (all_rows->next()) {
            all.append(all_rows->table()).append(all_rows->key()).append(all_rows->value());
        }
        return all;
    };
    const std::string expected = rows(one, 1);
    EXPECT_GT(expected.size(), 10'000U);
    EXPECT_TRUE(rows(many, 4000) == expected);
}

TEST(Drain, ASecondDrainContinuesAfterTheCheckpoint) {
    DrainStore store;
    store.orders(0, 10);
    store.drain_all();
    store.orders(10, 10);
    store.drain_all();
    store.drain_all();
    EXPECT_EQ(store.head().totals.applied, 20U);
}

TEST(Drain, RunUpToStopsBehindTheCommand) {
    DrainStore store;
    store.orders(0, 5);
    const SequenceNumber command = store.command(ProgramApply{{spring_program()}});
    store.orders(5, 5);
    DrainOptions options;
    options.batch.records_max = 1;
    const auto drained = store.drain(options);
    ASSERT_NE(drained, nullptr);
    ASSERT_TRUE(drained->run_up_to(command, false, store.stop_).ok());
    EXPECT_EQ(drained->applied_seq(), command);
}

TEST(Drain, A2_PendingAttributionIsFinishedBeforeItEndsAlsoOnAnEmptyQueue) {
    DrainStore store;
    store.orders(0, 3000);
    store.command(ProgramApply{{spring_program()}});
    store.command(CreatorImport{{{2, CreatorId("anna"), ProgramId("spring"), "SPRING"}}});
    store.drain_all();
    EXPECT_EQ(accrued_of(store, "o0"), "10.00");
    EXPECT_EQ(accrued_of(store, "o2999"), "10.00");
    // Each order has two: that it was attributed, and what it costs.
    EXPECT_EQ(store.head().totals.journal_entries, 6000U);
}

TEST(Drain, AnInputThatCannotBeAppliedNeverStopsTheQueue) {
    DrainStore store;
    RecordEnvelope envelope;
    envelope.encode(DrainStore::meta_of(Topic::kOrderUpdate), "body");
    store.append_raw(envelope.prefix(), "BODY");  // CRC mismatch
    store.append_raw("not a record at all", "");
    store.append(Topic::kProgramApply, R"({"programs":17})");
    const std::string large = order_body("bulk", 1) + std::string(300'000, ' ');
    const SequenceNumber gone = store.append_bulk(Topic::kOrderUpdate, large);
    std::filesystem::remove_all(store.paths().bulk);
    std::filesystem::create_directory(store.paths().bulk);
    store.append_bulk(Topic::kOrderUpdate, order_body("kept", 1) + std::string(300'000, ' '));
    store.order("after", 1);
    store.drain_all();
    EXPECT_EQ(store.head().totals.dead, 4U);
    EXPECT_EQ(store.head().totals.applied, 2U);
    const auto ledger = store.ledger();
    const auto letter = ledger->snapshot(store.queue().uuid())->dead_letter(gone);
    ASSERT_TRUE(letter);
    EXPECT_NE(letter->reason.find("No such file"), std::string::npos) << letter->reason;
    EXPECT_TRUE(std::filesystem::is_empty(store.paths().bulk)) << "applied bodies are unlinked";
}

TEST(Drain, AnOlderQueueIsRefusedWithARemedy) {
    DrainStore store;
    const auto copy = store.paths().root / "copy";
    store.orders(0, 3);
    store.close_queue();
    std::filesystem::copy(store.paths().queue / "data.mdb", copy);
    store.open_queue();
    store.orders(3, 3);
    store.drain_all();
    store.close_queue();
    std::filesystem::rename(copy, store.paths().queue / "data.mdb");
    store.open_queue();
    EXPECT_EQ(store.drain(), nullptr);
    EXPECT_EQ(store.refused().code, ErrorCode::kConflict);
    EXPECT_NE(store.refused().message.find("applied input 6"), std::string::npos);
    EXPECT_NE(store.refused().message.find("backup"), std::string::npos);
}

TEST(Drain, AnOlderLedgerIsRefusedOnceInputsAreTrimmed) {
    DrainStore store;
    store.orders(0, 3);
    store.drain_all();
    const auto copy = store.paths().root / "copy";
    std::filesystem::copy(store.paths().ledger / "data.mdb", copy);
    store.orders(3, 3);
    store.drain_all();
    std::filesystem::rename(copy, store.paths().ledger / "data.mdb");
    EXPECT_EQ(store.drain(), nullptr);
    EXPECT_EQ(store.refused().code, ErrorCode::kConflict);
    EXPECT_NE(store.refused().message.find("inputs 4 to 6"), std::string::npos)
        << store.refused().message;
    EXPECT_NE(store.refused().message.find("rebuild"), std::string::npos);
}

TEST(Drain, StopsBetweenTwoBatches) {
    DrainStore store;
    store.orders(0, 100);
    DrainOptions options;
    options.batch.records_max = 10;
    const auto drained = store.drain(options);
    ASSERT_NE(drained, nullptr);
    store.stop_ = true;
    ASSERT_TRUE(drained->run(store.stop_).ok());
    EXPECT_EQ(drained->applied_seq().value, 0U);
}

TEST(Drain, AMissingArchiveFolderKeepsTheQueueAndAppliesAllTheSame) {
    DrainStore store;
    std::filesystem::remove_all(store.paths().archive);
    std::vector<std::string> warnings;
    store.events_.warning = [&](const std::string& text) { warnings.push_back(text); };
    store.orders(0, 20);
    store.drain_all();
    EXPECT_EQ(store.head().totals.applied, 20U);
    EXPECT_EQ(store.queue().fill()->rows, 20U) << "not archived: not trimmed";
    ASSERT_FALSE(warnings.empty());
    EXPECT_NE(warnings.front().find("archive"), std::string::npos);
    std::filesystem::create_directory(store.paths().archive);
    store.drain_all();
    EXPECT_EQ(store.queue().fill()->rows, 0U);
}

/// nginx moves an event from its lane after the worker found nothing in the queue and before it
/// looks at the lanes: `--until-empty` ended without an event that was answered.
TEST(Drain, AnEventMovedByNginxMeanwhileIsNotMissed) {
    DrainStore store;
    const SequenceNumber seq = store.order("a", 1);
    Housekeeping keeper(store.paths(), store.queue());
    const auto waits = [&](SequenceNumber applied) { return *keeper.move_lanes(applied); };
    EXPECT_TRUE(waits({seq.value - 1}));
    EXPECT_FALSE(waits({seq.value - 1})) << "records that were lost are not looked for for ever";
    EXPECT_TRUE(waits({store.order("b", 1).value - 1}));
    EXPECT_FALSE(waits(*store.queue().last_seq()));
}

}  // namespace
}  // namespace sluice::worker
