// K9: the replay finds every edit of every column of every table, in both kinds of ledger, and
// names table, key and column. Both tests are generated from the descriptions and from the
// database's own list of columns, so that a new column cannot be forgotten.
#include "worker/replay/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/order.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "program/system/file.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/postgres_server.hpp"
#include "unit/ledger/replay_scene.hpp"
#include "unit/ledger/row_texts.hpp"
#include "unit/whole_form.hpp"
#include "worker/drain/rebuild.hpp"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// ---- Described tables, in both kinds of ledger --------------------------------------------------

/// Another value of the same type.
struct Edit {
    const Column& column;

    void operator()(std::uint8_t& value) const {
        const std::uint8_t before = value;
        do {
            ++value;
        } while (!column.is_valid(value) && value != before);
        ASSERT_NE(value, before) << column.name << " has one value only";
    }
    void operator()(std::uint32_t& value) const { value += 1000; }
    void operator()(std::uint64_t& value) const { value += 1000; }
    void operator()(bool& value) const { value = !value; }
    void operator()(AnyTextId& id) const { id.assign(std::string(id.view()) + "x"); }
    void operator()(std::string& value) const { value += "x"; }
    void operator()(Currency& value) const {
        value = *Currency::parse(value.code() == "EUR" ? "JPY" : "EUR");
    }
    void operator()(Decimal& value) const { value += Decimal(1, value.scale()); }
    void operator()(Timestamp& value) const { value.seconds += 86'400; }
    void operator()(Digest256& value) const { value[0] ^= 1; }
};

/// The first row of a table, or nothing.
std::optional<AnyRow> first_row(Ledger& ledger, const DescribedTable& table) {
    std::optional<AnyRow> first;
    const AnyRow from(table);
    ledger.snapshot(Books::kNode)->scan_rows(from.view(), {}, [&first](RowView row) {
        first.emplace(row);
        return false;
    });
    return first;
}

void replace(Ledger& ledger, const std::optional<AnyRow>& old, const std::optional<AnyRow>& row) {
    if (old) {
        const auto txn = ledger.begin(Books::kNode);
        txn->erase_row(old->view());
        txn->commit();
    }
    if (row) {
        const auto txn = ledger.begin(Books::kNode);
        txn->put_row(row->view());
        txn->commit();
    }
}

/// One edit of a table's rows.
struct Planted {
    const DescribedTable* table;
    std::string column;  ///< Empty for a row that nothing made.
    std::optional<AnyRow> before, after;
};

AnyRow edited(const AnyRow& row, const Column& column) {
    AnyRow copy = row;
    void* const at = copy.ref().get();
    if (column.optional != nullptr && column.find(at) != nullptr) {
        column.reset(at);
    } else {
        with_value(column.kind, column.make(at), Edit{column});
    }
    return copy;
}

/// Every edit of one table.
std::vector<Planted> edits_of(const DescribedTable& table, const std::optional<AnyRow>& row) {
    if (!row) {
        return {{&table, "", std::nullopt, filled_row(table, 1)}};
    }
    std::vector<Planted> edits;
    for (const std::vector<Column>* columns : {&table.key, &table.rest}) {
        for (const Column& column : *columns) {
            edits.push_back({&table, column.name, row, edited(*row, column)});
        }
    }
    return edits;
}

/// Edits every column of every table, and expects each to be found and named. One audit judges one
/// edit of each table, because the tables are compared one by one.
/// @param columns_max  Edits fewer columns of each table.
void edit_each(ReplayScene& scene, const worker::LedgerPlace& place,
               const std::function<std::unique_ptr<Ledger>()>& open,
               std::size_t columns_max = std::numeric_limits<std::size_t>::max()) {
    std::vector<std::vector<Planted>> rounds;
    for (const DescribedTable& table : described_tables()) {
        if (place.url && table.index_in_sql) {
            continue;  // a view there: it follows from a table that is edited
        }
        std::vector<Planted> edits = edits_of(table, first_row(*open(), table));
        edits.resize(std::min(edits.size(), columns_max));
        rounds.resize(std::max(rounds.size(), edits.size()));
        for (std::size_t i = 0; i < edits.size(); ++i) {
            rounds[i].push_back(std::move(edits[i]));
        }
    }
    for (const std::vector<Planted>& round : rounds) {
        for (const auto ledger = open(); const Planted& edit : round) {
            replace(*ledger, edit.before, edit.after);
        }
        const worker::ReplayOutcome found = scene.audit(place);
        for (const Planted& edit : round) {
            EXPECT_TRUE(is_named(found, edit.table->name, edit.column))
                << edit.table->name << "." << edit.column << "\n"
                << said(found);
        }
        for (const auto ledger = open(); const Planted& edit : round) {
            replace(*ledger, edit.after, edit.before);
        }
    }
    const worker::ReplayOutcome end = scene.audit(place);
    EXPECT_EQ(said(end), "nothing") << "the edits were undone";
}

class Replay : public testing::Test {
protected:
    worker::LedgerPlace folder() {
        auto rebuild = worker::Rebuild::begin({scene.archive()}, scene.ledger(), {});
        EXPECT_TRUE(rebuild.ok()) << rebuild.error().message;
        EXPECT_TRUE((*rebuild)->replay().ok());
        return {std::nullopt, scene.ledger()};
    }
    worker::LedgerPlace database() {
        auto rebuild = worker::Rebuild::resume({scene.archive()}, make_ledger("Postgres"), {});
        EXPECT_TRUE(rebuild.ok()) << rebuild.error().message;
        const Status replayed = (*rebuild)->replay();
        EXPECT_TRUE(replayed.ok()) << replayed.error().message;
        return {*pg::Url::parse(PostgresServer::instance().url()), {}};
    }
    std::unique_ptr<Ledger> open_folder() {
        return store::EmbeddedLedger::open(scene.ledger(), store::EmbeddedLedger::Mode::kReadWrite)
            .value();
    }
    static std::unique_ptr<Ledger> open_database() {
        return pg::PostgresLedger::open(*pg::Url::parse(PostgresServer::instance().url()),
                                        pg::PostgresLedger::Mode::kReadWrite, {})
            .value();
    }

    ReplayScene scene;
};

TEST_F(Replay, K9_FindsNothingInAnUneditedLedger) {
    const worker::ReplayOutcome found = scene.audit(folder());
    EXPECT_EQ(said(found), "nothing");
    EXPECT_GT(found.inputs, 80U);
    std::set<std::string> empty;
    for (const worker::ComparedTable& table : found.tables) {
        EXPECT_TRUE(table.is_equal()) << table.table;
        if (table.rows_source == 0) {
            empty.insert(table.table);
        }
    }
    // Work that is left, of inputs and of forgets: a row that should not be there is found as one.
    EXPECT_THAT(empty,
                testing::UnorderedElementsAre("forgets", "forgets_done", "work", "work_orders"))
        << "no column of an empty table is edited below";
}

TEST_F(Replay, K9_FindsEveryEditOfEveryDescribedColumnInAFolder) {
    const worker::LedgerPlace place = folder();
    edit_each(scene, place, [this] { return open_folder(); });
}

/// Rows that should not be there, and edits of keys; below, SQL edits every column.
TEST_F(Replay, K9_PostgresFindsStrayAndMissingRowsOfEveryDescribedTable) {
    const worker::LedgerPlace place = database();
    EXPECT_EQ(said(scene.audit(place)), "nothing");
    edit_each(
        scene, place, [] { return open_database(); }, 2);
}

// ---- The tables that are not described ----------------------------------------------------------

/// Each edit of an order's value, by the column that it is.
TEST_F(Replay, K9_FindsEveryEditOfAnOrderInAFolder) {
    const worker::LedgerPlace place = folder();
    using Change = void (*)(OrderState&);
    const std::vector<std::pair<const char*, Change>> edits{
        {"version", [](OrderState& o) { ++o.version.nanos; }},
        {"ordered", [](OrderState& o) { --o.ordered_at.seconds; }},
        {"cancelled", [](OrderState& o) { o.cancelled_at = o.version; }},
        {"currency", [](OrderState& o) { o.currency = *Currency::parse("EUR"); }},
        {"amount", [](OrderState& o) { o.amount = "9999.00"; }},
        {"tax", [](OrderState& o) { o.tax = "1.00"; }},
        {"shipping", [](OrderState& o) { o.shipping = "0.01"; }},
        {"codes", [](OrderState& o) { o.codes = {"BEN"}; }},
        {"device", [](OrderState& o) { o.device.reset(); }},
        {"device_version", [](OrderState& o) { ++o.device_version.seconds; }},
        {"customer", [](OrderState& o) { o.customer = sha256("another"); }},
        {"plausible_version", [](OrderState& o) { o.plausible_version.reset(); }},
        {"line_amounts", [](OrderState& o) { o.lines[0].amount = *Decimal::parse("1.00"); }},
        {"refund_amounts", [](OrderState& o) { o.refunds[0].amount = *Decimal::parse("1.00"); }},
        {"statements_count", [](OrderState& o) { ++o.statements_count; }},
        {"flags", [](OrderState& o) { o.flags ^= kOrderHeld; }},
        {"anomalies_showing", [](OrderState& o) { o.anomalies_showing ^= 2; }},
        {"anomalies_acknowledged", [](OrderState& o) { o.anomalies_acknowledged ^= 2; }},
        {"live", [](OrderState& o) { o.live.reset(); }},
        {"position_creators",
         [](OrderState& o) { o.positions[0].attribution.creator = CreatorId("ben"); }},
        {"frozen_rates",
         [](OrderState& o) { o.positions[0].frozen[0].rate.rate.value = Decimal(90, 0); }},
        {"accrual_amounts",
         [](OrderState& o) { o.positions[0].accruals[0].accrued = *Decimal::parse("99.00"); }},
        {"accrual_allocated",
         [](OrderState& o) { o.positions[0].accruals[0].allocated = *Decimal::parse("7.77"); }},
        {"allocation_active", [](OrderState& o) { o.positions[0].payouts[0].active = false; }},
        {"last_applied", [](OrderState& o) { ++o.last_applied.value; }},
        {"last_node", [](OrderState& o) { ++o.last_node; }},
        {"events", [](OrderState& o) { ++o.events[3].anomalies; }},
        {"events_count", [](OrderState& o) { ++o.events_count; }},
        {"duplicates_count", [](OrderState& o) { ++o.duplicates_count; }},
        {"other_groups", [](OrderState& o) { o.other_groups.push_back(1); }},
        {"changes_count", [](OrderState& o) { ++o.changes_count; }},
    };
    OrderState right;
    ASSERT_TRUE(open_folder()->snapshot({})->load_order({{1}, {1}, OrderId("o1")}, right));
    for (const auto& [column, change] : edits) {
        OrderState edited = right;
        change(edited);
        const auto put = [this](const OrderState& order) {
            const auto ledger = open_folder();
            const auto txn = ledger->begin(Books::kNode);
            txn->put_order(order);
            txn->commit();
        };
        put(edited);
        const worker::ReplayOutcome found = scene.audit(place);
        ASSERT_EQ(found.differences.size(), 1U) << column << "\n" << said(found);
        EXPECT_EQ(found.differences[0].table, "orders");
        EXPECT_EQ(found.differences[0].key, "account 1, shop 1, order_id o1");
        EXPECT_EQ(found.differences[0].column, column);
        EXPECT_NE(found.differences[0].stored, found.differences[0].right);
        put(right);
    }
}

/// A value of a type of PostgreSQL, in the place of null.
std::string new_sql(const std::string& type) {
    if (type.ends_with("[]")) {
        return "ARRAY[" + new_sql(type.substr(0, type.size() - 2)) + "]";
    }
    return type == "text"      ? "'x'"
           : type == "bytea"   ? "'\\x01'::bytea"
           : type == "boolean" ? "true"
                               : "7::" + type;
}

/// How a value of a type of PostgreSQL is edited.
std::string edited_sql(const std::string& column, const std::string& type) {
    if (type == "bytea") {
        return "CASE WHEN length(" + column + ") = 0 THEN '\\x01' ELSE set_byte(" + column +
               ", length(" + column + ") - 1, get_byte(" + column + ", length(" + column +
               ") - 1) # 1) END";
    }
    if (type == "boolean") {
        return "NOT " + column;
    }
    if (type == "json") {
        return "'{\"platform_product_id\":\"p\",\"title\":\"edited\"}'";
    }
    if (type == "text") {
        return column + " || 'x'";
    }
    if (type.ends_with("[]")) {
        const std::string item = type.substr(0, type.size() - 2);
        const std::string one = item == "text" || item == "bytea" ? "'x'::" + item
                                : item == "boolean"               ? "false"
                                                                  : "7::" + item;
        return "CASE WHEN " + column + "[1] IS DISTINCT FROM " + one + " THEN ARRAY[" + one +
               "] || " + column + "[2:] ELSE " + column + " || " + column + " END";
    }
    return column + " + 1000";
}

class EachSqlColumn {
public:
    EachSqlColumn(ReplayScene& scene, worker::LedgerPlace place)
        : scene_(scene),
          place_(std::move(place)),
          session_(pg::Connection::open(*place_.url, {})) {}

    void run() {
        const pg::Rows columns = session_->query_text(
            "SELECT c.table_name::text, c.column_name::text, format_type(a.atttypid, NULL), "
            "c.is_nullable::text FROM information_schema.columns c JOIN pg_attribute a ON "
            "a.attrelid = ('sluice_ledger.' || quote_ident(c.table_name))::regclass AND a.attname "
            "= c.column_name JOIN pg_class t ON t.oid = a.attrelid WHERE c.table_schema = "
            "'sluice_ledger' AND t.relkind = 'r' AND c.table_name NOT IN ('migrations', "
            "'registry', 'state') ORDER BY 1, 2");
        for (int i = 0; i < columns.count(); ++i) {
            pg::RowReader row = columns.row(i);
            const std::string table = row.string();
            columns_[table].push_back({table, row.string(), row.string()});
        }
        if (!is_whole_form()) {
            keep_a_part();
        }
        while (edit_one_of_each_table()) {
        }
        EXPECT_EQ(said(scene_.audit(place_)), "nothing") << "the edits were undone";
        EXPECT_GT(edited_, whole_or_short(200, 80));
        EXPECT_THAT(empty_,
                    testing::UnorderedElementsAre("forgets", "forgets_done", "work", "work_orders"))
            << "no edit of a column of other tables is left out";
    }

private:
    std::string one(const std::string& sql) {
        const pg::Rows rows = session_->query_text(sql);
        return rows.empty() ? std::string() : rows.row(0).string();
    }
    struct SqlColumn {
        std::string table, name, type;
    };
    /// At most five columns of each table, beginning at another one in each.
    void keep_a_part() {
        std::size_t begin = 0;
        for (auto& [table, columns] : columns_) {
            std::rotate(columns.begin(),
                        columns.begin() + static_cast<std::ptrdiff_t>(begin++ % columns.size()),
                        columns.end());
            constexpr std::size_t kKept = 5;
            columns.resize(std::min(columns.size(), kKept));
        }
    }
    /// One audit judges one edit of each table. Returns false once every column was edited.
    bool edit_one_of_each_table() {
        std::vector<std::pair<SqlColumn, std::function<void()>>> round;
        // An audit whose batches and heads both name other inputs does not begin.
        const bool heads_wait = !columns_["batches"].empty();
        for (auto& [table, columns] : columns_) {
            if (columns.empty() || (table == "heads" && heads_wait)) {
                continue;
            }
            const SqlColumn column = columns.back();
            columns.pop_back();
            // The column that counts writes says nothing about what they wrote.
            if (column.table + "." + column.name == "orders.revision") {
                continue;
            }
            if (std::function<void()> undo = edit(column)) {
                round.emplace_back(column, std::move(undo));
            }
        }
        const worker::ReplayOutcome found = scene_.audit(place_);
        for (const auto& [column, undo] : round) {
            EXPECT_TRUE(is_named(found, column.table, column.name))
                << column.table << "." << column.name << "\n"
                << said(found);
            undo();
            ++edited_;
        }
        return std::any_of(columns_.begin(), columns_.end(),
                           [](const auto& of) { return !of.second.empty(); });
    }
    /// Returns what undoes it, or nothing for a table without rows.
    std::function<void()> edit(const SqlColumn& column) {
        const std::string from = "sluice_ledger." + column.table;
        const std::string place =
            one("SELECT ctid::text FROM " + from + " ORDER BY " + column.name + " IS NULL LIMIT 1");
        if (place.empty()) {
            empty_.insert(column.table);
            return nullptr;
        }
        const std::string there = " FROM " + from + " WHERE ctid = '" + place + "'";
        const bool is_null =
            one("SELECT 'set'" + there + " AND " + column.name + " IS NOT NULL").empty();
        const std::string before = one("SELECT coalesce(" + column.name + "::text, '')" + there);
        session_->script("UPDATE " + from + " SET " + column.name + " = " +
                         (is_null ? new_sql(column.type) : edited_sql(column.name, column.type)) +
                         " WHERE ctid = '" + place + "'");
        const std::string moved =
            one("SELECT ctid::text FROM " + from + " ORDER BY xmin::text::bigint DESC LIMIT 1");
        return [this, from, column, is_null, before, moved] {
            pg::RowWriter old;
            old.text(before);
            session_->send_text("UPDATE " + from + " SET " + column.name + " = " +
                                    (is_null ? "NULL" : "($1::text)::" + column.type) +
                                    " WHERE ctid = '" + moved + "' AND $1::text IS NOT NULL",
                                old);
            session_->sync();
        };
    }

    ReplayScene& scene_;
    worker::LedgerPlace place_;
    std::unique_ptr<pg::Connection> session_;
    std::map<std::string, std::vector<SqlColumn>> columns_;  ///< By table: yet to be edited.
    int edited_ = 0;
    std::set<std::string> empty_;  ///< Tables without rows.
};

TEST_F(Replay, K9_PostgresFindsEveryEditOfEveryColumnThatTheDatabaseHas) {
    EachSqlColumn(scene, database()).run();
}

TEST_F(Replay, K9_PostgresFindsAStrayVariantThatLooksCut) {
    const worker::LedgerPlace place = database();
    const auto session = pg::Connection::open(*place.url, {});
    session->script(
        "INSERT INTO sluice_ledger.variants (account, shop, variant_sku, language, country, "
        "product_id) SELECT account, shop, 'stray' || chr(1), language, country, product_id FROM "
        "sluice_ledger.variants LIMIT 1");
    EXPECT_THAT(said(scene.audit(place)),
                HasSubstr("variants | account 1, shop 1, variant_sku stray"));
}

// ---- What cannot be compared --------------------------------------------------------------------

class Refused : public Replay {
protected:
    std::string audit(std::vector<fs::path> archives) {
        const auto temporary = cli::TemporaryFolder::make("sluice-replay-refused");
        worker::ReplayOptions options;
        options.ledger = folder();
        options.archives = std::move(archives);
        options.temporary = temporary->path();
        const auto outcome = worker::replay_ledger(options);
        EXPECT_FALSE(outcome.ok());
        return outcome.ok() ? std::string() : outcome.error().message;
    }
};

TEST_F(Refused, K9_AnArchiveOfAnotherStoreIsRefused) {
    const fs::path other = scene.archive().parent_path() / "other";
    fs::create_directory(other);
    auto writer = store::ArchiveWriter::open(other, "another-queue", {});
    store::ArchivedInput input;
    input.seq = {1};
    input.record = "a record";
    ASSERT_TRUE((*writer)->add(input, {}).ok());
    ASSERT_TRUE((*writer)->flush().ok());
    EXPECT_THAT(audit({other}), HasSubstr("it is the archive of another store"));
}

}  // namespace
}  // namespace sluice::test
