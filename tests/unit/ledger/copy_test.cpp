// A copied ledger: every row of every table, into either kind of ledger and back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/copy/row_sink.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/ledger/list_rows.hpp"
#include "lmdb_store/ledger/differences.hpp"
#include "lmdb_store/ledger/fill.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "pg_store/ledger/fill.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/postgres_server.hpp"
#include "unit/ledger/row_texts.hpp"

namespace sluice::test {
namespace {

constexpr const char* kSecondNode = "99999999-2222-3333-4444-555555555555";
constexpr std::uint32_t kRows = 3;

class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string& name)
        : path_(std::filesystem::temp_directory_path() /
                ("sluice-copy-" + std::to_string(::getpid()) + "-" + name)) {
        std::filesystem::remove_all(path_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

std::unique_ptr<store::EmbeddedLedger> open_folder(const std::filesystem::path& folder) {
    auto opened = store::EmbeddedLedger::open(folder, store::EmbeddedLedger::Mode::kReadWrite);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(*opened);
}

/// Lists a row as the rules do. PostgreSQL reads the lists from the tables themselves.
void put_lists(LedgerTxn& txn, RowView row) {
    if (row.is<Payout>()) {
        const auto& payout = row.as<Payout>();
        txn.put(PayoutByAccount{payout.account, payout.state, payout.payout_id});
        txn.put(PayoutByCreator{payout.account, payout.creator, payout.payout_id});
    } else if (row.is<PayoutRun>()) {
        txn.put(RunByAccount{row.as<PayoutRun>().account, row.as<PayoutRun>().payout_run});
    } else if (row.is<Click>() && row.as<Click>().source != ClickSource::kImport) {
        const auto& click = row.as<Click>();
        txn.put(ClickByReceipt{click.account, click.received_at, click.anon, click.program,
                               click.occurred_at, click.creator});
    } else if (row.is<LinkRow>()) {
        const auto& link = row.as<LinkRow>();
        txn.put(LinkByCreator{link.account, link.creator, link.link});
    } else if (row.is<PendingApproval>()) {
        const auto& pending = row.as<PendingApproval>();
        txn.put(WaitingByState{pending.account, pending.state, pending.command_id});
    }
}

void put_rows(LedgerTxn& txn) {
    for (const DescribedTable& table : described_tables()) {
        for (std::uint32_t number = 1; !table.index_in_sql && number <= kRows; ++number) {
            const AnyRow row = filled_row(table, number);
            txn.put_row(row.view());
            put_lists(txn, row.view());
        }
    }
}

/// Rows of every table, on two nodes; an order with events beyond those that it holds.
void fill_all(Ledger& ledger) {
    Books one(ledger);
    one.apply({program()});
    one.creator("ann", "spring", "ANN");
    one.products(Topic::kProductUpsert,
                 R"([{"platform_product_id":"p","title":"T","variants":[{"variant_sku":"v"}]}])");
    for (unsigned i = 0; i < kEventsInlineMax + kRows; ++i) {
        OrderText order;
        order.codes = {"ANN"};
        order.lines[0].amount = std::to_string(10 + i) + ".00";
        order.updated = "2026-01-02T00:00:00." + std::to_string(1000 + i) + "Z";
        one.update(order);
    }
    Books two(ledger, kSecondNode);
    OrderText order;
    order.id = "o2";
    order.codes = {"ANN"};
    two.create(order);
    for (const std::string_view node : {Books::kNode, std::string_view(kSecondNode)}) {
        const auto txn = ledger.begin(node);
        put_rows(*txn);
        txn->commit();
    }
}

std::vector<store::TableDigest> digests(WholeReader& reader) {
    const auto sink = store::RowDigests::make({});
    walk_ledger(reader, *sink);
    return sink->take();
}

/// Copies with a transaction every few rows, and returns the digests.
std::vector<store::TableDigest> copied(WholeReader& from, LedgerFill& to) {
    walk_ledger(from, to);
    to.flush();
    std::vector<store::TableDigest> there = digests(*to.written());
    to.finish();
    return there;
}

void expect_equal(const std::vector<store::TableDigest>& found,
                  const std::vector<store::TableDigest>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(found[i].rows, wanted[i].rows) << wanted[i].table;
        EXPECT_TRUE(found[i] == wanted[i]) << wanted[i].table;
        EXPECT_GE(wanted[i].rows,
                  wanted[i].table == "chains" || wanted[i].table == "catalog" ? 1U : 2U)
            << wanted[i].table << " proves nothing";
    }
}

/// A worker that was just stopped: its server ends the session in its own time.
TEST(CopiedLedger, PostgresWaitsForAWorkerThatLeaves) {
    auto worker = make_ledger("Postgres");
    (void)worker->begin(Books::kNode);  // connects
    std::thread leaves([&worker] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        worker.reset();
    });
    const auto database = pg::open_whole(*pg::Url::parse(PostgresServer::instance().url()), true);
    leaves.join();
    EXPECT_TRUE(database.ok()) << database.error().message;
}

TEST(CopiedLedger, PostgresAndFolderHoldEveryRowOfEveryTable) {
    const TemporaryFolder first("first");
    const TemporaryFolder back("back");
    std::filesystem::create_directory(first.path());
    ASSERT_TRUE(store::EmbeddedLedger::create(first.path()).ok());
    const auto source = open_folder(first.path());
    fill_all(*source);
    const auto wanted = digests(*source->whole_snapshot());
    (void)make_ledger("Postgres");  // migrates and empties the database
    const pg::Url url = *pg::Url::parse(PostgresServer::instance().url());
    {
        const auto fill = pg::PostgresFill::begin(url, "first", {7, {}});
        ASSERT_TRUE(fill.ok()) << fill.error().message;
        expect_equal(copied(*source->whole_snapshot(), **fill), wanted);
    }
    EXPECT_TRUE(*pg::PostgresFill::holds_ledger(url));
    EXPECT_EQ(pg::PostgresFill::begin(url, "first", {}).error().code, ErrorCode::kConflict);
    const auto database = pg::open_whole(url, true);
    ASSERT_TRUE(database.ok()) << database.error().message;
    {
        const auto fill = store::EmbeddedFill::begin(back.path(), "database", {7, {}});
        ASSERT_TRUE(fill.ok()) << fill.error().message;
        expect_equal(copied(**database, **fill), wanted);
        EXPECT_TRUE((*fill)->verify(5).empty());
    }
    // There and back, every index too.
    const auto returned = open_folder(back.path());
    const auto ours = returned->rows(Books::kNode);
    const auto theirs = source->rows(Books::kNode);
    const auto difference = store::first_difference(*ours, *theirs);
    EXPECT_FALSE(difference) << difference->table << " " << difference->key_hex;
}

TEST(CopiedLedger, AnUnfinishedOneIsRefusedAndBegunAgain) {
    const TemporaryFolder first("kept");
    const TemporaryFolder target("torn");
    std::filesystem::create_directory(first.path());
    ASSERT_TRUE(store::EmbeddedLedger::create(first.path()).ok());
    const auto source = open_folder(first.path());
    fill_all(*source);
    const auto reader = source->whole_snapshot();
    {
        const auto fill = store::EmbeddedFill::begin(target.path(), "/the/source", {5, {}});
        ASSERT_TRUE(fill.ok());
        walk_ledger(*reader, **fill);
        (*fill)->flush();
    }
    const auto refused =
        store::EmbeddedLedger::open(target.path(), store::EmbeddedLedger::Mode::kReadOnly);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    EXPECT_NE(refused.error().message.find("is an unfinished copy of /the/source"),
              std::string::npos);
    EXPECT_FALSE(*store::EmbeddedFill::holds_ledger(target.path()));
    const auto again = store::EmbeddedFill::begin(target.path(), "/the/source", {});
    ASSERT_TRUE(again.ok());
    expect_equal(copied(*reader, **again), digests(*reader));
}

/// A row that the heads count must exist, or the walk reports that it is missing.
TEST(CopiedLedger, AnOrderWithoutItsShopIsNotSkipped) {
    const TemporaryFolder folder("gone");
    std::filesystem::create_directory(folder.path());
    ASSERT_TRUE(store::EmbeddedLedger::create(folder.path()).ok());
    const auto ledger = open_folder(folder.path());
    Books books(*ledger);
    books.create({});
    (void)digests(*ledger->whole_snapshot());
    {
        const auto txn = ledger->begin(Books::kNode);
        ++txn->mutable_head().totals.orders;
        txn->commit();
    }
    EXPECT_THROW((void)digests(*ledger->whole_snapshot()), DamagedRow);
}

}  // namespace
}  // namespace sluice::test
