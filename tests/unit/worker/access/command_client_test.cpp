#include "worker/access/command_client.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/worker_lock.hpp"

namespace sluice::worker {
namespace {

CommandSender acme() {
    return {"tester", {1}, {1}, "acme", "shop-1"};
}

CommandOptions embedded_commands(const store::StorePaths& paths) {
    CommandOptions options;
    options.open_for_reading = embedded_ledger(paths, store::EmbeddedLedger::Mode::kReadOnly);
    options.open_for_writing = embedded_ledger(paths);
    return options;
}

Result<CommandResult> run(DrainStore& store, const Command& command) {
    return run_command(store.paths(), store.queue(), {{}, {}, command}, acme(),
                       embedded_commands(store.paths()), store.stop_);
}

TEST(CommandClient, WithoutAWorkerItAppliesTheQueueUpToItsCommand) {
    DrainStore store;
    store.orders(0, 30);
    const auto result = run(store, ProgramApply{{spring_program()}});
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(result->ok) << result->text;
    EXPECT_EQ(result->seq.value, 31U);
    EXPECT_EQ(result->text, "1 program applied, 1 changed; program spring: new");
    EXPECT_EQ(store.head().totals.applied, 30U);
}

TEST(CommandClient, ARefusedCommandSaysWhyAndChangesNothing) {
    DrainStore store;
    const auto result = run(store, CreatorRemove{CreatorId("anna"), ProgramId("nothing"), {}});
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_FALSE(result->ok);
    EXPECT_NE(result->text.find("nothing"), std::string::npos) << result->text;
    EXPECT_EQ(store.head().totals.commands, 1U);
}

TEST(CommandClient, ALargeImportBecomesABulkFile) {
    DrainStore store;
    ASSERT_TRUE(run(store, ProgramApply{{spring_program()}}).ok());
    CreatorImport import;
    for (std::uint32_t row = 2; row < 10'000; ++row) {
        import.rows.push_back({row, CreatorId("creator-with-a-name-" + std::to_string(row)),
                               ProgramId("spring"), "CODE" + std::to_string(row)});
    }
    const auto result = run(store, import);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(result->ok) << result->text;
    EXPECT_EQ(result->text, "9998 rows imported");
    EXPECT_TRUE(std::filesystem::is_empty(store.paths().bulk));
}

/// A worker in a process of its own, stopped by its pid.
class RunningWorker {
public:
    explicit RunningWorker(DrainStore& store) {
        int ready[2] = {-1, -1};
        EXPECT_EQ(::pipe(ready), 0);
        store.close_queue();
        pid_ = ::fork();
        if (pid_ == 0) {
            store.open_queue();
            const auto lock = WorkerLock::take(store.paths());
            const auto drained = store.drain();
            if (!lock || drained == nullptr || ::write(ready[1], "x", 1) != 1) {
                ::_exit(1);
            }
            ::_exit(drained->run(store.stop_).ok() ? 0 : 1);
        }
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        ::close(ready[0]);
        ::close(ready[1]);
        store.open_queue();
    }
    RunningWorker(const RunningWorker&) = delete;
    RunningWorker& operator=(const RunningWorker&) = delete;
    ~RunningWorker() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
};

TEST(CommandClient, WithAWorkerRunningItWaitsForIt) {
    DrainStore store;
    const RunningWorker worker(store);
    const auto first = run(store, ProgramApply{{spring_program()}});
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_TRUE(first->ok) << first->text;
    const auto second =
        run(store, CreatorImport{{{2, CreatorId("anna"), ProgramId("spring"), "SPRING"}}});
    ASSERT_TRUE(second.ok()) << second.error().message;
    EXPECT_EQ(second->text, "1 row imported");
}

std::uint64_t work_left_in(DrainStore& store) {
    auto ledger = embedded_commands(store.paths()).open_for_reading();
    EXPECT_TRUE(ledger.ok());
    return work_left(*(*ledger)->snapshot(store.queue().uuid())).pieces;
}

/// Several slices of the worker's work.
constexpr int kManyOrders = 8'000;

CreatorImport code_of_anna() {
    return {{{2, CreatorId("anna"), ProgramId("spring"), "SPRING"}}};
}

TEST(CommandClient, A2_AnImportIsOverWhenTheOrdersThatWaitedForItWereTriedAgain) {
    DrainStore store;
    store.command(ProgramApply{{spring_program()}});
    store.orders(0, kManyOrders);
    store.drain_all();
    const RunningWorker worker(store);
    std::vector<std::uint64_t> seen;
    CommandOptions options = embedded_commands(store.paths());
    options.progress = [&](std::uint64_t left) { seen.push_back(left); };
    const auto result = run_command(store.paths(), store.queue(), {{}, {}, code_of_anna()}, acme(),
                                    options, store.stop_);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->text, "1 row imported");
    EXPECT_EQ(result->work_left, 0U);
    EXPECT_EQ(work_left_in(store), 0U);
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back(), 0U);
}

TEST(CommandClient, WithoutWaitingItReportsTheWorkLeftForTheNextDrain) {
    DrainStore store;
    store.command(ProgramApply{{spring_program()}});
    store.orders(0, kManyOrders);
    CommandOptions options = embedded_commands(store.paths());
    options.leaves_work = true;
    const auto result = run_command(store.paths(), store.queue(), {{}, {}, code_of_anna()}, acme(),
                                    options, store.stop_);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(result->ok) << result->text;
    EXPECT_EQ(result->work_left, 2U);  // the code, and the program that anna joined
    EXPECT_EQ(work_left_in(store), 2U);
    EXPECT_EQ(store.queue().control().words().attribution_left.load(), 2U);
    store.drain_all();
    EXPECT_EQ(work_left_in(store), 0U);
    EXPECT_EQ(store.queue().control().words().attribution_left.load(), 0U);
}

TEST(CommandClient, ASecondWorkerIsRefusedWithThePidOfTheFirst) {
    DrainStore store;
    const RunningWorker worker(store);
    const auto lock = WorkerLock::take(store.paths());
    ASSERT_FALSE(lock.ok());
    EXPECT_EQ(lock.error().code, ErrorCode::kBusy);
    EXPECT_NE(lock.error().message.find("pid " + std::to_string(worker.pid())), std::string::npos)
        << lock.error().message;
}

TEST(CommandClient, AWorkerThatDiesMeanwhileIsReplaced) {
    DrainStore store;
    auto worker = std::make_unique<RunningWorker>(store);
    store.order("a", 1);
    worker.reset();  // SIGKILL, lock and all
    const auto result = run(store, ProgramApply{{spring_program()}});
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(result->ok);
}

TEST(CommandClient, InterruptedItSaysThatTheCommandIsStillThere) {
    DrainStore store;
    store.stop_ = true;
    const auto result = run(store, ProgramApply{{spring_program()}});
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("number 1 in the queue"), std::string::npos)
        << result.error().message;
    store.stop_ = false;
    store.drain_all();
    EXPECT_EQ(store.head().totals.commands, 1U);
}

}  // namespace
}  // namespace sluice::worker
