// The kinds of ledger that the rules are held against.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/rows/keys.hpp"
#include "lmdb_store/rows/row_value.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/books_views.hpp"
#include "unit/ledger/memory_ledger.hpp"
#include "unit/ledger/postgres_server.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"

namespace sluice::test {
namespace {

/// In memory where the machine has such a place: these tests are about rules, not about disks.
std::filesystem::path new_folder() {
    static std::atomic<unsigned> count{0};
    const std::filesystem::path memory("/dev/shm");
    const std::filesystem::path folder =
        (std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
        ("sluice-ledger-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::filesystem::create_directory(folder);
    return folder;
}

/// The embedded ledger in a folder of its own, which goes with it.
class TemporaryLedger final : public Ledger {
public:
    TemporaryLedger() : folder_(new_folder()) {
        if (Status created = store::EmbeddedLedger::create(folder_); !created) {
            throw std::runtime_error(created.error().message);
        }
        open();
    }
    ~TemporaryLedger() override {
        ledger_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    TemporaryLedger(const TemporaryLedger&) = delete;
    TemporaryLedger& operator=(const TemporaryLedger&) = delete;

    std::unique_ptr<LedgerTxn> begin(std::string_view node) override {
        return ledger_->begin(node);
    }
    std::unique_ptr<LedgerReader> snapshot(std::string_view node) override {
        return ledger_->snapshot(node);
    }
    /// The part of the first node; the row is made if it is not there.
    void edit_balance(const Balance& change) {
        ledger_.reset();
        store::LedgerKey key = store::balance_prefix(change.key);
        key.u32(1);
        const store::RawRows table(folder_, "balances");
        Balance part = change;
        for (const auto& [stored_key, value] : table.all()) {
            if (stored_key == key.view()) {
                EXPECT_TRUE(store::RowValue::decode(stored_key, value, part));
                part += change;
            }
        }
        store::RowValue value;
        table.put(key.view(), value.encode(key.view(), part));
        open();
    }

private:
    void open() {
        auto opened = store::EmbeddedLedger::open(folder_, store::EmbeddedLedger::Mode::kReadWrite);
        if (!opened) {
            throw std::runtime_error(opened.error().message);
        }
        ledger_ = std::move(*opened);
    }

    std::filesystem::path folder_;
    std::unique_ptr<store::EmbeddedLedger> ledger_;
};

/// One database for the whole program, emptied for each test. Its sessions stay, because the server
/// spends more on a new one, which knows no table and no statement yet, than on most tests.
class EmptiedDatabase {
public:
    explicit EmptiedDatabase(const std::string& url) : url_text_(url), url_(*pg::Url::parse(url)) {
        if (const auto migrated = pg::migrate(url_); !migrated) {
            throw std::runtime_error(migrated.error().message);
        }
        session_ = pg::Connection::open(url_, {});
        const pg::Rows tables = session_->query_text(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = "
            "'sluice_ledger' AND table_type = 'BASE TABLE' AND table_name NOT IN ('migrations', "
            "'state')");
        for (int i = 0; i < tables.count(); ++i) {
            empty_ += "DELETE FROM sluice_ledger." + tables.row(i).string() + "; ";
        }
    }
    [[nodiscard]] pg::Connection& session() { return *session_; }
    std::unique_ptr<Ledger> ledger() {
        // An open ledger knows the programs of a revision: no two tests have the same ones.
        constexpr int kRevisionsMax = 1'000'000;
        empty(uses_ * kRevisionsMax);
        if (!kept_) {
            kept_ = open();
        }
        return std::make_unique<ViewedLedger>(kept_, url_text_, session_);
    }
    /// With sessions of its own, and no other that may write.
    std::unique_ptr<Ledger> own_ledger() {
        kept_.reset();
        empty(0);
        return std::make_unique<ViewedLedger>(open(), url_text_, session_);
    }

private:
    void empty(std::int64_t revision) {
        *in_doubt_ = {};
        session_->script(empty_ + "UPDATE sluice_ledger.state SET programs_revision = " +
                         std::to_string(revision));
        // Without it each test would read over the deleted rows of all before it.
        constexpr int kUsesBetween = 10;
        if (++uses_ % kUsesBetween == 0) {
            session_->script("VACUUM");
        }
    }
    [[nodiscard]] std::shared_ptr<Ledger> open() {
        auto opened =
            pg::PostgresLedger::open(url_, pg::PostgresLedger::Mode::kReadWrite, {}, in_doubt_);
        if (!opened) {
            throw std::runtime_error(opened.error().message);
        }
        return *std::move(opened);
    }

    std::string url_text_;
    pg::Url url_;
    std::shared_ptr<pg::Connection> session_;
    std::shared_ptr<pg::InDoubt> in_doubt_ = std::make_shared<pg::InDoubt>();
    std::shared_ptr<Ledger> kept_;
    std::string empty_;
    std::int64_t uses_ = 0;
};

EmptiedDatabase& postgres_database() {
    static EmptiedDatabase database(PostgresServer::instance().url());
    return database;
}

/// A server that appears as if Citus had distributed the ledger over several machines, so that
/// tests on plain PostgreSQL run those statements.
EmptiedDatabase& spread_database() {
    static EmptiedDatabase database = [] {
        const PostgresServer& server = PostgresServer::instance();
        pg::Connection::open(*pg::Url::parse(server.url()), {})->script("CREATE DATABASE spread");
        EmptiedDatabase made(server.url("spread"));
        made.session().script(
            "CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod \"char\"); "
            "INSERT INTO pg_dist_partition VALUES ('sluice_ledger.orders', 'h'); "
            "CREATE FUNCTION run_command_on_workers(text, OUT success boolean, OUT result text) "
            "RETURNS SETOF record LANGUAGE sql AS $$ SELECT true, '0' $$");
        return made;
    }();
    return database;
}

std::vector<LedgerKind> all_kinds() {
    std::vector<LedgerKind> kinds{
        {"Memory", [] { return std::make_unique<MemoryLedger>(); }},
        {"Embedded", [] { return std::make_unique<TemporaryLedger>(); }},
        {"Postgres", [] { return postgres_database().ledger(); }},
    };
    if (std::getenv("SLUICE_TEST_LEDGER") == nullptr) {
        kinds.push_back({"PostgresSpread", [] { return spread_database().ledger(); }});
    }
    return kinds;
}

void edit_by_sql(const std::string& url, std::string_view node, const Balance& change) {
    const BalanceKey& key = change.key;
    pg::Connection::open(*pg::Url::parse(url), {})
        ->script("INSERT INTO sluice_ledger.balances AS old SELECT " +
                 std::to_string(key.account.value) + ", '" + key.program.str() + "', '" +
                 key.creator.str() + "', '" + std::string(key.currency.code()) + "', number, " +
                 change.owed.to_string() + ", " + change.in_payout.to_string() + ", " +
                 change.paid.to_string() + " FROM sluice_ledger.heads WHERE node = '" +
                 std::string(node) +
                 "' ON CONFLICT (account, program, creator, currency, node) DO UPDATE SET "
                 "owed = old.owed + excluded.owed, in_payout = old.in_payout + "
                 "excluded.in_payout, paid = old.paid + excluded.paid");
}

}  // namespace

void edit_balance(Ledger& ledger, std::string_view node, const Balance& change) {
    if (auto* embedded = dynamic_cast<TemporaryLedger*>(&ledger)) {
        embedded->edit_balance(change);
    } else if (auto* viewed = dynamic_cast<ViewedLedger*>(&ledger)) {
        edit_by_sql(viewed->url(), node, change);
    } else {
        const auto txn = ledger.begin(node);
        txn->add_to_balance(change);
        txn->commit();
    }
}

const std::vector<LedgerKind>& ledger_kinds() {
    static const std::vector<LedgerKind> kinds = all_kinds();
    return kinds;
}

std::unique_ptr<Ledger> make_ledger(std::string_view kind) {
    if (kind.starts_with("Postgres")) {
        return (kind == "Postgres" ? postgres_database() : spread_database()).own_ledger();
    }
    for (const LedgerKind& known : ledger_kinds()) {
        if (known.name == kind) {
            return known.make();
        }
    }
    throw std::logic_error("no such kind of ledger");
}

void change_orders(LedgerTxn& txn, const std::vector<OrderKey>& keys,
                   const std::function<void(OrderState&, bool found)>& change) {
    txn.expect_orders(keys);
    for (const OrderKey& key : keys) {
        OrderState state;
        const bool found = txn.load_order(key, state);
        state.key = key;
        change(state, found);
        txn.put_order(state);
    }
}

}  // namespace sluice::test
