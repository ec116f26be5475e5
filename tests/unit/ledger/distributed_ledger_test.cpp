// The statements of a distributed ledger, on plain PostgreSQL. tests/citus runs them on Citus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "pg_store/connection/connection.hpp"
#include "pg_store/schema/migrate.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/postgres_server.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class Accounts : public testing::Test {
protected:
    /// Returns the same order ids for every account.
    static std::vector<OrderKey> keys() {
        std::vector<OrderKey> keys;
        for (std::uint32_t account = 1; account <= 9; ++account) {
            for (const char* id : {"a", "b", "c"}) {
                keys.push_back({{account}, {account * 10}, OrderId(id)});
            }
        }
        return keys;
    }
    /// One batch that changes all of them.
    void change_all(const std::function<void(OrderState&, bool found)>& change) const {
        const auto txn = ledger->begin(Books::kNode);
        change_orders(*txn, keys(), change);
        txn->commit();
    }
    void create_all() const {
        change_all([](OrderState& state, bool found) {
            EXPECT_FALSE(found);
            state.currency = Currency::parse("USD").value();
            state.amount = state.tax = state.shipping = std::to_string(state.key.shop.value);
        });
    }

    std::unique_ptr<Ledger> ledger;
};

class PostgresAccounts : public Accounts, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Both, PostgresAccounts, testing::Values("Postgres", "PostgresSpread"));

TEST_P(PostgresAccounts, ABatchOfManyAccountsFindsEachAccountsOwn) {
    if (PostgresServer::instance().is_given() && GetParam() != std::string("Postgres")) {
        GTEST_SKIP() << "the engine is what it is";
    }
    ledger = make_ledger(GetParam());
    create_all();
    change_all([](OrderState& state, bool found) {
        EXPECT_TRUE(found);
        EXPECT_EQ(state.amount, std::to_string(state.key.shop.value));
        state.duplicates_count = state.key.account.value;
    });
    const auto reader = ledger->snapshot(Books::kNode);
    reader->expect_orders(keys());
    for (const OrderKey& key : keys()) {
        OrderState state;
        ASSERT_TRUE(reader->load_order(key, state));
        EXPECT_EQ(state.duplicates_count, key.account.value);
    }
}

class PostgresSpread : public Accounts {
protected:
    void SetUp() override {
        if (PostgresServer::instance().is_given()) {
            GTEST_SKIP() << "it makes a server look spread";
        }
        ledger = make_ledger("PostgresSpread");
        session =
            pg::Connection::open(*pg::Url::parse(PostgresServer::instance().url("spread")), {});
    }
    std::unique_ptr<pg::Connection> session;
};

/// L2: a value that a machine refuses is reported as refused, although a COPY returns no reason.
/// Otherwise the batch would be retried permanently, or a race would turn orders into dead letters.
TEST_F(PostgresSpread, ARefusedCopyReportsItsReasonAtTheRetry) {
    session->script(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF current_query() LIKE 'COPY%' THEN RAISE 'as a machine says it' USING ERRCODE = "
        "'XX000'; "
        "END IF; RAISE 'too large' USING ERRCODE = '54000'; END $$; "
        "CREATE TRIGGER refuse BEFORE INSERT ON sluice_ledger.orders FOR EACH ROW "
        "WHEN (NEW.order_id = 'b') EXECUTE FUNCTION refuse()");
    const auto code = [this] {
        try {
            create_all();
        } catch (const LedgerFailure& failure) {
            return failure.error().code;
        }
        return ErrorCode::kInternal;
    };
    EXPECT_EQ(code(), ErrorCode::kBusy);
    EXPECT_EQ(code(), ErrorCode::kInvalid);
    session->script("DROP FUNCTION refuse() CASCADE");
    create_all();  // one by one, then
    change_all([](OrderState& state, bool found) {
        EXPECT_TRUE(found);
        EXPECT_EQ(state.amount, std::to_string(state.key.shop.value));
    });
}

/// After acquiring the gate, a session waits for rows that an unfinished commit left locked on any
/// machine.
TEST_F(PostgresSpread, N2_ABatchWaitsForUnfinishedCommitsAfterTheGate) {
    create_all();
    session->script("BEGIN; SELECT FROM sluice_ledger.heads FOR UPDATE");
    const auto txn = ledger->begin(Books::kNode);  // reads, and does not wait
    EXPECT_EQ(txn->head().node, Books::kNode);
    const auto waits = [this](const std::string& what) {
        return session
                   ->query_text(
                       "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE "
                       "NOT l.granted AND a.query LIKE '%" +
                       what + "%'")
                   .row(0)
                   .i8() != 0;
    };
    std::atomic<bool> ended{false};
    std::thread commits([&] {
        txn->commit();
        ended = true;
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!ended && !waits("SET applied_seq = applied_seq") &&
           std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(waits("SET applied_seq = applied_seq")) << "it went past what is not finished";
    session->script("COMMIT");
    commits.join();
    EXPECT_TRUE(ended);
}

TEST(PostgresDistribute, EveryTableThatIsSpreadHasItsColumnInItsKey) {
    const auto session =
        pg::Connection::open(*pg::Url::parse(PostgresServer::instance().url()), {});
    (void)make_ledger("Postgres");  // the tables
    for (const pg::DistributedTables& group : pg::distributed_tables()) {
        for (const char* table : group.tables) {
            const pg::Rows rows = session->query_text(
                "SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND "
                "a.attnum = ANY (i.indkey) WHERE i.indisprimary AND i.indrelid = "
                "'sluice_ledger." +
                std::string(table) + "'::regclass AND a.attname = '" + group.column + "'");
            EXPECT_EQ(rows.count(), 1) << table;
        }
    }
}

TEST(PostgresDistribute, NeedsCitus) {
    if (PostgresServer::instance().is_given()) {
        GTEST_SKIP() << "it may be Citus";
    }
    const pg::Url url = *pg::Url::parse(PostgresServer::instance().url());
    ASSERT_TRUE(pg::migrate(url).ok());
    const auto done = pg::distribute(url);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(done.error().message, HasSubstr("no Citus"));
}

}  // namespace
}  // namespace sluice::test
