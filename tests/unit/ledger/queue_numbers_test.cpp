// K14: every number of the queue is accounted for, the archive gets the bytes that the ledger
// applied, and no number that nginx can write decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lmdb_store/archive/archive.hpp"
#include "unit/ledger/worker_scene.hpp"
#include "unit/lmdb_store/queue/edit_queue.hpp"
#include "worker/access/command_client.hpp"
#include "worker/drain/worker_lock.hpp"

namespace sluice::test {
namespace {

using store::QueueEdit;
using testing::HasSubstr;
using testing::StartsWith;
using worker::DrainStore;
using worker::order_body;

class K14Numbers : public OnBothLedgers {
protected:
    void edit(const std::function<void(QueueEdit&)>& change) {
        store_.close_queue();
        {
            QueueEdit queue(store_.paths());
            change(queue);
        }
        store_.open_queue();
    }
    /// Returns why the worker stops, or nothing.
    std::string refusal() {
        const auto drain = store_.drain();
        if (!drain) {
            return store_.refused().message;
        }
        const Status ended = drain->run_until_empty(store_.stop_);
        return ended.ok() ? std::string() : ended.error().message;
    }
    Result<worker::CommandResult> accept(std::uint64_t first, std::uint64_t last,
                                         const std::string& asked_by = {}) {
        worker::CommandOptions options;
        options.open_for_reading = options.open_for_writing = store_.opener();
        const SequenceNumber applied = store_.head_of_ledger().applied_seq;
        return worker::accept_gap(
            store_.paths(), store_.queue(), applied,
            {"gap", "the disk lost them", AcceptGap{{first}, {last}, asked_by}},
            {"gina", {}, {}, {}, {}}, options, store_.stop_);
    }
    std::vector<std::string> accepted_gaps() {
        std::vector<std::string> lines;
        store_.read([&lines](LedgerReader& ledger) {
            ledger.scan_journal(1, [&lines](const JournalGroup& group) {
                for (const JournalEntry& entry : group.entries) {
                    if (entry.reason == JournalReason::kMemoGapAccepted) {
                        lines.push_back(entry.line.str() + " " + group.note + " " + group.actor);
                    }
                }
                return true;
            });
        });
        return lines;
    }
    /// The worker names the numbers, one command accepts the loss, and the rest is applied.
    void expect_accepted(std::uint64_t first, std::uint64_t last, SequenceNumber end) {
        const std::string named = std::to_string(first) + " to " + std::to_string(last);
        EXPECT_THAT(refusal(), StartsWith("inputs " + named + " are missing"));
        EXPECT_EQ(store_.head_of_ledger().applied_seq.value, first - 1);
        EXPECT_THAT(refusal(),
                    HasSubstr("accept-gap " + std::to_string(first) + "-" + std::to_string(last)));
        for (const auto& [wrong_first, wrong_last] :
             {std::pair{first, last + 1}, {first - 1, last}, {first, last - 1}}) {
            EXPECT_FALSE(accept(wrong_first, wrong_last).ok())
                << "not the numbers that are missing";
        }
        const auto accepted = accept(first, last);
        ASSERT_TRUE(accepted.ok()) << accepted.error().message;
        EXPECT_TRUE(accepted->ok) << accepted->text;
        EXPECT_EQ(refusal(), "");
        EXPECT_EQ(store_.head_of_ledger().applied_seq, end);
        EXPECT_EQ(accepted_gaps(),
                  std::vector<std::string>{std::to_string(first) + "-" + std::to_string(last) +
                                           " the disk lost them gina"});
        EXPECT_EQ(store_.audit(), "nothing");
    }
};

TEST_P(K14Numbers, AGapInTheMiddleStopsTheWorkerUntilItIsAccepted) {
    store_.orders(0, 10);
    edit([](QueueEdit& queue) {
        for (std::uint64_t seq = 4; seq <= 6; ++seq) {
            queue.remove(seq);
        }
    });
    expect_accepted(4, 6, {10});
}

TEST_P(K14Numbers, AGapAtTheFrontStopsTheWorkerUntilItIsAccepted) {
    store_.orders(0, 3);
    store_.drain_all();
    store_.orders(3, 7);
    edit([](QueueEdit& queue) {
        queue.remove(4);
        queue.remove(5);
    });
    expect_accepted(4, 5, {10});
}

TEST_P(K14Numbers, AGapAtTheEndStopsTheWorkerUntilItIsAccepted) {
    store_.orders(0, 5);
    edit([](QueueEdit& queue) {
        queue.remove(4);
        queue.remove(5);
    });
    expect_accepted(4, 5, {5});
    const SequenceNumber next = store_.order("next", 1);
    store_.drain_all();
    EXPECT_EQ(next.value, 6U);
    EXPECT_EQ(store_.dead_reason(next), "none");
    EXPECT_EQ(store_.audit(), "nothing");
}

/// Each refusal takes the first number of the gap, as any command would.
TEST_P(K14Numbers, AGapNeedsTwoPersonsIfAPolicyHasApprovals) {
    Policy policy;
    policy.account_id = AccountId("acme");
    policy.account = {1};
    policy.approve_rates = true;
    policy.approvers = {"gina", "hugo"};
    store_.append(Topic::kProgramApply, encode_request({{}, {}, ProgramApply{{}, {policy}}}));
    store_.orders(0, 8);
    store_.drain_all();
    store_.orders(8, 16);
    edit([](QueueEdit& queue) {
        for (std::uint64_t seq = 10; seq <= 15; ++seq) {
            queue.remove(seq);
        }
    });
    EXPECT_THAT(refusal(), StartsWith("inputs 10 to 15 are missing"));
    std::uint64_t first = 10;
    for (const char* const asked_by : {"", "gina", "root (no login)"}) {
        const auto refused = accept(first, 15, asked_by);
        ASSERT_TRUE(refused.ok()) << refused.error().message;
        EXPECT_FALSE(refused->ok) << "asked by " << asked_by;
        EXPECT_THAT(refusal(), StartsWith("inputs " + std::to_string(++first)));
    }
    const auto accepted = accept(first, 15, "eve");
    ASSERT_TRUE(accepted.ok()) << accepted.error().message;
    EXPECT_TRUE(accepted->ok) << accepted->text;
    EXPECT_EQ(refusal(), "");
    EXPECT_EQ(store_.audit(), "nothing");
}

/// A number far ahead is a gap as well: the ledger's place decides, not the queue's.
TEST_P(K14Numbers, NumbersThatJumpAreAGap) {
    store_.orders(0, 3);
    edit([](QueueEdit& queue) { queue.set_next_seq(std::uint64_t{1} << 40); });
    store_.order("far", 1);
    expect_accepted(4, (std::uint64_t{1} << 40) - 1, {std::uint64_t{1} << 40});
}

TEST_P(K14Numbers, AGapThatNoPersonAcceptedIsNotPassed) {
    store_.orders(0, 5);
    edit([](QueueEdit& queue) {
        queue.remove(3);
        queue.remove(4);
    });
    // nginx writes the command itself, without a seal.
    RecordMeta meta = DrainStore::meta_of(Topic::kAcceptGap);
    RecordEnvelope envelope;
    const std::string body = encode_request({{}, "no loss", AcceptGap{{3}, {4}}});
    envelope.encode(meta, body);
    edit([&](QueueEdit& queue) { queue.put(3, std::string(envelope.prefix()) + body); });
    EXPECT_THAT(refusal(), StartsWith("inputs 4 to 4 are missing"));
    EXPECT_THAT(store_.dead_reason({3}), StartsWith("COMMAND_NOT_SEALED"));
    EXPECT_TRUE(accepted_gaps().empty());
}

// ---- What was applied is what is archived ------------------------------------------------------

/// A worker that ends after the ledger's commit, before the archive was written.
class K14Archive : public K14Numbers {
protected:
    /// Applies what is in the queue. The archive's folder cannot be written to meanwhile.
    void apply_only() {
        const auto archive = store_.paths().archive;
        const auto away = archive.parent_path() / "archive.away";
        std::filesystem::rename(archive, away);
        store_.drain_all();
        std::filesystem::rename(away, archive);
    }
    std::vector<std::string> archived_bodies() {
        std::vector<std::string> bodies;
        auto reader = store::ArchiveReader::open(store_.paths().archive);
        for (auto place = (*reader)->next(); place.ok() && *place; place = (*reader)->next()) {
            const auto record = decode_record((*place)->input.record);
            bodies.emplace_back(record ? record->body : "unreadable");
        }
        return bodies;
    }
    std::string warnings() {
        std::string all;
        store_.events_.warning = [&all](const std::string& text) { all += text + "\n"; };
        store_.drain_all();
        store_.events_.warning = nullptr;
        return all;
    }
};

TEST_P(K14Archive, InputsThatTheArchiveMissedAreReadFromTheQueue) {
    store_.program_and_creator();
    store_.drain_all();
    store_.orders(0, 5);
    apply_only();
    EXPECT_EQ(archived_bodies().size(), 2U);
    EXPECT_EQ(store_.audit(), "nothing") << "the queue has it";
    EXPECT_EQ(warnings(), "");
    EXPECT_EQ(archived_bodies().size(), 7U);
    EXPECT_EQ(store_.audit(), "nothing");
}

TEST_P(K14Archive, ARecordThatWasEditedAfterItWasAppliedIsNotArchived) {
    store_.program_and_creator();
    store_.drain_all();
    store_.orders(0, 3);
    apply_only();
    edit([](QueueEdit& queue) {
        std::string body = order_body("o1", 1);
        body.replace(body.find("100.00"), 6, "999.00");
        RecordEnvelope envelope;
        envelope.encode(DrainStore::meta_of(Topic::kOrderUpdate), body);
        queue.put(4, std::string(envelope.prefix()) + body);
    });
    EXPECT_THAT(store_.audit(), HasSubstr("are not those that the ledger has applied"))
        << "the ledger is not condemned for it";
    EXPECT_THAT(warnings(), HasSubstr("inputs 3 to 5 of the queue are not those that the ledger "
                                      "has applied"));
    EXPECT_EQ(archived_bodies().size(), 2U) << "a rebuild would make the forgery true";
    EXPECT_EQ(store_.queue().control().applied().value, 2U) << "the evidence is not trimmed";
}

TEST_P(K14Archive, ARecordThatWasDeletedAfterItWasAppliedIsMissed) {
    store_.orders(0, 5);
    apply_only();
    edit([](QueueEdit& queue) { queue.remove(3); });
    EXPECT_THAT(warnings(), HasSubstr("are not those that the ledger has applied"));
    EXPECT_TRUE(archived_bodies().empty());
}

TEST_P(K14Archive, ABodyBesideTheQueueThatWasEditedIsNotArchived) {
    const std::string body = order_body("large", 1) + std::string(300'000, ' ');
    store_.append_bulk(Topic::kOrderUpdate, body);
    apply_only();
    for (const auto& file : std::filesystem::directory_iterator(store_.paths().bulk)) {
        std::filesystem::permissions(file.path(), std::filesystem::perms::owner_all);
        std::ofstream(file.path(), std::ios::app) << "more";
    }
    EXPECT_THAT(warnings(), HasSubstr("the body of input 1 is not the one that was applied"));
    EXPECT_TRUE(archived_bodies().empty());
}

// ---- Results ------------------------------------------------------------------------------------

TEST_P(K14Numbers, AResultIsNotThatOfAnEarlierCommandWithTheSameNumber) {
    store_.program_and_creator();
    store_.order("a", 1);
    store_.drain_all();
    edit([](QueueEdit& queue) { queue.set_next_seq(2); });
    worker::CommandOptions options;
    options.open_for_reading = options.open_for_writing = store_.opener();
    {
        const auto worker = worker::WorkerLock::take(store_.paths());  // as if one was running
        ASSERT_TRUE(worker.ok());
        const auto result = worker::run_command(
            store_.paths(), store_.queue(), {"k", "why", Hold{{OrderId("a"), {}, {}}}},
            {"gina", {1}, {1}, "acme", "shop-1"}, options, store_.stop_);
        ASSERT_TRUE(result.ok()) << result.error().message;
        EXPECT_FALSE(result->ok);
        EXPECT_THAT(result->text, StartsWith("it was not applied"));
    }
    EXPECT_THAT(refusal(), HasSubstr("has given out only 2"));
}

INSTANTIATE_TEST_SUITE_P(Ledgers, K14Numbers,
                         testing::Values(WorkerLedger::kEmbedded, WorkerLedger::kPostgres),
                         name_of_worker_ledger);
INSTANTIATE_TEST_SUITE_P(Ledgers, K14Archive,
                         testing::Values(WorkerLedger::kEmbedded, WorkerLedger::kPostgres),
                         name_of_worker_ledger);

}  // namespace
}  // namespace sluice::test
