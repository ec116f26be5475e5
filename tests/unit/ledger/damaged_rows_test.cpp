// Rule O6: every row of every table, edited to nonsense, and the next inputs are applied: an error
// or a dead letter, never a signal, and no wrong cent in other orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/forget/edit.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/rules/soundness.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/rows/field_writer.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "unit/ledger/postgres_server.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"
#include "unit/lmdb_store/ledger/scene.hpp"
#include "unit/simulation_seed.hpp"
#include "unit/whole_form.hpp"
#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/input_batch.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using worker::DrainStore;
using worker::order_body;
using worker::OwnedInput;

constexpr const char* kNode = "11111111-2222-3333-4444-555555555555";
constexpr const char* kOtherNode = "22222222-2222-3333-4444-555555555555";
constexpr const char* kDamaged = "damaged";
const std::vector<std::string> kOrderIds{"a", "b", "c", "d", "e", "h", "n", "w"};

class Inputs {
public:
    void order(const std::string& id, int version, const std::string& refund = "",
               const std::string& code = "SPRING") {
        add(Topic::kOrderUpdate, R"({"platform_order_numbers":["#1001"],)" +
                                     order_body(id, version, refund, code).substr(1));
    }
    void command(const Command& command, const std::string& key = "") {
        add(topic_of(command), encode_request({key, "goodwill", command}));
    }
    void creator(const std::string& code) {
        CreatorImport import;
        import.rows = {{ 2, CreatorId("anna"), ProgramId("spring"), code }};
        command(import);
    }
    void people() {
        Credit credit;
        credit.creator = CreatorId("anna");
        credit.program = ProgramId("spring");
        credit.amount = {*Currency::parse("USD"), Decimal(300, 2)};
        credit.order = OrderId("credited");
        command(credit);
        OpeningImport opening;
        opening.rows = {{2, credit.creator, credit.program, credit.amount}};
        command(opening);
        CreatorSet set;
        set.creator = CreatorId("anna");
        set.name = "Anna";
        set.payee = "ref-1";
        command(set);
        command(CreatorRename{CreatorId("anna"), CreatorId("annabel")});
        command(Hold{{std::nullopt, CreatorId("berta"), {}}});
        command(Adjust{OrderId("d"), Decimal(90'000, 2)}, "a key");  // waits for another actor
        PeriodClose period;
        period.until = worker::kReceived;
        command(period);
    }
    void add(Topic topic, const std::string& body) {
        RecordEnvelope envelope;
        RecordMeta meta = DrainStore::meta_of(topic);
        meta.received_at = received_;
        envelope.encode(meta, body);
        raw(std::string(envelope.prefix()) + body);
    }
    void products(const std::string& title, const std::string& variant) {
        add(Topic::kProductUpsert, R"({"products":[{"platform_product_id":"s","title":")" + title +
                                       R"(","variants":[{"variant_sku":")" + variant + R"("}]}]})");
    }
    /// Adds inputs that are received in the closed period.
    void in_the_hour_before(const std::function<void()>& add) {
        constexpr std::int64_t kHour = 3600;
        received_ = {worker::kReceived.seconds - kHour, 0};
        add();
        received_ = worker::kReceived;
    }
    void raw(std::string record) {
        OwnedInput input;
        input.seq = {++seq_};
        input.record = std::move(record);
        inputs_.push_back(std::move(input));
    }
    void forget_order(const std::string& id) {
        Forget forget;
        forget.by = ForgetBy::kOrder;
        forget.value = id;
        forget.secret = sha256("secret");
        command(forget);
        inputs_.back().forget_found.emplace().orders = {OrderId(id)};
    }
    std::vector<OwnedInput> take() { return std::move(inputs_); }
    explicit Inputs(std::uint64_t behind) : seq_(behind) {}

private:
    std::uint64_t seq_;
    Timestamp received_ = worker::kReceived;
    std::vector<OwnedInput> inputs_;
};

std::vector<OwnedInput> inputs_before() {
    Inputs inputs(0);
    Program program = worker::spring_program();
    program.default_tiers = {
        {Money{*Currency::parse("USD"), Decimal(100'000, 2)}, *parse_rate("12%")}};
    Rule newcomers;
    newcomers.customer = CustomerKind::kNew;
    newcomers.rate = *parse_rate("11%");
    program.rules = {newcomers};
    program.tiers_apply = TiersApply::kMonth;
    Policy policy;
    policy.account_id = AccountId("acme");
    policy.account = {1};
    policy.approve_adjust_above = {{Money{*Currency::parse("USD"), Decimal(50'000, 2)}}};
    inputs.command(ProgramApply{{program}, {policy}});
    inputs.creator("SPRING");
    inputs.command(ClickImport{
        {{2, sha256("device"), CreatorId("anna"), ProgramId("spring"), worker::kReceived}}});
    inputs.in_the_hour_before([&inputs] { inputs.order("a", 1); });
    inputs.order("b", 1);
    inputs.order("w", 1, "", "LATER");
    inputs.order("a", 2, "40.00");
    inputs.order("b", 1, "140.00");  // an anomaly
    inputs.raw("no record");
    inputs.products("Shirt", "v");
    PayoutClose without_anna{worker::kReceived};
    without_anna.excluded = {CreatorId("anna")};
    inputs.command(without_anna);
    inputs.command(PayoutClose{worker::kReceived});
    inputs.order("d", 1);
    inputs.people();
    inputs.order("a", 1, "", "OTHER");  // stale
    for (int version = 1; version <= static_cast<int>(kEventsInlineMax) + 1; ++version) {
        inputs.order("h", version, "", "GIVEN");
    }
    inputs.creator("GIVEN");
    inputs.forget_order("h");
    return inputs.take();
}

std::vector<OwnedInput> inputs_after(std::uint64_t behind) {
    Inputs inputs(behind);
    inputs.order("a", 3, "50.00");
    inputs.order("b", 2);
    inputs.order("w", 2, "", "LATER");
    inputs.order("h", static_cast<int>(kEventsInlineMax) + 2, "", "GIVEN");
    inputs.order("n", 2, "", "NOBODY");
    inputs.order("c", 1);
    inputs.creator("LATER");
    inputs.command(Adjust{OrderId("d"), Decimal(100, 2)});
    inputs.command(Hold{{OrderId("b"), {}, {}}});
    inputs.products("Shirt 2", "x");
    inputs.command(PayoutClose{worker::kReceived});
    inputs.command(DeadReplay{});
    inputs.order("e", 1);
    return inputs.take();
}

/// Results of the inputs after a damage.
struct Outcome {
    std::string error;  ///< Message with which applying stopped; empty if all inputs were applied.
    std::map<std::string, std::string> accruals, allocated;  ///< By order.
    std::string dead;                                        ///< Reasons of the letters.
    std::string refused;                                     ///< Results of refused commands.
    std::string refused_close;  ///< Error of the payout close among them.
};

void apply_all(Ledger& ledger, std::vector<OwnedInput> inputs, const char* node = kNode) {
    worker::BatchApplier applier;
    bool work_left = true;
    for (std::size_t next = 0; next < inputs.size() || work_left;) {
        const auto outcome = applier.apply(ledger, node, inputs, next, {});
        if (!outcome) {
            throw LedgerFailure(outcome.error());
        }
        next += outcome->inputs_done;
        work_left = outcome->work.pieces != 0;
    }
}

/// A forget that one of two nodes has done, with an order that is left, and a row of other tables.
void leave_rows(Ledger& ledger) {
    const std::unique_ptr<LedgerTxn> txn = ledger.begin(kNode);
    ForgetTask task;
    txn->scan(ForgetTask{}, {}, [&task](const ForgetTask& row) {
        task = row;
        return false;
    });
    EXPECT_TRUE(note_forgotten(task.command_id, decode_task(task).found, {kOtherNode}, *txn));
    Work work;
    work.number = txn->mutable_head().next_work++;
    work.kind = WorkKind::kForget;
    work.key.account = {1};
    work.subject = task.command_id;
    work.cause_topic = Topic::kForget;
    txn->put(work);
    txn->put(WorkOrder{work.number, worker::kReceived, {1}, {1}, OrderId("h")});
    txn->put(DeletedOrder{{{1}, {1}, OrderId("x")}, {1}, 1, worker::kReceived, {}, {}});
    txn->put(DeadOrder{{{1}, {1}, OrderId("x")}, {1}, worker::kReceived});
    LinkDay earned;
    earned.currency = *Currency::parse("USD");
    txn->put(earned);
    Click posted;
    posted.source = ClickSource::kPost;
    txn->put_click(posted);
    txn->put(LinkRow{LinkId("a"), {1}, {}, {}, "https://s", {}, LinkState::kActive, {}});
    txn->put(LinkByCreator{{1}, {}, LinkId("a")});
    store::LedgerScene::repeat_much_later(*txn, {{1}, {1}, OrderId("a")});
    txn->put(LinksHead{1, 1, 1});
    txn->put(UsedSeal{sha256("a seal"), {1}});
    txn->put(SignedApproval{{1}, "C1", "C0", "gina", "a key", "a statement", "a signature"});
    txn->commit();
}

/// Gives every table a row. Returns how many inputs `kNode` has applied.
std::uint64_t fill(Ledger& ledger) {
    Inputs elsewhere(0);
    elsewhere.order("n", 1, "", "NOBODY");
    apply_all(ledger, elsewhere.take(), kOtherNode);
    std::vector<OwnedInput> inputs = inputs_before();
    const std::uint64_t count = inputs.size();
    apply_all(ledger, std::move(inputs));
    leave_rows(ledger);
    return count;
}

void note_order(LedgerReader& ledger, const std::string& id, Outcome& outcome) {
    std::string& accruals = outcome.accruals[id];
    std::string& allocated = outcome.allocated[id];
    OrderState state;
    try {
        if (!load_sound_order(ledger, {{1}, {1}, OrderId(id)}, state)) {
            accruals = "none";
            return;
        }
    } catch (const DamagedRow&) {
        accruals = kDamaged;
        return;
    }
    for (const Position& position : state.positions) {
        for (const LineAccrual& accrual : position.accruals) {
            const std::string line =
                accrual.line.str() + " " + std::string(accrual.currency.code()) + " ";
            accruals += line + accrual.accrued.to_string() + ";";
            if (!accrual.allocated.is_zero()) {
                allocated += line + accrual.allocated.to_string() + ";";
            }
        }
    }
}

void note_orders(Ledger& ledger, Outcome& outcome) {
    const auto reader = ledger.snapshot(kNode);
    for (const std::string& id : kOrderIds) {
        note_order(*reader, id, outcome);
    }
}

Outcome run_after(Ledger& ledger, std::uint64_t behind) {
    Outcome outcome;
    try {
        apply_all(ledger, inputs_after(behind));
        note_orders(ledger, outcome);
        const auto reader = ledger.snapshot(kNode);
        reader->scan_dead([&](const DeadLetter& letter) {
            outcome.dead += letter.reason + "\n";
            return true;
        });
        reader->scan_commands([&](const CommandRow& row) {
            if (row.outcome == CommandOutcome::kRefused) {
                outcome.refused += row.result + "\n";
                outcome.refused_close += row.topic == Topic::kPayoutClose ? row.result + "\n" : "";
            }
            return true;
        });
    } catch (const LedgerFailure& failure) {
        outcome.error = failure.error().message;
        EXPECT_NE(outcome.error, "");
    }
    return outcome;
}

/// Orders that a damage's sentence names are in its way; every other one owes what it should. A
/// close that meets a damaged order is refused, and takes nothing of any (O6).
/// @param before  As the damage was done.
void expect_others_unharmed(const Outcome& found, const Outcome& expected, const Outcome& before,
                            const std::string& damaged_order) {
    const std::string told = found.dead + found.refused;
    for (const auto& [id, due] : found.accruals) {
        const bool named = told.find("order " + id) != std::string::npos ||
                           told.find("order_id " + id) != std::string::npos;
        if (id != damaged_order && !named && due != kDamaged) {
            EXPECT_EQ(due, expected.accruals.at(id)) << "order " << id << "\n" << told;
            const Outcome& allocated = found.refused_close.empty() ? expected : before;
            EXPECT_EQ(found.allocated.at(id), allocated.allocated.at(id)) << "order " << id << "\n"
                                                                          << told;
        }
    }
    if (!found.refused_close.empty()) {
        EXPECT_THAT(found.refused_close, HasSubstr("a damaged row: table "));
    }
}

// ---- LMDB ---------------------------------------------------------------------------------------

class EmbeddedDamage : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(store::EmbeddedLedger::create(folder_.path()).ok());
        behind_ = fill(*open());
        std::ifstream file(data(), std::ios::binary);
        good_ = {std::istreambuf_iterator<char>(file), {}};
        note_orders(*open(), before_);
        expected_ = run_after(*open(), behind_);
        ASSERT_EQ(expected_.error, "");
        restore();
    }
    std::unique_ptr<store::EmbeddedLedger> open() const {
        auto opened =
            store::EmbeddedLedger::open(folder_.path(), store::EmbeddedLedger::Mode::kReadWrite);
        if (!opened) {
            throw LedgerFailure(opened.error());
        }
        return std::move(*opened);
    }
    void restore() const {
        std::ofstream(data(), std::ios::binary | std::ios::trunc)
            .write(good_.data(), static_cast<std::streamsize>(good_.size()));
    }
    std::filesystem::path data() const { return folder_.path() / "data.mdb"; }

    store::TempFolder folder_;
    std::string good_;
    std::uint64_t behind_ = 0;
    Outcome before_, expected_;
};

/// Bytes that are no value; and fields that are not what was written, under a seal that fits.
std::vector<std::string> nonsense_of(std::string_view key, const std::string& value) {
    std::vector<std::string> edits{"no row", value.substr(0, value.size() / 2), value + "x"};
    const std::string fields = value.substr(0, value.size() - store::kSealBytes);
    // The short form begins at another byte in each row: the rows of a table share its columns.
    const std::size_t step = whole_or_short(1U, 5U) * (7 + fields.size() / 300);
    const std::size_t begin = is_whole_form() ? 0 : std::hash<std::string_view>()(key) % step;
    for (std::size_t at = begin; at < fields.size(); at += step) {
        for (const char flip : {'\xff', '\x80', '\x01'}) {
            std::string edit = fields;
            edit[at] = static_cast<char>(edit[at] ^ flip);
            const std::uint32_t seal = store::seal_of(key, edit);
            edits.push_back(edit.append(reinterpret_cast<const char*>(&seal), store::kSealBytes));
        }
    }
    return edits;
}

TEST_F(EmbeddedDamage, AnyBytesOfAnyRowAreAnErrorOrADeadLetterAndNoSignal) {
    std::size_t edits_count = 0, stopped = 0, dead = 0;
    std::vector<std::string> empty_tables;
    for (const char* name : store::ledger_tables()) {
        const store::RawRows table(folder_.path(), name);
        const auto rows = table.all();
        if (rows.empty()) {
            empty_tables.emplace_back(name);
        }
        for (const auto& [key, value] : rows) {
            if (value.empty()) {
                continue;
            }
            for (const std::string& edit : nonsense_of(key, value)) {
                table.put(key, edit);
                const Outcome found = run_after(*open(), behind_);
                stopped += !found.error.empty();
                dead += found.dead.find("DAMAGED_ROW") != std::string::npos;
                ++edits_count;
                restore();
            }
        }
    }
    std::cout << edits_count << " edits: " << stopped << " stopped with a sentence, " << dead
              << " with a dead letter\n";
    EXPECT_THAT(empty_tables, testing::IsEmpty());
    EXPECT_GT(edits_count, whole_or_short(1000U, 300U));
    EXPECT_GT(stopped, 0U);
    EXPECT_GT(dead, 0U);
}

TEST_F(EmbeddedDamage, ADamagedOrderAffectsNoOther) {
    const store::RawRows orders(folder_.path(), "orders");
    const auto rows = orders.all();
    ASSERT_GE(rows.size(), 4U);
    for (const auto& [key, value] : rows) {
        const std::string id = key.substr(8);
        orders.put(key, "no row");
        const Outcome found = run_after(*open(), behind_);
        EXPECT_EQ(found.error, "") << id;
        EXPECT_THAT(found.dead + found.refused, HasSubstr("order " + id));
        expect_others_unharmed(found, expected_, before_, id);
        EXPECT_THAT(open()->verify(kNode, 100), testing::Contains(HasSubstr("table orders")));
        restore();
    }
}

// ---- PostgreSQL ---------------------------------------------------------------------------------

struct SqlField {
    std::string table, column, type;
};

class PostgresDamage : public testing::Test {
protected:
    void SetUp() override {
        if (PostgresServer::instance().is_given()) {
            GTEST_SKIP() << "it damages a database of its own";
        }
        const pg::Url admin = *pg::Url::parse(PostgresServer::instance().url());
        const auto root = pg::Connection::open(admin, {});
        root->script("DROP DATABASE IF EXISTS damage");
        root->script("CREATE DATABASE damage");
        url_ = pg::Url::parse(PostgresServer::instance().url("damage"));
        ASSERT_TRUE(pg::migrate(*url_).ok());
        session_ = pg::Connection::open(*url_, {});
        behind_ = fill(*open());
        session_->script("CREATE SCHEMA good");
        for (const std::string& table : tables()) {
            EXPECT_NE(count_of(table + " LIMIT 1"), 0) << table;
            session_->script("CREATE TABLE good." + table + " AS SELECT * FROM sluice_ledger." +
                             table);
            restore_ += "DELETE FROM sluice_ledger." + table + "; INSERT INTO sluice_ledger." +
                        table + " SELECT * FROM good." + table + "; ";
        }
        note_orders(*open(), before_);
        expected_ = run_after(*open(), behind_);
        ASSERT_EQ(expected_.error, "");
        restore();
    }
    std::unique_ptr<pg::PostgresLedger> open() const {
        auto opened = pg::PostgresLedger::open(*url_, pg::PostgresLedger::Mode::kReadWrite, {});
        if (!opened) {
            throw LedgerFailure(opened.error());
        }
        return std::move(*opened);
    }
    int count_of(const std::string& rows) const {
        return session_->query_text("SELECT 1 FROM sluice_ledger." + rows).count();
    }
    std::vector<std::string> tables() const {
        std::vector<std::string> names;
        const pg::Rows rows = session_->query_text(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'sluice_ledger' "
            "AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'registry%' "
            "AND table_name <> 'migrations' ORDER BY 1");
        for (int i = 0; i < rows.count(); ++i) {
            names.push_back(rows.row(i).string());
        }
        return names;
    }
    std::vector<SqlField> fields() const {
        std::vector<SqlField> fields;
        for (const std::string& table : tables()) {
            const pg::Rows rows = session_->query_text(
                "SELECT column_name::text, udt_name::text FROM information_schema.columns WHERE "
                "table_schema = 'sluice_ledger' AND column_name !~ '^hour(0[1-9]|[1-9])' AND "
                "table_name = '" +  // one hour of a row stands for all
                table +
                "' ORDER BY 1");
            for (int i = 0; i < rows.count(); ++i) {
                pg::RowReader row = rows.row(i);
                const std::string column = row.string();
                fields.push_back({table, column, row.string()});
            }
        }
        return fields;
    }
    /// Returns false if the server refuses this value.
    bool edit(const SqlField& field, const std::string& value) {
        const std::string which = field.table == "orders" ? "order_id = 'a'"
                                                          : "ctid = (SELECT min(ctid) FROM "
                                                            "sluice_ledger." +
                                                                field.table + ")";
        try {
            session_->script("UPDATE sluice_ledger." + field.table + " SET " + field.column +
                             " = " + value + " WHERE " + which);
            return true;
        } catch (const LedgerFailure&) {
            (void)session_->reset();
            return false;
        }
    }
    void restore() {
        session_->script("BEGIN; " + restore_ + "COMMIT");
        // Without it each edit would read over the deleted rows of all before it.
        constexpr int kRestoresBetween = 10;
        if (++restores_ % kRestoresBetween == 0) {
            session_->script("VACUUM");
        }
    }

    Result<pg::Url> url_ = Error{};
    std::unique_ptr<pg::Connection> session_;
    std::string restore_;
    int restores_ = 0;
    std::uint64_t behind_ = 0;
    Outcome before_, expected_;
};

std::vector<std::string> nonsense_of(const SqlField& field) {
    if (field.type.starts_with("_")) {
        return {"NULL", "'{}'", "'{NULL}'", "'{-1}'", "'{9999999}'", "'{1,2,3,4,5}'"};
    }
    if (field.type == "bool") {
        return {"NULL", "NOT " + field.column};
    }
    if (field.type == "numeric") {
        return {
            "NULL", "-1", "1e30", "'NaN'", "0.00000000000000001", "-1e22", field.column + " + 1"};
    }
    if (field.type.starts_with("int")) {
        return {"NULL", "-1", "0", "32767", "2147483647", "9223372036854775807"};
    }
    if (field.type == "bytea") {
        return {"NULL", "''", "'\\x00ff'", "decode(repeat('ff', 61), 'hex')"};
    }
    return {"NULL", "''", "'nonsense'", "repeat('x', 300)"};
}

TEST_F(PostgresDamage, AnyValueOfAnyColumnIsAnErrorOrADeadLetterAndNoSignal) {
    const auto seed =
        number_from_environment("SLUICE_SEED", whole_or_short(std::random_device{}(), 1U));
    SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed));
    std::mt19937_64 chance(seed);
    const bool every = std::getenv("SLUICE_EVERY_VALUE") != nullptr;  // else a part of the columns
    std::size_t edits_count = 0, stopped = 0, dead = 0;
    std::vector<SqlField> chosen = fields();
    std::shuffle(chosen.begin(), chosen.end(), chance);
    chosen.resize(chosen.size() / (every ? 1 : whole_or_short(2U, 12U)));
    for (const SqlField& field : chosen) {
        std::vector<std::string> values = nonsense_of(field);
        std::shuffle(values.begin(), values.end(), chance);
        int tried = 0;
        for (const std::string& value : values) {
            SCOPED_TRACE(field.table + "." + field.column + " = " + value);
            if (tried == (every ? 10 : 1) || !edit(field, value)) {
                continue;
            }
            ++tried;
            const Outcome found = run_after(*open(), behind_);
            stopped += !found.error.empty();
            dead += found.dead.find("DAMAGED_ROW") != std::string::npos;
            ++edits_count;
            if (field.table == "orders") {
                expect_others_unharmed(found, expected_, before_, "a");
            }
            restore();
        }
    }
    std::cout << edits_count << " edits: " << stopped << " errors, " << dead << " dead letters\n";
    EXPECT_GT(edits_count, whole_or_short(150U, 25U));
    EXPECT_GT(stopped, 0U);
    EXPECT_GT(dead, 0U);
}

TEST_F(PostgresDamage, O6_AnEditedAccrualBecomesADeadLetterAndTheQueueContinues) {
    ASSERT_TRUE(edit({"orders", "accrual_amounts", "text"}, "'99.00'"));
    const Outcome found = run_after(*open(), behind_);
    EXPECT_EQ(found.error, "");
    EXPECT_THAT(found.dead, HasSubstr("DAMAGED_ROW: the ledger holds a damaged row: table orders, "
                                      "account 1, shop 1, order a: what anna has of it in program "
                                      "spring owes 99.00 for line l1 in USD, where the line earns "
                                      "6.60"));
    expect_others_unharmed(found, expected_, before_, "a");
}

}  // namespace
}  // namespace sluice::test
