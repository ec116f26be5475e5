// The drain is killed at named points and at random; the ledger must be as if it never was.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "core/apply/dry_run.hpp"
#include "core/approvals/signed_approval.hpp"
#include "core/commands/ids.hpp"
#include "core/protocol/personal_ids.hpp"
#include "program/system/crash_point.hpp"
#include "unit/ledger/ssh_signer.hpp"
#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/rebuild.hpp"

namespace sluice::worker {
namespace {

/// Rounds for each point; the long form asks for more.
int rounds() {
    const char* const text = std::getenv("SLUICE_CRASH_ROUNDS");
    return text == nullptr ? 2 : std::atoi(text);
}

std::uint64_t seed() {
    const char* const text = std::getenv("SLUICE_SEED");
    return text == nullptr ? 123 : std::strtoull(text, nullptr, 10);
}

/// @param seconds  Time of receipt, after that of the orders.
SequenceNumber ask(DrainStore& store, const Command& command, int seconds = 0) {
    const std::string body = encode_request({{}, "as agreed", command});
    RecordMeta meta = DrainStore::meta_of(topic_of(command));
    meta.received_at.seconds += seconds;
    meta.seal = store.seal_of(meta, body);
    return store.append(meta, body);
}

/// Pays what was posted with the receipt of the orders.
SequenceNumber close(DrainStore& store, int seconds) {
    return ask(store, PayoutClose{Timestamp{kReceived.seconds + seconds, 0}}, seconds);
}

/// Approvals by signatures, a frozen payee that changes, and amounts that count against limits.
/// Commands that wait are applied before the crash, so that there is a statement to sign.
void fill_controls(DrainStore& store) {
    const test::SshSigner gina;
    Policy policy;
    policy.account_id = AccountId("acme");
    policy.account = {1};
    policy.approve_adjust_above = std::vector<Money>{*parse_money("5.00 USD")};
    policy.approve_run_above.emplace();
    policy.approvers = {"gina " + gina.public_key()};
    ask(store, ProgramApply{{spring_program()}, {policy}});
    ask(store, CreatorImport{{{2, CreatorId("paid"), ProgramId("spring"), "PAID"}}});
    ask(store, CreatorSet{CreatorId("paid"), {}, "ref-1", {}, {}});
    store.order("signed", 1, "", "PAID");
    ask(store, Adjust{OrderId("signed"), Decimal(400, 2)});
    const SequenceNumber waits = ask(store, Adjust{OrderId("signed"), Decimal(900, 2)});
    const SequenceNumber closes = close(store, 1);
    store.drain_all();
    const std::string node = store.queue().uuid();
    const auto ledger = store.ledger();
    const auto reader = ledger->snapshot(node);
    const std::string run = command_id(node, closes, {kReceived.seconds + 1, 0});
    for (const std::string& id : {command_id(node, waits, kReceived), run}) {
        const auto shown = shown_approval(*reader, {1}, AccountId("acme"), id, kReceived);
        ASSERT_TRUE(shown.ok()) << shown.error().message;
        ASSERT_TRUE(shown->subject.waits());
        const std::string text = approval_statement(*reader, AccountId("acme"), shown->subject);
        ask(store, Approve{id, {}, gina.sign(text)});
        ask(store, Approve{id, {}, gina.sign("another statement")});
    }
    ask(store, CreatorSet{CreatorId("paid"), {}, "ref-2", {}, {}});
    ask(store, PayoutMove{PayoutVerb::kRepoint, {run}});
    ask(store, Adjust{OrderId("signed"), Decimal(100, 2)});
    ask(store, Adjust{OrderId("signed"), Decimal(1, 2)});  // above what 4.00 and 1.00 leave
}

/// Orders whose tier changes with their month, up and down.
void fill_month(DrainStore& store) {
    Program month = spring_program();
    month.id = ProgramId("month");
    month.default_tiers = {{*parse_money("700.00 USD"), *parse_rate("20%")}};
    month.tiers_apply = TiersApply::kMonth;
    ask(store, ProgramApply{{month}, {}});
    ask(store, CreatorImport{{{2, CreatorId("mona"), ProgramId("month"), "MONTH"}}});
    for (int i = 0; i < 8; ++i) {
        store.order("m" + std::to_string(i), 1, "", "MONTH");
    }
    for (int i = 0; i < 6; ++i) {
        store.order("m" + std::to_string(i), 2, "25.00", "MONTH");
    }
}

/// Something of everything.
void fill(DrainStore& store) {
    fill_controls(store);
    fill_month(store);
    store.orders(1000, 40);
    store.program_and_creator();
    store.orders(0, 60);
    for (int i = 0; i < 30; ++i) {
        store.order("o" + std::to_string(i), 2, "25.00");
        store.order("o" + std::to_string(i), 2, "25.00");
    }
    store.append(Topic::kOrderUpdate, "no JSON");
    store.append_bulk(Topic::kOrderUpdate, order_body("large", 1) + std::string(300'000, ' '));
    store.append(Topic::kProductUpsert,
                 R"({"products":[{"platform_product_id":"p","title":"t"}]})");
    store.command(
        ClickImport{{{2, anon_digest("device"), CreatorId("anna"), ProgramId("spring"), {}}}});
    close(store, 2);
    store.command(Adjust{OrderId("o1"), Decimal(-150, 2)});
    store.command(Forget{ForgetBy::kCustomer, "c-1", sha256("R")});
    store.command(DeadReplay{});
    store.orders(100, 60);
}

/// @param records_max  With 50, threads prepare inputs ahead.
DrainOptions small_batches(std::size_t records_max) {
    DrainOptions options;
    options.threads = 1;
    options.help_from = 0;
    options.batch.records_max = records_max;
    options.archive->block_bytes = 4096;
    options.archive->segment_bytes_max = 16'384;
    return options;
}

/// Counts the rows of each table instead of comparing them, because ids of commands, and with them
/// hashes and the places of pseudonyms, depend on the queue's UUID, which differs between stores.
/// The audit and the rebuild verify the rows.
std::map<std::string, std::size_t> rows_of(store::EmbeddedLedger& ledger, const std::string& node) {
    std::map<std::string, std::size_t> counts;
    const auto rows = ledger.rows(node);
    while (rows->next()) {
        ++counts[std::string(rows->table())];
    }
    return counts;
}

class CrashStore : public DrainStore {
public:
    /// Drains in a process of its own. @return true if it was killed.
    /// @param after  Killed from outside after this time, or if 0 only by its plan.
    bool drain_in_child(const std::string& plan, std::chrono::microseconds after) {
        close_queue();
        const pid_t child = ::fork();
        if (child == 0) {
            plan_crash(plan);
            open_queue();
            const auto drained = drain(small_batches(records_max_));
            const bool ok = drained != nullptr && drained->run_until_empty(stop_).ok();
            ::_exit(ok ? 0 : 1);
        }
        if (after.count() != 0) {
            std::this_thread::sleep_for(after);
            ::kill(child, SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        open_queue();
        const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        EXPECT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << refused().message;
        return killed;
    }

    std::size_t records_max_ = 7;

    void expect_as_if_never_killed(const std::map<std::string, std::size_t>& expected_rows) {
        const std::string node = queue().uuid();
        const auto opened = ledger();
        EXPECT_EQ(rows_of(*opened, node), expected_rows);
        EXPECT_TRUE(opened->verify(node, 10).empty()) << opened->verify(node, 10).front();
        const LedgerHead head = opened->snapshot(node)->head();
        const Totals& totals = head.totals;
        EXPECT_EQ(totals.applied + totals.stale + totals.duplicate + totals.dead + totals.catalog +
                      totals.commands,
                  head.applied_seq.value);
        EXPECT_EQ(queue().fill()->rows, 0U);
        EXPECT_TRUE(std::filesystem::is_empty(paths().bulk)) << "a body outlived its record";
        auto rebuilt = Rebuild::begin({paths().archive}, paths().root / "rebuilt", {});
        ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().message;
        const Status replayed = (*rebuilt)->replay();
        ASSERT_TRUE(replayed.ok()) << replayed.error().message;
        const auto compared = (*rebuilt)->compare(*opened, node);
        ASSERT_TRUE(compared.ok()) << compared.error().message;
        EXPECT_TRUE(compared->equal) << compared->text;
    }
};

std::map<std::string, std::size_t> expected_rows() {
    DrainStore store;
    fill(store);
    store.drain_all();
    return rows_of(*store.ledger(), store.queue().uuid());
}

TEST(DrainCrash, KilledAtNamedPointsNothingIsLostAndNothingIsDoubled) {
    const auto expected = expected_rows();
    EXPECT_EQ(expected.at("signed_approvals"), 2U);
    EXPECT_EQ(expected.at("payee_changes"), 2U);
    std::mt19937_64 random(seed());
    std::map<std::string, int> kills;
    const std::vector<std::string> points = {"read",     "applied",    "committed", "archived",
                                             "flushed",  "published",  "trimmed",   "unlinked",
                                             "searched", "forgetting", "edited",    "forgotten"};
    const std::set<std::string> kOnce{"unlinked",   "trimmed", "searched",
                                      "forgetting", "edited",  "forgotten"};
    for (const std::string& point : points) {
        for (int round = 0; round < rounds(); ++round) {
            CrashStore store;
            fill(store);
            const std::uint64_t hits_max = kOnce.contains(point) ? 1 : 8;
            for (int tries = 0; tries < 3; ++tries) {
                const std::string plan = point + ":" + std::to_string(1 + random() % hits_max);
                kills[point] += store.drain_in_child(plan, {}) ? 1 : 0;
            }
            EXPECT_FALSE(store.drain_in_child("", {}));
            store.expect_as_if_never_killed(expected);
        }
    }
    for (const std::string& point : points) {
        EXPECT_GT(kills[point], 0) << "a point that is never hit proves nothing: " << point;
        std::printf("  %-10s %d kills\n", point.c_str(), kills[point]);
    }
}

TEST(DrainCrash, KilledAtRandomNothingIsLostAndNothingIsDoubled) {
    const auto expected = expected_rows();
    std::mt19937_64 random(seed());
    constexpr int kRoundsMax = 100;
    int kills = 0;
    // How long a drain takes differs from machine to machine: until one was
    // killed, each that ended first narrows the window.
    std::uint64_t window_us = 60'000;
    for (int round = 0; round < rounds() || (kills == 0 && round < kRoundsMax); ++round) {
        CrashStore store;
        store.records_max_ = round % 2 == 0 ? 50 : 7;
        fill(store);
        for (int tries = 0; tries < 40; ++tries) {
            const std::chrono::microseconds after(1 + random() % window_us);
            if (!store.drain_in_child("", after)) {
                window_us = kills == 0 ? std::max<std::uint64_t>(window_us / 2, 1) : window_us;
                break;
            }
            ++kills;
        }
        EXPECT_FALSE(store.drain_in_child("", {}));
        store.expect_as_if_never_killed(expected);
    }
    EXPECT_GT(kills, 0);
    std::printf("  %d kills, seed %llu\n", kills, static_cast<unsigned long long>(seed()));
}

}  // namespace
}  // namespace sluice::worker
