// K9: the replay finds every edit of every column of every table, in both kinds of ledger, and
// names table, key and column. Both tests are generated from the descriptions and from the
// database's own list of columns, so that a new column cannot be forgotten.
#include "worker/replay/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/approvals/signed_approval.hpp"
#include "core/commands/seal.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/order.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/postgres_server.hpp"
#include "unit/ledger/row_texts.hpp"
#include "unit/ledger/ssh_signer.hpp"
#include "worker/drain/rebuild.hpp"
#include "worker/system/file.hpp"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using store::RowDifference;
using testing::HasSubstr;

// ---- What happened ------------------------------------------------------------------------------

Policy four_eyes() {
    Policy policy;
    policy.account_id = AccountId("acme");
    policy.account = {1};
    policy.approve_adjust_above = std::vector<Money>{*parse_money("20.00 USD")};
    policy.approvers = {"gina " + SshSigner().public_key(), "frank"};
    return policy;
}

/// The pending `adjust` is approved by a signature, so that its proof is a row.
void sign_approval(Books& books) {
    std::string id;
    const auto reader = books.read();
    reader->scan(PendingApproval{}, {}, [&id](const PendingApproval& row) {
        id = row.command_id;
        return false;
    });
    const auto subject = approval_subject(*reader, {1}, AccountId("acme"), id);
    ASSERT_TRUE(subject.ok()) << subject.error().message;
    const std::string statement = approval_statement(*reader, AccountId("acme"), *subject);
    const Applied done = books.command(Approve{id, {}, SshSigner().sign(statement)});
    ASSERT_FALSE(done.failed) << done.text;
}

/// A command with a seal, which the ledger keeps.
void sealed(Books& books) {
    CommandKeys keys;
    keys.rotate(sha256("key"), {});
    const std::string body =
        encode_request({{}, "as agreed", CreatorSet{CreatorId("ann"), {}, "P-2", {}, {}}});
    RecordMeta meta;
    meta.topic = Topic::kCreatorSet;
    meta.account_number = {1};
    meta.account_id = "acme";
    meta.received_at = instant("2026-02-20T00:00:00Z");
    meta.actor = "eve";
    meta.seal = keys.seal(meta, sha256(body), Books::kNode);
    RecordEnvelope envelope;
    envelope.encode(meta, body);
    books.input(std::string(envelope.prefix()) + body);
}

/// Inputs that leave a row in as many tables as they can.
void live(Books& books) {
    Program tiers = program();
    tiers.default_tiers.push_back({*parse_money("50.00 USD"), *parse_rate("12%")});
    tiers.max_per_order.push_back(*parse_money("40.00 USD"));
    Rule fresh = rule(RuleMatch::kNoItem, "", "20%");
    fresh.customer = CustomerKind::kNew;
    tiers.rules.push_back(fresh);
    books.command(ProgramApply{{tiers}, {four_eyes()}});
    books.creator("ann", "spring", "ANN");
    books.creator("ben", "spring", "BEN");
    books.click("device-1", "ben", "spring", "2025-12-31T00:00:00Z");
    books.products(Topic::kProductUpsert,
                   R"([{"platform_product_id":"p","title":"T","brand":"B","tags":["t"],)"
                   R"("collections":["c"],"variants":[{"variant_sku":"v"}]}])");
    OrderText order;
    order.codes = {"ANN"};
    order.customer = "c-1";
    order.lines[0].variant_sku = "v";
    order.updated = "2026-01-02T00:00:00Z";
    books.create(order, "device-1");
    order.refunds.push_back({"r1", "l1", "25.00"});
    order.updated = "2026-01-03T00:00:00Z";
    books.update(order);
    for (unsigned i = 0; i < kEventsInlineMax + 2; ++i) {
        order.shipping = std::to_string(i) + ".00";
        order.updated = "2026-01-04T00:00:00." + std::to_string(1000 + i) + "Z";
        books.update(order);
    }
    OrderText waiting;
    waiting.id = "waits";
    waiting.codes = {"NOBODY"};
    books.create(waiting, "device-2");
    OrderText large;
    large.id = "large";
    large.amount = "1.00";  // less than its lines: an anomaly
    large.codes = {"BEN"};
    books.create(large);
    books.raw(Topic::kOrderUpdate, "not an order");
    books.creator("cid", "spring", "NOBODY");  // attributes the order that waits
    waiting.id = "waits on";
    waiting.codes = {"NEVER"};
    books.create(waiting);
    books.key = "key-1";
    books.adjust("o1", "3.00");
    books.key.clear();
    books.actor = "eve";
    books.adjust("o1", "99.00");
    sign_approval(books);
    books.adjust("o1", "98.00");  // waits
    books.command(
        Credit{CreatorId("ann"), ProgramId("spring"), *parse_money("4.00 USD"), OrderId("o9"), {}});
    books.command(
        OpeningImport{instant("2025-06-01T00:00:00Z"),
                      {{2, CreatorId("ben"), ProgramId("spring"), *parse_money("6.00 USD")}}});
    books.command(Hold{{OrderId("waits on"), {}, {}}});
    books.command(Hold{{std::nullopt, CreatorId("ben"), {}}});
    books.command(CreatorSet{CreatorId("ann"), "Ann", "P-1", {}, {}});
    sealed(books);
    books.command(CreatorRename{CreatorId("ben"), CreatorId("benno")});
    OrderText forgotten;
    forgotten.id = "gone";
    forgotten.customer = "c-9";
    books.create(forgotten);
    books.forget(ForgetBy::kOrder, "gone");
    books.command(AnomalyAck{OrderId("large"), "LINES_EXCEED_AMOUNT"});
    books.receive_at("2026-03-02T00:00:00Z");
    books.close_account("2026-03-01T00:00:00Z");
    books.command(PeriodClose{instant("2026-03-01T00:00:00Z"), true});
}

/// An archive of what happened, with its place in the order of batches.
class Scene {
public:
    Scene() : folder_(cli::TemporaryFolder::make("sluice-replay-test").value()) {
        const std::unique_ptr<Ledger> scratch = make_ledger("Memory");
        Books books(*scratch);
        live(books);
        fs::create_directory(archive());
        auto writer = store::ArchiveWriter::open(archive(), std::string(Books::kNode), {});
        for (const Kept& kept : books.archive()) {
            store::ArchivedInput input;
            input.seq = kept.seq;
            input.record = kept.record;
            input.original_sha256 = kept.body_sha256;
            EXPECT_TRUE((*writer)->add(input, {}).ok());
        }
        EXPECT_TRUE((*writer)->flush().ok());
    }
    [[nodiscard]] fs::path archive() const { return folder_.path() / "archive"; }
    [[nodiscard]] fs::path ledger() const { return folder_.path() / "ledger"; }

    worker::ReplayOutcome audit(const worker::LedgerPlace& place) {
        const fs::path temporary = folder_.path() / "temporary";
        fs::create_directory(temporary);
        worker::ReplayOptions options;
        options.ledger = place;
        options.archives = {archive()};
        options.temporary = temporary;
        auto outcome = worker::replay_ledger(options);
        fs::remove_all(temporary);
        EXPECT_TRUE(outcome.ok()) << outcome.error().message;
        return outcome.ok() ? std::move(*outcome) : worker::ReplayOutcome{};
    }

private:
    cli::TemporaryFolder folder_;
};

std::string said(const worker::ReplayOutcome& outcome) {
    std::string text;
    for (const RowDifference& d : outcome.differences) {
        text += d.table + " | " + d.key + " | " + d.column + " | " + d.stored.value_or("-") +
                " | " + d.right.value_or("-") + "\n";
    }
    return text.empty() ? "nothing" : text;
}

/// @param column  A finding of a whole row, or of a damaged one, names no column.
bool is_named(const worker::ReplayOutcome& outcome, std::string_view table,
              const std::string& column) {
    return std::any_of(
        outcome.differences.begin(), outcome.differences.end(), [&](const RowDifference& d) {
            return d.table == table && !d.key.empty() &&
                   (d.column.empty() || column.starts_with(d.column) ||
                    d.column.starts_with(column) || d.stored.value_or("").starts_with("damaged") ||
                    (column == "full_id" && d.column == "product_id") ||
                    (column.starts_with("rate_") && d.column == "frozen_rates"));
        });
}

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

/// Edits one column after the other, and expects each to be found and named.
void edit_each(Scene& scene, const worker::LedgerPlace& place,
               const std::function<std::unique_ptr<Ledger>()>& open) {
    for (const DescribedTable& table : described_tables()) {
        if (place.url && table.index_in_sql) {
            continue;  // a view there: it follows from a table that is edited
        }
        const std::optional<AnyRow> row = first_row(*open(), table);
        if (!row) {
            const std::optional<AnyRow> stray = filled_row(table, 1);
            replace(*open(), std::nullopt, stray);
            const worker::ReplayOutcome found = scene.audit(place);
            EXPECT_TRUE(is_named(found, table.name, "")) << table.name << "\n" << said(found);
            replace(*open(), stray, std::nullopt);
            continue;
        }
        for (const std::vector<Column>* columns : {&table.key, &table.rest}) {
            for (const Column& column : *columns) {
                std::optional<AnyRow> edited = *row;
                void* const at = edited->ref().get();
                if (column.optional != nullptr && column.find(at) != nullptr) {
                    column.reset(at);
                } else {
                    with_value(column.kind, column.make(at), Edit{column});
                }
                replace(*open(), row, edited);
                const worker::ReplayOutcome found = scene.audit(place);
                EXPECT_TRUE(is_named(found, table.name, column.name))
                    << table.name << "." << column.name << "\n"
                    << said(found);
                replace(*open(), edited, row);
            }
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
        auto rebuild = worker::Rebuild::go_on({scene.archive()}, make_ledger("Postgres"), {});
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

    Scene scene;
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

TEST_F(Replay, K9_PostgresFindsEveryEditOfEveryDescribedColumn) {
    const worker::LedgerPlace place = database();
    EXPECT_EQ(said(scene.audit(place)), "nothing");
    edit_each(scene, place, [] { return open_database(); });
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
    EachSqlColumn(Scene& scene, worker::LedgerPlace place)
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
            const std::string column = row.string();
            const std::string type = row.string();
            if (table + "." + column != "orders.revision") {  // counts writes, not what they wrote
                edit(table, column, type);
            }
        }
        EXPECT_EQ(said(scene_.audit(place_)), "nothing") << "the edits were undone";
        EXPECT_GT(edited_, 200);
        EXPECT_THAT(empty_,
                    testing::UnorderedElementsAre("forgets", "forgets_done", "work", "work_orders"))
            << "no edit of a column of other tables is left out";
    }

private:
    std::string one(const std::string& sql) {
        const pg::Rows rows = session_->query_text(sql);
        return rows.empty() ? std::string() : rows.row(0).string();
    }
    void edit(const std::string& table, const std::string& column, const std::string& type) {
        const std::string from = "sluice_ledger." + table;
        const std::string place =
            one("SELECT ctid::text FROM " + from + " ORDER BY " + column + " IS NULL LIMIT 1");
        if (place.empty()) {
            empty_.insert(table);
            return;
        }
        const std::string value = one("SELECT 'set' FROM " + from + " WHERE ctid = '" + place +
                                      "' AND " + column + " IS NOT NULL");
        const std::string before = one("SELECT coalesce(" + column + "::text, '') FROM " + from +
                                       " WHERE ctid = '" + place + "'");
        session_->script("UPDATE " + from + " SET " + column + " = " +
                         (value.empty() ? new_sql(type) : edited_sql(column, type)) +
                         " WHERE ctid = '" + place + "'");
        const std::string moved = one("SELECT ctid::text FROM " + from +
                                      " WHERE xmin::text = (SELECT max(xmin::text::bigint)::text "
                                      "FROM " +
                                      from + ")");
        const worker::ReplayOutcome found = scene_.audit(place_);
        EXPECT_TRUE(is_named(found, table, column)) << table << "." << column << "\n"
                                                    << said(found);
        pg::RowWriter old;
        old.text(before);
        const std::string back = value.empty() ? "NULL" : "($1::text)::" + type;
        session_->send_text("UPDATE " + from + " SET " + column + " = " + back + " WHERE ctid = '" +
                                moved + "' AND $1::text IS NOT NULL",
                            old);
        session_->sync();
        ++edited_;
    }

    Scene& scene_;
    worker::LedgerPlace place_;
    std::unique_ptr<pg::Connection> session_;
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
