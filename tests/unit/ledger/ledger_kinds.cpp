// The kinds of ledger that the rules are held against.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/rows/keys.hpp"
#include "lmdb_store/rows/row_value.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "unit/ledger/books.hpp"
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
                part.owed = part.owed + change.owed;
                part.in_payout = part.in_payout + change.in_payout;
                part.paid = part.paid + change.paid;
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

/// One database for the whole program, emptied for each test.
pg::Url emptied_database() {
    static const pg::Url url = [] {
        const auto parsed = pg::Url::parse(PostgresServer::instance().url());
        if (const auto migrated = pg::migrate(*parsed); !migrated) {
            throw std::runtime_error(migrated.error().message);
        }
        return *parsed;
    }();
    static const std::unique_ptr<pg::Connection> session = pg::Connection::open(url, {});
    static const std::string empty = [] {
        std::string text;
        const pg::Rows tables = session->query_text(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = "
            "'sluice_ledger' AND table_name NOT IN ('migrations', 'state')");
        for (int i = 0; i < tables.count(); ++i) {
            text += "DELETE FROM sluice_ledger." + tables.row(i).string() + "; ";
        }
        return text + "UPDATE sluice_ledger.state SET programs_revision = 0, imports = 0";
    }();
    session->script(empty);
    return url;
}

std::unique_ptr<Ledger> postgres_ledger() {
    auto opened =
        pg::PostgresLedger::open(emptied_database(), pg::PostgresLedger::Mode::kReadWrite, {});
    if (!opened) {
        throw std::runtime_error(opened.error().message);
    }
    return std::move(*opened);
}

void edit_by_sql(std::string_view node, const Balance& change) {
    const BalanceKey& key = change.key;
    pg::Connection::open(*pg::Url::parse(PostgresServer::instance().url()), {})
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
    } else if (dynamic_cast<pg::PostgresLedger*>(&ledger) != nullptr) {
        edit_by_sql(node, change);
    } else {
        const auto txn = ledger.begin(node);
        txn->add_to_balance(change);
        txn->commit();
    }
}

const std::vector<LedgerKind>& ledger_kinds() {
    static const std::vector<LedgerKind> kinds{
        {"Memory", [] { return std::make_unique<MemoryLedger>(); }},
        {"Embedded", [] { return std::make_unique<TemporaryLedger>(); }},
        {"Postgres", postgres_ledger},
    };
    return kinds;
}

}  // namespace sluice::test
