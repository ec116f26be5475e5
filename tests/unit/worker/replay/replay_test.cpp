// K9 of a fleet: a replay ends exactly where its snapshot ends, while an import's work is half done
// and another node's batches lie between the slices of that work.
#include "worker/replay/replay.hpp"

#include <gtest/gtest.h>

#include <array>

#include "lmdb_store/archive/order.hpp"
#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/input_batch.hpp"

namespace sluice::worker {
namespace {

namespace fs = std::filesystem;

/// Slices have 1000 orders: this many orders are three of them.
constexpr int kOrders = 2500;

OwnedInput input_of(std::uint64_t seq, Topic topic, const std::string& body) {
    RecordMeta meta = DrainStore::meta_of(topic);
    meta.received_at.seconds += 86'400;
    RecordEnvelope envelope;
    envelope.encode(meta, body);
    OwnedInput input;
    input.seq = {seq};
    input.record = std::string(envelope.prefix()) + body;
    return input;
}

OwnedInput command_of(std::uint64_t seq, const Command& command) {
    return input_of(seq, topic_of(command),
                    encode_request({"key-" + std::to_string(seq), {}, command}));
}

/// One transaction: of a node's inputs, or of a slice of its work.
struct Step {
    std::string node;
    std::vector<OwnedInput> inputs;
};

/// Node a imports the code of many orders. Node b closes payouts before, between and after the
/// slices, so that each takes what is attributed by then.
std::vector<Step> steps_of_a_fleet() {
    std::vector<OwnedInput> first{command_of(1, ProgramApply{{spring_program()}})};
    for (int i = 0; i < kOrders; ++i) {
        first.push_back(input_of(first.size() + 1, Topic::kOrderUpdate,
                                 order_body("o" + std::to_string(i), 1)));
    }
    first.push_back(command_of(
        first.size() + 1, CreatorImport{{{2, CreatorId("anna"), ProgramId("spring"), "SPRING"}}}));
    const auto close = [](std::uint64_t seq) {
        PayoutClose until;
        until.until = {kReceived.seconds + 86'400, 0};
        return Step{"b", {command_of(seq, until)}};
    };
    const Step slice{"a", {}};
    const Step last{"a", {input_of(first.size() + 1, Topic::kOrderUpdate, order_body("last", 1))}};
    return {{"a", std::move(first)}, slice, close(1), slice, close(2), slice, close(3), last};
}

class FleetReplay : public testing::Test {
protected:
    static std::unique_ptr<store::EmbeddedLedger> new_ledger(const fs::path& folder) {
        fs::create_directory(folder);
        EXPECT_TRUE(store::EmbeddedLedger::create(folder).ok());
        return store::EmbeddedLedger::open(folder, store::EmbeddedLedger::Mode::kTemporary).value();
    }
    /// Applies one step, and returns the batch in which it is.
    static AppliedBatch apply(BatchApplier& applier, Ledger& ledger, Step step) {
        const BatchLimits limits{10'000, std::chrono::hours(1)};
        const auto outcome = applier.apply(ledger, step.node, step.inputs, 0, limits);
        EXPECT_TRUE(outcome.ok()) << outcome.error().message;
        EXPECT_EQ(outcome->inputs_done, step.inputs.size());
        EXPECT_TRUE(outcome->batch);
        return *outcome->batch;
    }
    /// The archives after the first `count` steps.
    std::vector<fs::path> archives(const std::string& name, std::size_t count) {
        std::vector<fs::path> folders;
        for (const std::string node : {"a", "b"}) {
            const fs::path folder = store_.paths().root / (name + node);
            fs::create_directory(folder);
            folders.push_back(folder);
            auto writer = store::ArchiveWriter::open(folder, node, {});
            auto order = store::OrderWriter::open(folder, node);
            for (std::size_t i = 0; i < count; ++i) {
                if (steps_[i].node != node) {
                    continue;
                }
                EXPECT_TRUE(order->put(batches_[i]).ok());
                for (const OwnedInput& input : steps_[i].inputs) {
                    store::ArchivedInput archived;
                    archived.seq = input.seq;
                    archived.record = input.record;
                    EXPECT_TRUE((*writer)->add(archived, kReceived).ok());
                }
            }
            EXPECT_TRUE(order->flush().ok() && (*writer)->flush().ok());
        }
        return folders;
    }
    std::string audit(const fs::path& ledger, const std::vector<fs::path>& archives) {
        const fs::path temporary = store_.paths().root / "temporary";
        fs::create_directory(temporary);
        ReplayOptions options;
        options.ledger = {std::nullopt, ledger};
        options.archives = archives;
        options.temporary = temporary;
        const auto outcome = replay_ledger(options);
        fs::remove_all(temporary);
        if (!outcome) {
            return outcome.error().message;
        }
        return outcome->is_equal()
                   ? "equal"
                   : outcome->differences[0].table + " " + outcome->differences[0].key + " " +
                         outcome->differences[0].column + ": " +
                         outcome->differences[0].stored.value_or("none") + ", replayed " +
                         outcome->differences[0].right.value_or("none");
    }

    store::TempStore store_;
    std::vector<Step> steps_ = steps_of_a_fleet();
    std::vector<AppliedBatch> batches_;  ///< The batch of each step.
};

TEST_F(FleetReplay, K9_EndsAtItsSnapshotWhileAnImportsWorkIsHalfDone) {
    {
        const auto whole = new_ledger(store_.paths().root / "whole");
        BatchApplier applier;
        for (const Step& step : steps_) {
            batches_.push_back(apply(applier, *whole, step));
        }
        ASSERT_EQ(batches_.back().number, 7U);
        ASSERT_EQ(batches_[1].slices, 1U) << "the first slice leaves work";
        ASSERT_FALSE(batches_[5].slices) << "the third one leaves none";
    }
    const std::vector<fs::path> later = archives("later-", steps_.size());
    const fs::path folder = store_.paths().root / "ledger-of-a-fleet";
    const auto ledger = new_ledger(folder);
    BatchApplier applier;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        apply(applier, *ledger, steps_[i]);
        const std::string place = "after step " + std::to_string(i + 1);
        EXPECT_EQ(audit(folder, later), "equal") << place << ", the workers went on";
        if (i != 0) {  // before, node b has no archive
            EXPECT_EQ(audit(folder, archives("stopped" + std::to_string(i), i + 1)), "equal")
                << place << ", the workers stopped";
        }
    }
}

}  // namespace
}  // namespace sluice::worker
