// N3: every batch reads the schema's number in its own transaction, under the gate, and `migrate`
// holds the gate alone: what a worker of one version began is done, or nothing of it is.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "pg_store/schema/schema_version.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/postgres_server.hpp"

namespace sluice::test {
namespace {

constexpr std::string_view kFenced = "cccccccc-0000-0000-0000-000000000003";
constexpr std::chrono::seconds kFencePatience{20};

class PostgresSchemaFence : public testing::Test {
protected:
    void SetUp() override {
        ledger = make_ledger("Postgres");
        commit_up_to(1);  // the node is known
    }
    void TearDown() override {
        session->script("DELETE FROM sluice_ledger.migrations WHERE number > 9000");
    }

    void commit_up_to(std::uint64_t seq) const {
        const auto txn = ledger->begin(kFenced);
        txn->mutable_head().applied_seq = {seq};
        txn->commit();
    }
    [[nodiscard]] std::uint64_t applied() const {
        return ledger->snapshot(kFenced)->head().applied_seq.value;
    }
    void another_schema() const {
        session->script("INSERT INTO sluice_ledger.migrations (number, name) VALUES (9999, 'x')");
    }
    [[nodiscard]] std::int64_t held_count() const {
        return session->query_text("SELECT count(*) FROM pg_locks WHERE NOT granted").row(0).i8();
    }

    pg::Url url = *pg::Url::parse(PostgresServer::instance().url());
    std::unique_ptr<Ledger> ledger;
    std::unique_ptr<pg::Connection> session = pg::Connection::open(url, {});
};

TEST_F(PostgresSchemaFence, N3_ABatchThatFindsAnotherSchemaCommitsNothing) {
    commit_up_to(2);
    another_schema();
    try {
        commit_up_to(3);
        FAIL() << "a program of schema " << pg::schema_version() << " wrote into schema 9999";
    } catch (const LedgerFailure& failure) {
        EXPECT_EQ(failure.error().code, ErrorCode::kUnsupported);  // its worker stops
        EXPECT_NE(failure.error().message.find("9999"), std::string::npos);
    }
    EXPECT_EQ(applied(), 2u);
    // A new node detects it as well, before it has a row of its own.
    EXPECT_THROW((void)ledger->begin("dddddddd-0000-0000-0000-000000000004"), LedgerFailure);
}

TEST_F(PostgresSchemaFence, N3_AlsoABatchThatHadBegun) {
    auto txn = ledger->begin(kFenced);
    txn->mutable_head().applied_seq = {2};
    another_schema();
    EXPECT_THROW(txn->commit(), LedgerFailure);
    txn.reset();
    EXPECT_EQ(applied(), 1u);
}

TEST_F(PostgresSchemaFence, N3_MigratingWaitsForTheBatchThatIsUnderWay) {
    auto txn = ledger->begin(kFenced);
    txn->mutable_head().applied_seq = {2};
    std::atomic<bool> migrated{false};
    Result<pg::Migrated> result{pg::Migrated{}};
    std::thread migrating([&] {
        result = pg::migrate(url);
        migrated = true;
    });
    const auto end = std::chrono::steady_clock::now() + kFencePatience;
    while (!migrated && held_count() == 0 && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(migrated) << "it went past a batch";
    txn->commit();
    txn.reset();
    migrating.join();
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(applied(), 2u);
}

TEST_F(PostgresSchemaFence, N3_ABatchWaitsForTheMigrationThatIsUnderWay) {
    // The transaction of migrate(), held open.
    session->script("BEGIN");
    session->script("SELECT pg_advisory_xact_lock(1397511491, 1)");
    session->script("INSERT INTO sluice_ledger.migrations (number, name) VALUES (9999, 'x')");
    std::atomic<bool> ended{false};
    ErrorCode code{};
    std::thread applying([&] {
        try {
            commit_up_to(2);
        } catch (const LedgerFailure& failure) {
            code = failure.error().code;
        }
        ended = true;
    });
    const auto other = pg::Connection::open(url, {});
    const auto end = std::chrono::steady_clock::now() + kFencePatience;
    while (!ended && std::chrono::steady_clock::now() < end &&
           other->query_text("SELECT 1 FROM pg_locks WHERE NOT granted").empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(ended) << "it went past a migration";
    session->script("COMMIT");
    applying.join();
    EXPECT_EQ(code, ErrorCode::kUnsupported);
    EXPECT_EQ(applied(), 1u);
}

}  // namespace
}  // namespace sluice::test
