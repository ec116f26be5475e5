// Tests of PostgreSQL alone: slices of many orders, batches of several parts, a schema of an
// earlier format, lists as texts, and the views that people read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/valid.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/values/money.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/rows/list_text.hpp"
#include "pg_store/schema/migrate.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/postgres_server.hpp"
#include "unit/ledger/worker_scene.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;

pg::Url database(const std::string& name = "postgres") {
    return *pg::Url::parse(PostgresServer::instance().url(name));
}

// ---- Slices (N4) --------------------------------------------------------------------------------

constexpr std::size_t kSlice = 4096;
constexpr std::size_t kManyOrders = 3 * kSlice + 1;

std::vector<OrderKey> slice_of_keys(std::size_t from) {
    std::vector<OrderKey> keys;
    for (std::size_t i = from; i < std::min(from + kSlice, kManyOrders); ++i) {
        keys.push_back({{1}, {1}, OrderId("o" + std::to_string(i))});
    }
    return keys;
}

/// Loads and puts every order, slice by slice, in one transaction.
void change_all(Ledger& ledger, const std::function<void(OrderState&, bool found)>& change) {
    const auto txn = ledger.begin(Books::kNode);
    for (std::size_t from = 0; from < kManyOrders; from += kSlice) {
        change_orders(*txn, slice_of_keys(from), change);
    }
    txn->commit();
}

TEST(PostgresSlices, N4_MoreOrdersThanAreHeldAtOnceAreWrittenInOneTransaction) {
    const std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    change_all(*ledger, [](OrderState& state, bool found) {
        EXPECT_FALSE(found);
        state.currency = Currency::parse("USD").value();
        state.amount = state.tax = state.shipping = "1.00";
        state.lines = {{LineItemId("l"), Sku("s"), std::nullopt, Decimal(100, 2), {}, 1, true}};
    });
    for (std::uint64_t round = 1; round <= 2; ++round) {
        change_all(*ledger, [round](OrderState& state, bool found) {
            EXPECT_TRUE(found);
            EXPECT_EQ(state.duplicates_count, round - 1);
            state.duplicates_count = round;
        });
    }
    const auto reader = ledger->snapshot(Books::kNode);
    for (std::size_t from = 0; from < kManyOrders; from += kSlice) {
        const std::vector<OrderKey> keys = slice_of_keys(from);
        reader->expect_orders(keys);
        for (const OrderKey& key : keys) {
            OrderState state;
            ASSERT_TRUE(reader->load_order(key, state));
            EXPECT_EQ(state.key, key);
            EXPECT_EQ(state.duplicates_count, 2U);
            EXPECT_EQ(state.lines.size(), 1U);
        }
    }
    std::size_t count = 0;
    reader->scan_orders({1}, {1}, [&count](const OrderState&) { return ++count != 0; });
    EXPECT_EQ(count, kManyOrders);
}

TEST(PostgresSlices, AnOrderThatWasExpectedAndIsNotThereIsNew) {
    const std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    const std::vector<OrderKey> keys{{{1}, {1}, OrderId("none")}};
    OrderState state;
    const auto reader = ledger->snapshot(Books::kNode);
    reader->expect_orders(keys);
    EXPECT_FALSE(reader->load_order(keys.front(), state));
    const auto txn = ledger->begin(Books::kNode);
    txn->expect_orders(keys);
    EXPECT_FALSE(txn->load_order(keys.front(), state));
}

/// As an erase and a put of one key in one transaction have it: the put is what stays.
TEST(PostgresTables, ARowThatIsErasedAndPutAgainIsPut) {
    const std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    PayoutPart row{"P260131140509-7KQ4M9-0001", ProgramId("spring"), Decimal(100, 2)};
    for (const std::int64_t amount : {100, 200}) {
        const auto txn = ledger->begin(Books::kNode);
        txn->erase(row);
        row.amount = Decimal(amount, 2);
        txn->put(row);
        txn->commit();
        PayoutPart found{row.payout_id, row.program, {}};
        ASSERT_TRUE(ledger->snapshot(Books::kNode)->load(found));
        EXPECT_EQ(found.amount, row.amount);
    }
    const auto txn = ledger->begin(Books::kNode);
    txn->put(row);  // twice: no row of such a table is written again
    EXPECT_THROW(txn->commit(), LedgerFailure);
}

/// Many rows of a table that is written once (by COPY) are stored like a few.
TEST(PostgresTables, N4_ThousandsOfItemsComeBackInTheirOrder) {
    const std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    constexpr std::size_t kItems = 12'345;
    PayoutItem item;
    item.payout_id = "P260131140509-7KQ4M9-0001";
    item.program = ProgramId("spring");
    {
        const auto txn = ledger->begin(Books::kNode);
        for (std::size_t i = kItems; i-- > 0;) {
            item.order_id = OrderId(std::to_string(100'000 + i));
            item.amount = Decimal(static_cast<std::int64_t>(i), 2);
            txn->put(item);
        }
        txn->commit();
    }
    std::size_t next = 0;
    PayoutItem first;
    first.payout_id = item.payout_id;
    ledger->snapshot(Books::kNode)->scan(first, {1, 1}, [&next](const PayoutItem& row) {
        EXPECT_EQ(row.order_id.str(), std::to_string(100'000 + next));
        EXPECT_EQ(row.amount, Decimal(static_cast<std::int64_t>(next), 2));
        ++next;
        return true;
    });
    EXPECT_EQ(next, kItems);
}

// ---- Batches whose rows are copied while their later inputs are applied
// --------------------------

class PostgresBatches : public testing::Test {
protected:
    static constexpr int kOrders = 3500;  // more than are announced to the ledger together

    void SetUp() override {
        if (PostgresServer::instance().is_given()) {
            GTEST_SKIP() << "it needs a database of its own";
        }
        store_.program_and_creator();
        store_.drain_all();
    }
    static worker::DrainOptions one_batch() {
        worker::DrainOptions options;
        options.batch.time_max = std::chrono::minutes{1};
        return options;
    }
    [[nodiscard]] static std::unique_ptr<pg::Connection> session() {
        return pg::Connection::open(database("scene"), {});
    }
    [[nodiscard]] static std::int64_t count(const std::string& rows) {
        return session()->query_text("SELECT count(*) FROM sluice_ledger." + rows).row(0).i8();
    }

    WorkerScene store_{WorkerLedger::kPostgres};
};

TEST_F(PostgresBatches, N4_OrdersThatAreCopiedAlreadyChangeAgainInTheSameBatch) {
    store_.orders(0, kOrders);
    for (int i = 0; i < kOrders; i += 7) {
        const std::string id = "o" + std::to_string(i);
        store_.order(id, 2, "40.00", i % 2 == 0 ? "SPRING" : "ANOTHER");
        store_.order(id, 1);  // a duplicate
    }
    store_.orders(kOrders, 10);
    store_.drain_all(one_batch());
    EXPECT_EQ(count("batches WHERE last_seq - first_seq > 3000"), 1) << "several batches";
    EXPECT_EQ(count("orders"), kOrders + 10);
    EXPECT_EQ(store_.audit(), "nothing");
}

/// A batch that fails is taken apart until the order that the server refuses is alone.
TEST_F(PostgresBatches, AnOrderThatTheServerRefusesFromAnEarlierPartIsTheOnlyDeadLetter) {
    session()->script("ALTER TABLE sluice_ledger.orders ADD CHECK (order_id <> 'o3')");
    store_.orders(0, kOrders);
    store_.drain_all(one_batch());
    EXPECT_EQ(count("orders"), kOrders - 1);
    EXPECT_EQ(count("dead"), 1);
    EXPECT_EQ(count("orders_by_code"), kOrders - 1);
}

/// Rows of new orders are copied, because the ledger cannot have them.
TEST_F(PostgresBatches, ARowOfANewOrderThatSomeoneInsertedByHandIsReplaced) {
    store_.orders(0, kOrders);
    store_.drain_all(one_batch());
    session()->script(
        "UPDATE sluice_ledger.open SET order_id = 'p' || substr(order_id, 2) WHERE order_id = "
        "'o8'; "
        "UPDATE sluice_ledger.open SET amount = 77 WHERE order_id = 'p8'");
    for (int i = 0; i < 300; ++i) {
        store_.order("p" + std::to_string(i), 1);
    }
    store_.drain_all(one_batch());
    EXPECT_EQ(count("open WHERE order_id = 'p8' AND amount = 10"), 1);
    EXPECT_EQ(count("open"), kOrders + 300 - 1);
}

/// An input whose damage stops its batch while rows are copied behind it leaves a usable session.
TEST_F(PostgresBatches, AnInputThatCannotBeAppliedLeavesTheRestOfItsBatch) {
    store_.orders(0, 10);
    store_.drain_all();
    session()->script("UPDATE sluice_ledger.orders SET line_amounts = 'x' WHERE order_id = 'o5'");
    store_.orders(10, kOrders);
    store_.order("o5", 2);
    store_.orders(10 + kOrders, 10);
    store_.drain_all(one_batch());
    EXPECT_EQ(count("orders"), kOrders + 20);
    EXPECT_EQ(count("dead"), 1);
}

// ---- A schema of an earlier format --------------------------------------------------------------

class PostgresEarlierFormat : public testing::Test {
protected:
    void SetUp() override {
        if (PostgresServer::instance().is_given()) {
            GTEST_SKIP() << "it needs a database of its own";
        }
        const auto root = pg::Connection::open(database(), {});
        root->script("DROP DATABASE IF EXISTS earlier");
        root->script("CREATE DATABASE earlier");
        pg::Connection::open(url, {})->script(
            "CREATE SCHEMA sluice_ledger; "
            "CREATE TABLE sluice_ledger.migrations (number integer PRIMARY KEY, name text NOT "
            "NULL, applied_at timestamptz NOT NULL DEFAULT now()); "
            "INSERT INTO sluice_ledger.migrations SELECT n, 'earlier' FROM generate_series(30, "
            "32) n; CREATE TABLE sluice_ledger.heads (node text)");
    }
    static void expect_refused(const Error& error) {
        EXPECT_EQ(error.code, ErrorCode::kUnsupported);
        EXPECT_THAT(error.message, HasSubstr("written by an earlier sluice (schema 32)"));
        EXPECT_THAT(error.message, HasSubstr("sluice ledger rebuild --from ARCHIVE --ledger URL"));
    }
    pg::Url url = database("earlier");
};

TEST_F(PostgresEarlierFormat, IsNeitherReadNorMigrated) {
    const auto opened = pg::PostgresLedger::open(url, pg::PostgresLedger::Mode::kReadOnly, {});
    ASSERT_FALSE(opened.ok());
    expect_refused(opened.error());
    const auto migrated = pg::migrate(url);
    ASSERT_FALSE(migrated.ok());
    expect_refused(migrated.error());
    const auto session = pg::Connection::open(url, {});
    EXPECT_EQ(
        session->query_text("SELECT max(number)::bigint FROM sluice_ledger.migrations").row(0).i8(),
        32);
}

TEST_F(PostgresEarlierFormat, IsCreatedAgainAfterItWasDropped) {
    pg::Connection::open(url, {})->script("DROP SCHEMA sluice_ledger CASCADE");
    const auto migrated = pg::migrate(url);
    ASSERT_TRUE(migrated.ok()) << migrated.error().message;
    EXPECT_EQ(migrated->before, 0);
    EXPECT_GT(migrated->now, 32);  // no number of the earlier one means this schema
    EXPECT_TRUE(pg::PostgresLedger::open(url, pg::PostgresLedger::Mode::kReadWrite, {}).ok());
    const auto again = pg::migrate(url);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(again->applied.empty());
}

// ---- Lists as texts
// -------------------------------------------------------------------------------

TEST(PostgresLists, TheFunctionsOfTheSchemaReadThemAsTheProgramDoes) {
    const std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    const auto session = pg::Connection::open(database(), {});
    const std::vector<std::vector<std::optional<std::string>>> lists{
        {""},
        {"a"},
        {"", ""},
        {"a", std::nullopt, "b"},
        {std::nullopt},
        {"a\x1f"
         "b",
         "\x1a", "\x1b",
         "\x1bs\x1bn\x1b"
         "e",
         "\x1b\x1f\x1a", "s", "\\", "{}", "NULL"}};
    for (const auto& list : lists) {
        pg::ListText text;
        for (const auto& value : list) {
            text.add(value);
        }
        pg::RowWriter row;
        text.write_to(row);
        std::vector<std::optional<std::string>> found;
        const pg::Rows rows = session->query_text(
            "SELECT sluice_ledger.plain(e) FROM unnest(sluice_ledger.elements($1::text)) "
            "WITH ORDINALITY AS u (e, n) ORDER BY n",
            row);
        for (int i = 0; i < rows.count(); ++i) {
            const pg::Field field = rows.row(i).next();
            found.push_back(field ? std::optional<std::string>(*field) : std::nullopt);
        }
        EXPECT_EQ(found, list);
    }
    EXPECT_TRUE(session->query_text("SELECT sluice_ledger.elements(NULL)").row(0).next_is_null());
}

// ---- Views --------------------------------------------------------------------------------------

class PostgresViews : public testing::Test {
protected:
    void SetUp() override {
        books.receive_at("2026-02-01T00:00:00Z");
        books.apply({program(), held()});
        books.creator("c1", "spring", "SAVE");
        books.creator("c2", "held", "HOLD");
        books.create(order("o1", "SAVE"));
        books.create(order("o2", "HOLD"));
        books.create(order("o3", "SAVE"));
        OrderText cancelled = order("o4", "SAVE");
        cancelled.updated = cancelled.ordered;
        books.create(cancelled);
        cancelled.cancelled = cancelled.ordered;
        books.cancel(cancelled);  // of the same version: an anomaly that blocks
        books.close_account("2026-02-01T00:00:00Z");
        PayoutMove settle{PayoutVerb::kSettle, {}, {}, {}};
        books.read()->scan_payouts([&settle](const Payout& payout) {
            settle.ids.push_back(payout.payout_id);
            return true;
        });
        ASSERT_EQ(settle.ids.size(), 1U);
        books.command(settle);
        books.create(order("o5", "SAVE"));
    }
    static Program held() {
        Program held = program("held");
        held.clearing_days = 36'500;
        return held;
    }
    static OrderText order(const char* id, const char* code) {
        OrderText order;
        order.id = id;
        order.codes = {code};
        return order;
    }
    /// The columns of each row, by `|`.
    [[nodiscard]] std::vector<std::string> rows(const std::string& select) const {
        std::vector<std::string> rows;
        const pg::Rows found = session->query_text("SELECT concat_ws('|', " + select);
        for (int i = 0; i < found.count(); ++i) {
            rows.push_back(found.row(i).string());
        }
        return rows;
    }

    std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    Books books{*ledger};
    std::unique_ptr<pg::Connection> session = pg::Connection::open(database(), {});
};

TEST_F(PostgresViews, JournalNamesBooksAndReasonsAsTheRulesDo) {
    std::vector<std::string> expected;
    books.read()->scan_journal(1, [&expected](const JournalGroup& group) {
        for (std::size_t i = 0; i < group.entries.size(); ++i) {
            const JournalEntry& entry = group.entries[i];
            const DebitCredit of = debit_credit_of(entry.reason);
            expected.push_back(std::to_string(group.first_entry + i) + "|" +
                               std::string(to_string(entry.reason)) + "|" +
                               (is_memo(entry.reason) ? "memo" : entry.amount.to_string()) + "|" +
                               ledger_account_name(of.debit, group.payout_id) + "|" +
                               ledger_account_name(of.credit, group.payout_id));
        }
        return true;
    });
    EXPECT_EQ(rows("entry, reason, coalesce(amount::text, 'memo'), coalesce(debit_account, ''), "
                   "coalesce(credit_account, '')) FROM journal ORDER BY entry"),
              expected);
}

TEST_F(PostgresViews, EveryReasonAndKindHasItsName) {
    for (unsigned i = 1; i < 128; ++i) {
        const auto reason = static_cast<JournalReason>(i);
        const std::string name = is_valid(reason) ? std::string(to_string(reason)) : "";
        const DebitCredit of = is_valid(reason) ? debit_credit_of(reason) : DebitCredit{};
        EXPECT_EQ(rows("coalesce(sluice_ledger.reason_name(" + std::to_string(i) +
                       "), ''), coalesce(sluice_ledger.debit_account(" + std::to_string(i) +
                       ", 'P'), ''), coalesce(sluice_ledger.credit_account(" + std::to_string(i) +
                       ", 'P'), ''))")
                      .front(),
                  name + "|" + ledger_account_name(of.debit, "P") + "|" +
                      ledger_account_name(of.credit, "P"));
    }
    for (unsigned i = 1; i < kAnomalyKinds; ++i) {
        EXPECT_EQ(rows("sluice_ledger.anomaly_name(" + std::to_string(i) + "))").front(),
                  to_string(static_cast<AnomalyKind>(i)));
    }
}

/// They are compared here, and after worked examples and random histories.
TEST_F(PostgresViews, EqualTheExport) {
    EXPECT_EQ(books.wrong_views(), "");
    std::string stored = rows("pg_get_viewdef('balances'))").front();
    stored.pop_back();  // ;
    const std::string replace = "CREATE OR REPLACE VIEW balances AS ";
    session->script(replace + "SELECT account_id, program_id, creator_id, currency, owed + 1 AS " +
                    "owed, in_payout, paid FROM (" + stored + ") b");
    const std::string wrong = books.wrong_views();
    session->script(replace + stored);
    EXPECT_THAT(wrong, HasSubstr(R"(view balances alone has ["acme","held","c2","USD","11","0",)"));
    EXPECT_THAT(wrong, HasSubstr(R"(view balances lacks ["acme","held","c2","USD","10","0",)"));
}

TEST_F(PostgresViews, PositionsItemsAndPayoutsHaveOneSum) {
    EXPECT_EQ(rows("order_id, line_item_id, accrued, allocated, live) FROM positions ORDER BY "
                   "order_id"),
              (std::vector<std::string>{"o1|l1|10.00|10.00|t", "o2|l1|10.00|0.00|t",
                                        "o3|l1|10.00|10.00|t", "o4|l1|10.00|0.00|t",
                                        "o5|l1|10.00|0.00|t"}));
    EXPECT_EQ(rows("sum(allocated)) FROM positions"), rows("sum(amount)) FROM payouts"));
    EXPECT_EQ(rows("sum(amount)) FROM payout_items"), rows("sum(amount)) FROM payouts"));
    EXPECT_EQ(rows("state, amount, orders, items) FROM payouts"),
              (std::vector<std::string>{"PAID|20.00|2|2"}));
    EXPECT_EQ(rows("creator_id, owed, in_payout, paid) FROM balances ORDER BY program_id"),
              (std::vector<std::string>{"c2|10.00|0.00|0.00", "c1|20.00|0.00|20.00"}));
}

/// Balances of an earlier system come before the first order.
TEST(PostgresViewsAlone, AnAccountWithoutAShopHasAllItsRows) {
    const std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    Books books(*ledger);
    books.names_shop = false;
    books.apply({program()});
    books.creator("c1", "spring", "SAVE");
    OpeningImport balances{instant("2026-01-15T00:00:00Z"), {}};
    balances.rows.push_back(
        {2, CreatorId("c1"), ProgramId("spring"), parse_money("8.00 USD").value()});
    EXPECT_FALSE(books.command(balances).failed);
    books.close_account("2026-02-01T00:00:00Z");
    const auto session = pg::Connection::open(database(), {});
    const auto count = [&session](const std::string& rows) {
        return session->query_text("SELECT count(*) FROM " + rows).row(0).i8();
    };
    EXPECT_EQ(count("sluice_ledger.shops"), 0);
    EXPECT_EQ(count("balances WHERE account_id = 'acme' AND in_payout = 8"), 1);
    EXPECT_EQ(count("payouts WHERE account_id = 'acme'"), 1);
    EXPECT_GT(count("journal WHERE account_id = 'acme'"), 2);
    EXPECT_EQ(count("journal WHERE account_id IS NULL"), 0);
    EXPECT_EQ(books.wrong_views(), "");
}

/// The view `balances` called payable what a write-off keeps from being paid.
TEST(PostgresViewsAlone, TheRestOfAWriteOffIsOwedAndOnlyTheRulesSayWhetherItIsPaid) {
    const std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    Books books(*ledger);
    books.apply({program()});
    books.creator("c1", "spring", "SAVE");
    OrderText order;
    order.codes = {"SAVE"};
    order.updated = "2026-01-01T00:00:00Z";
    books.create(order);
    books.close_account("2026-02-01T00:00:00Z");
    order.updated = "2026-01-02T00:00:00Z";
    order.refunds = {RefundText{"r1", "l1", "100.00"}};
    books.update(order);
    EXPECT_FALSE(books
                     .command(WriteOff{CreatorId("c1"), ProgramId("spring"),
                                       parse_money("10.00 USD").value()})
                     .failed);
    std::vector<std::string> ids;
    books.read()->scan_payouts([&ids](const Payout& payout) {
        ids.push_back(payout.payout_id);
        return true;
    });
    EXPECT_FALSE(books.command(PayoutMove{PayoutVerb::kVoid, ids}).failed);
    EXPECT_THAT(books.balances("2026-03-01T00:00:00Z").front(), HasSubstr("blocked=10.00"));
    EXPECT_EQ(books.wrong_views(), "");
    const auto session = pg::Connection::open(database(), {});
    EXPECT_EQ(session->query_text("SELECT owed::text FROM balances").row(0).text(), "10.00");
}

}  // namespace
}  // namespace sluice::test
