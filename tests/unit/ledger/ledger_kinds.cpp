// The kinds of ledger that the rules are held against.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "lmdb_store/ledger/ledger.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/memory_ledger.hpp"
#include "unit/ledger/postgres_server.hpp"

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
        auto opened = store::EmbeddedLedger::open(folder_, store::EmbeddedLedger::Mode::kReadWrite);
        if (!opened) {
            throw std::runtime_error(opened.error().message);
        }
        ledger_ = std::move(*opened);
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

private:
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

}  // namespace

const std::vector<LedgerKind>& ledger_kinds() {
    static const std::vector<LedgerKind> kinds{
        {"Memory", [] { return std::make_unique<MemoryLedger>(); }},
        {"Embedded", [] { return std::make_unique<TemporaryLedger>(); }},
        {"Postgres", postgres_ledger},
    };
    return kinds;
}

}  // namespace sluice::test
