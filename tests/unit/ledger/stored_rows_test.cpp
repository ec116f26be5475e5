// Every ledger gives every row back as it was put, in the order of its key: what the tables of
// core/ledger describe, and orders, journal and sums, which have shapes of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/ledger/table.hpp"
#include "core/values/hour_sums.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/row_texts.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

constexpr std::string_view kOther = "00000000-0000-0000-0000-00000000000a";

class StoredRows : public testing::TestWithParam<LedgerKind> {
protected:
    std::unique_ptr<Ledger> ledger = GetParam().make();
};

// ---- Described tables ---------------------------------------------------------------------------

std::vector<std::string> rows_of(LedgerReader& reader, RowView first, KeyRange range) {
    std::vector<std::string> rows;
    reader.scan_rows(first, range, [&rows](RowView row) {
        rows.push_back(row_text(row));
        return true;
    });
    return rows;
}

/// The row's key, and nothing of the rest.
AnyRow key_of(RowView row) {
    AnyRow key(row.table());
    for (const Column& column : row.table().key) {
        with_value(column.kind, column.find(key.ref().get()), [&](auto& value) {
            value = *static_cast<const std::remove_reference_t<decltype(value)>*>(
                column.find(row.get()));
        });
    }
    return key;
}

void check_table(Ledger& ledger, const DescribedTable& table) {
    SCOPED_TRACE(table.name);
    const auto whole_key = static_cast<unsigned>(table.key.size());
    const std::vector<AnyRow> rows{filled_row(table, 1), filled_row(table, 2),
                                   filled_row(table, 3)};
    const std::vector<std::string> texts{row_text(rows[0].view()), row_text(rows[1].view()),
                                         row_text(rows[2].view())};
    const AnyRow none(table);
    {
        const auto txn = ledger.begin(Books::kNode);
        for (const std::size_t i : {2U, 0U, 1U}) {
            txn->put_row(rows[i].view());
        }
        EXPECT_EQ(rows_of(*txn, none.view(), {}), texts) << "in the transaction that put them";
        txn->commit();
    }
    const auto reader = ledger.snapshot(Books::kNode);
    for (const AnyRow& row : rows) {
        AnyRow found = key_of(row.view());
        ASSERT_TRUE(reader->load_row(found.ref()));
        EXPECT_EQ(row_text(found.view()), row_text(row.view()));
    }
    AnyRow missing = filled_row(table, 5);
    EXPECT_FALSE(reader->load_row(missing.ref()));
    EXPECT_EQ(rows_of(*reader, rows[1].view(), {0, whole_key}),
              (std::vector<std::string>{texts[1], texts[2]}));
    EXPECT_EQ(rows_of(*reader, rows[1].view(), {whole_key, whole_key}),
              (std::vector<std::string>{texts[1]}));
    const auto txn = ledger.begin(Books::kNode);
    txn->erase_row(rows[1].view());
    txn->commit();
    EXPECT_EQ(rows_of(*ledger.snapshot(Books::kNode), none.view(), {}),
              (std::vector<std::string>{texts[0], texts[2]}));
}

TEST_P(StoredRows, EachDescribedTableGivesItsRowsBack) {
    for (const DescribedTable& table : described_tables()) {
        const bool is_view = table.index_in_sql && GetParam().name.starts_with("Postgres");
        if (!is_view) {
            check_table(*ledger, table);
        }
    }
}

// ---- Lists --------------------------------------------------------------------------------------

OrderByCode listed(const std::string& order, std::uint64_t code = 7) {
    return {kAcme, code, {1'767'000'000, 5}, {1}, OrderId(order)};
}

/// Ids, by the bytes. The keys of the embedded ledger cut some of them at the same place.
std::vector<std::string> listed_ids() {
    const std::string shared(450, 'x');
    return {"a", "b", shared, shared + "1", shared + "10", shared + "2", "y"};
}

std::vector<std::string> ids_back(LedgerReader& reader, const OrderByCode& before, KeyRange range) {
    std::vector<std::string> ids;
    paged(reader).scan_back(before, range, [&ids](const OrderByCode& row) {
        ids.push_back(row.order_id.str());
        return true;
    });
    return ids;
}

TEST_P(StoredRows, Q7_AListIsReadFromAnyRowOnInBothDirections) {
    std::vector<std::string> ids = listed_ids();
    {
        const auto txn = ledger->begin(Books::kNode);
        for (const std::string& id : ids) {
            txn->put(listed(id));
        }
        txn->put(listed("of another code", 6));
        txn->put(listed("of another code", 8));
        txn->commit();
    }
    const auto reader = ledger->snapshot(Books::kNode);
    if (dynamic_cast<PagedReads*>(reader.get()) == nullptr) {
        GTEST_SKIP() << "a ledger in memory has no pages";
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::vector<std::string> from_here;
        reader->scan(listed(ids[i]), {2, 5}, [&](const OrderByCode& row) {
            from_here.push_back(row.order_id.str());
            return true;
        });
        const auto at = ids.begin() + static_cast<std::ptrdiff_t>(i);
        EXPECT_EQ(from_here, std::vector<std::string>(at, ids.end()));
        const std::vector<std::string> before(std::make_reverse_iterator(at), ids.rend());
        EXPECT_EQ(ids_back(*reader, listed(ids[i]), {2, 5}), before);
    }
    EXPECT_EQ(ids_back(*reader, listed(""), {2, 2}),
              std::vector<std::string>(ids.rbegin(), ids.rend()));
    OrderByCode later = listed("");
    later.ordered_at = {1'767'000'000, 6};
    EXPECT_EQ(ids_back(*reader, later, {2, 3}).size(), ids.size());
    EXPECT_TRUE(ids_back(*reader, listed(""), {2, 3}).empty());
}

/// LMDB keeps the rows of this list until the commit.
TEST_P(StoredRows, Z2_ARowOfAListThatChangesTwiceInATransactionIsAsItWasLast) {
    const auto ids = [](LedgerReader& reader) {
        std::vector<std::string> found;
        reader.scan(listed(""), {2, 2}, [&found](const OrderByCode& row) {
            found.push_back(row.order_id.str());
            return true;
        });
        return found;
    };
    auto txn = ledger->begin(Books::kNode);
    txn->put(listed("stored"));
    txn->put(listed("moved"));
    txn->commit();
    txn = ledger->begin(Books::kNode);
    txn->erase(listed("stored"));
    txn->put(listed("gone"));
    txn->erase(listed("gone"));
    txn->erase(listed("moved"));
    txn->put(listed("moved"));
    EXPECT_THAT(ids(*txn), ElementsAre("moved"));
    txn->put(listed("new"));
    txn->commit();
    EXPECT_THAT(ids(*ledger->snapshot(Books::kNode)), ElementsAre("moved", "new"));
}

TEST_P(StoredRows, Z10_AdditionsToARowAreWrittenTogetherAndAddUp) {
    const auto sum = [](const char* earned, std::uint32_t node) {
        MonthlySum row;
        row.account = kAcme;
        row.month = 202601;
        row.creator = CreatorId("ann");
        row.program = ProgramId("spring");
        row.currency = *Currency::parse("USD");
        row.node = node;
        row.earned = Decimal::parse_signed(earned).value();
        return row;
    };
    for (const char* earned : {"2.50", "-0.25"}) {
        const auto txn = ledger->begin(Books::kNode);
        txn->add_row(sum(earned, 1));
        txn->add_row(sum("1.00", 2));
        txn->add_row(sum(earned, 1));
        txn->commit();
    }
    ledger->begin(Books::kNode)->add_row(sum("7.00", 1));  // not committed
    std::vector<std::string> rows;
    ledger->snapshot(Books::kNode)->scan(MonthlySum{}, {}, [&rows](const MonthlySum& row) {
        rows.push_back(std::to_string(row.node) + " " + row.earned.to_string());
        return true;
    });
    EXPECT_EQ(rows, (std::vector<std::string>{"1 4.50", "2 2.00"}));
}

TEST_P(StoredRows, AnAddedSumOfZeroIsErased) {
    const auto add = [this](std::initializer_list<const char*> amounts) {
        const auto txn = ledger->begin(Books::kNode);
        for (const char* amount : amounts) {
            OpenHours row;
            row.account = kAcme;
            row.currency = Currency::parse("EUR").value();
            row.node = 1;
            append_hour(row.hours, {7, 0, Decimal::parse_signed(amount)->unscaled()});
            txn->add_row(row);
        }
        txn->commit();
        std::string sum = "none";
        ledger->snapshot(Books::kNode)->scan(OpenHours{}, {}, [&sum](const OpenHours& row) {
            HourSum one;
            EXPECT_TRUE(HourReader(row.hours).next(one));
            sum = Decimal(one.units, 2).to_string();
            return true;
        });
        return sum;
    };
    EXPECT_EQ(add({"2.50", "-2.50"}), "none");
    EXPECT_EQ(add({"2.50"}), "2.50");
    EXPECT_EQ(add({"-1.00", "-1.50"}), "none");
    EXPECT_EQ(add({"-1.00"}), "-1.00");
}

// ---- Orders -------------------------------------------------------------------------------------

std::string text_of(const Money& money) {
    return money.amount.to_string() + std::string(money.currency.code());
}

std::string text_of(const FrozenLine& line) {
    const FrozenRate& rate = line.rate;
    return line.line.str() + ":" + std::to_string(static_cast<int>(rate.rate.kind)) + "," +
           rate.rate.value.to_string() + "," +
           (rate.rate.kind < RateKind::kFixed ? "" : std::string(rate.rate.currency.code())) + "," +
           std::to_string(static_cast<int>(rate.base)) + "," +
           std::to_string(static_cast<int>(rate.match)) + "," +
           std::to_string(rate.program_version) + "," + std::to_string(rate.rule) + "," +
           (rate.tier ? std::to_string(*rate.tier) : "-") + "," + std::to_string(rate.shared_with);
}

std::string text_of(const Position& position) {
    const Attribution& from = position.attribution;
    std::string text = from.program.str() + "/" + from.creator.str() + " " +
                       std::to_string(from.types) + " " + std::to_string(from.cause.value) + " " +
                       from.command_id + " " + std::to_string(static_cast<int>(from.cause_topic)) +
                       " " + RowTexts::said(from.at);
    for (const Candidate& candidate : from.candidates) {
        text += " candidate(" + candidate.program.str() + " " + candidate.creator.str() + " " +
                std::to_string(static_cast<int>(candidate.type)) + " " +
                std::to_string(candidate.code) + " " + RowTexts::said(candidate.clicked_at) + " " +
                std::to_string(static_cast<int>(candidate.verdict)) + ")";
    }
    text += " facts(" + (position.facts.volume ? text_of(*position.facts.volume) : "-") + " " +
            std::to_string(static_cast<int>(position.facts.customer)) + " " + position.facts.group;
    for (const Money& cap : position.facts.caps) {
        text += " " + text_of(cap);
    }
    for (const FrozenLine& line : position.frozen) {
        text += " frozen(" + text_of(line) + ")";
    }
    for (const LineAccrual& accrual : position.accruals) {
        text += " accrued(" + accrual.line.str() + " " + std::string(accrual.currency.code()) +
                " " + accrual.accrued.to_string() + " " + accrual.allocated.to_string() + " " +
                std::to_string(accrual.first_entry) + ")";
    }
    for (const PositionPayout& row : position.payouts) {
        text += " payout(" + row.payout_id + " " + std::string(row.currency.code()) + " " +
                row.amount.to_string() + " " + row.commission.to_string() + " " +
                RowTexts::said(row.has_commission) + RowTexts::said(row.active) + ")";
    }
    return text + " posted " + RowTexts::said(position.last_posted);
}

std::string text_of(const OrderState& state) {
    std::string text =
        RowTexts::said(state.version) + " " + RowTexts::said(state.ordered_at) + " " +
        RowTexts::said(state.cancelled_at) + " " + state.amount + " " + state.tax + " " +
        state.shipping + " " + std::string(state.currency.code()) + " device " +
        RowTexts::said(state.device) + " " + RowTexts::said(state.device_version) + " customer " +
        RowTexts::said(state.customer) + " " + RowTexts::said(state.plausible_version);
    for (const std::string& code : state.codes) {
        text += " code(" + code + ")";
    }
    for (const OrderLine& line : state.lines) {
        text += " line(" + line.id.str() + " " + line.sku.str() + " " +
                RowTexts::said(line.variant_sku) + " " + line.amount.to_string() + " " +
                line.tax.to_string() + " " + std::to_string(line.quantity) +
                RowTexts::said(line.present) + ")";
    }
    for (const RefundRow& row : state.refunds) {
        text += " refund(" + row.id.str() + " " + row.line.str() + " " +
                RowTexts::said(row.version) + " " + std::to_string(row.stated) + " " +
                RowTexts::said(row.refunded_at) + " " + row.amount.to_string() + " " +
                row.tax.to_string() + " " + std::to_string(row.quantity) + ")";
    }
    for (const Position& position : state.positions) {
        text += "\n" + text_of(position);
    }
    text += "\n" + std::to_string(state.statements_count) + " " + std::to_string(state.flags) +
            " " + std::to_string(state.anomalies_showing) + " " +
            std::to_string(state.anomalies_acknowledged) + " live " + RowTexts::said(state.live) +
            " " + std::to_string(state.last_applied.value) + " " +
            std::to_string(state.events_count) + " " + std::to_string(state.duplicates_count);
    for (const EventTrace& event : state.events) {
        text += " event(" + std::to_string(event.seq.value) + " " +
                std::to_string(static_cast<int>(event.topic)) + " " +
                std::to_string(static_cast<int>(event.decision)) + " " +
                RowTexts::said(event.digest) + " " + RowTexts::said(event.version) + " " +
                RowTexts::said(event.received_at) + RowTexts::said(event.cancelled) + " " +
                std::to_string(event.anomalies) + " " + std::to_string(event.first_entry) + ")";
    }
    for (const std::uint64_t group : state.other_groups) {
        text += " " + std::to_string(group);
    }
    return text;
}

Decimal dec(std::string_view text) {
    return Decimal::parse_signed(text).value();
}
Currency currency(std::string_view code) {
    return Currency::parse(code).value();
}

Position full_position(const char* creator) {
    Position position;
    position.attribution = {ProgramId("spring"),
                            CreatorId(creator),
                            5,
                            {77},
                            "C260131140509-7KQ4M9",
                            Topic::kClickImport,
                            {1'770'000'000, 5},
                            {{AttributionType::kLanded,
                              ProgramId("p"),
                              CreatorId("c"),
                              3,
                              {1'760'000'000, 999'999'999},
                              CandidateVerdict::kOlderClick}}};
    position.facts = {Money{currency("JPY"), dec("1500")},
                      CustomerKind::kReturning,
                      "gold",
                      {{currency("EUR"), dec("40.00")}, {currency("KWD"), dec("1.000")}}};
    const FrozenRate per_order{{RateKind::kPerOrder, dec("5.00"), currency("USD")},
                               BaseKind::kGross,
                               RuleMatch::kSku,
                               3,
                               2,
                               std::uint8_t{1},
                               0};
    const FrozenRate percent{{RateKind::kPercent, dec("12.5"), {}},
                             BaseKind::kNet,
                             RuleMatch::kDefault,
                             1,
                             0,
                             std::nullopt,
                             0};
    position.frozen = {
        {LineItemId("l1"), per_order}, {LineItemId("l2"), percent}, {LineItemId("gone"), percent}};
    position.accruals = {{LineItemId("l1"), currency("USD"), dec("3.34"), dec("-1.00"), 9},
                         {LineItemId(), currency("JPY"), dec("-200"), dec("0"), 0}};
    position.payouts = {
        {"P260131140509-7KQ4M9-0001", currency("USD"), dec("-1.00"), dec("0.00"), false, true},
        {"P260131140509-7KQ4M9-0002", currency("JPY"), dec("7"), dec("7"), true, false}};
    position.last_posted = {1'769'000'000, 1};
    return position;
}

OrderState full_order() {
    OrderState state;
    state.key = {kAcme, {1}, OrderId("o1")};
    state.version = {1'768'000'000, 3};
    state.ordered_at = {1'767'000'000, 0};
    state.cancelled_at = Timestamp{1'768'000'001, 0};
    state.currency = currency("USD");
    state.amount = "0100.500";
    state.tax = "0";
    state.shipping = "4.90";
    state.codes = {"SAVE", ""};
    state.device = Digest256{1, 2, 3};
    state.device_version = {1'767'000'001, 7};
    state.customer = Digest256{9};
    state.plausible_version = Timestamp{1'768'000'000, 3};
    state.lines = {
        {LineItemId("l1"), Sku("s"), VariantSku("v"), dec("100.50"), dec("0.0"), 2, true},
        {LineItemId("gone"), Sku(""), std::nullopt, dec("1"), dec("0"), 1, false}};
    state.refunds = {{RefundLineItemId("r"),
                      LineItemId("l1"),
                      {1'768'000'000, 3},
                      4,
                      {1'767'500'000, 1},
                      dec("4.90"),
                      dec("0"),
                      1}};
    state.statements_count = 5;
    state.flags = kOrderHeld | kOrderBarred;
    state.anomalies_showing = bit(AnomalyKind::kCreditedOrder) | bit(AnomalyKind::kVersionInFuture);
    state.anomalies_acknowledged = bit(AnomalyKind::kCreditedOrder);
    state.positions = {full_position("ann"), full_position("ben")};
    state.positions[1].facts = {};
    state.positions[1].payouts.clear();
    state.live = 1;
    state.last_applied = {12};
    state.events = {{{11},
                     Topic::kOrderCancel,
                     EventDecision::kStale,
                     {5},
                     {1'768'000'000, 3},
                     {1'768'100'000, 0},
                     true,
                     bit(AnomalyKind::kCurrencyChanged),
                     8}};
    state.events_count = 70;
    state.duplicates_count = 2;
    state.other_groups = {3, 8};
    return state;
}

TEST_P(StoredRows, AnOrderWithPositionsIsReadBackWhole) {
    const OrderState put = full_order();
    OrderState found;
    {
        const auto txn = ledger->begin(Books::kNode);
        txn->put_order(put);
        txn->commit();
    }
    ASSERT_TRUE(ledger->snapshot(Books::kNode)->load_order(put.key, found));
    EXPECT_EQ(text_of(found), text_of(put));

    // Changed: one position less in the payouts, none live, and nothing absent that was there.
    OrderState changed = put;
    changed.live.reset();
    changed.device.reset();
    changed.cancelled_at.reset();
    changed.plausible_version.reset();
    changed.refunds.clear();
    changed.codes.clear();
    changed.positions.pop_back();
    changed.positions[0].accruals[0].allocated = dec("2.34");
    {
        const auto txn = ledger->begin(Books::kNode);
        ASSERT_TRUE(txn->load_order(put.key, found));
        txn->put_order(changed);
        txn->commit();
    }
    ASSERT_TRUE(ledger->snapshot(Books::kNode)->load_order(put.key, found));
    EXPECT_EQ(text_of(found), text_of(changed));
}

TEST_P(StoredRows, O5_AnEventBeyondTheOrdersRowIsReplaced) {
    const OrderKey key = full_order().key;
    EventTrace event = full_order().events.front();
    const auto txn = ledger->begin(Books::kNode);
    for (const std::uint64_t seq : {21U, 20U, 22U}) {
        event.seq = {seq};
        event.digest.fill(static_cast<std::uint8_t>(seq));
        txn->put_event(key, event);
    }
    event.seq = {20};
    event.digest = {};
    txn->put_event(key, event);
    EventDigest known{};
    known.fill(21);
    EXPECT_TRUE(txn->has_event(key, event.topic, known));
    known.fill(20);
    EXPECT_FALSE(txn->has_event(key, event.topic, known));
    std::size_t count = 0;
    txn->scan_events(key, [&count](const EventTrace&) { return ++count != 0; });
    EXPECT_EQ(count, 3U);
}

// ---- Journal and sums ---------------------------------------------------------------------------

class StoredJournal : public StoredRows {
protected:
    /// A group of one posting and a memo entry, as the rules post it.
    void post(std::string_view node, const char* creator, Timestamp accounting_date,
              std::string_view amount, std::uint64_t refers_to = 0) {
        const auto txn = ledger->begin(node);
        JournalGroup group;
        group.node = node;
        group.first_entry = txn->mutable_head().next_entry;
        group.event_seq = {4};
        group.command_id = "C260131140509-7KQ4M9";
        group.account = kAcme;
        group.program = ProgramId("spring");
        group.creator = CreatorId(creator);
        group.payout_id = "P260131140509-7KQ4M9-0001";
        group.recorded_at = {1'770'000'000, 1};
        group.accounting_date = accounting_date;
        group.note = "why \"so\"";
        group.actor = "frank";
        group.entries.push_back(
            {LineItemId(), currency("USD"), dec(amount), JournalReason::kPayout, refers_to});
        group.entries.push_back(
            {LineItemId("memo"), {}, {}, JournalReason::kMemoClosed, refers_to});
        txn->mutable_head().next_entry += 2;
        txn->mutable_head().last_received = group.recorded_at;
        seal(group, txn->mutable_chain(kAcme));
        txn->append_journal(group);
        txn->add_to_balance({{-dec(amount), dec(amount), dec("0.00")},
                             {kAcme, group.program, group.creator, currency("USD")}});
        txn->commit();
    }
    [[nodiscard]] std::vector<std::string> of_account(Timestamp from, Timestamp to) const {
        std::vector<std::string> rows;
        ledger->snapshot(Books::kNode)
            ->scan_account_journal(kAcme, from, to, [&rows](const JournalGroup& group) {
                rows.push_back(group.creator.str() + " " +
                               std::to_string(group.accounting_date.seconds) + " " +
                               group.node.substr(0, 1) + std::to_string(group.first_entry));
                return true;
            });
        return rows;
    }
};

TEST_P(StoredJournal, S3_ByCreatorDateNodeAndEntry) {
    post(Books::kNode, "ben", {200, 0}, "1.00");  // this node's number is lower, its UUID higher
    post(kOther, "ann", {200, 0}, "2.00");
    post(kOther, "ben", {200, 0}, "3.00");
    post(Books::kNode, "ben", {100, 0}, "4.00");
    post(Books::kNode, "ben", {300, 0}, "5.00");
    EXPECT_THAT(of_account({100, 0}, {300, 0}),
                ElementsAre("ann 200 01", "ben 100 13", "ben 200 03", "ben 200 11"));
    EXPECT_THAT(of_account({300, 0}, {300, 1}), ElementsAre("ben 300 15"));
    std::vector<std::uint64_t> entries;
    ledger->snapshot(kOther)->scan_creator_journal(kAcme, CreatorId("ben"), {100, 1}, {200, 1},
                                                   [&entries](const JournalGroup& group) {
                                                       entries.push_back(group.first_entry);
                                                       return true;
                                                   });
    EXPECT_THAT(entries, ElementsAre(3, 1));
}

TEST_P(StoredJournal, J1_AGroupIsReadBackAsSealed) {
    post(Books::kNode, "ben", {100, 5}, "1.00");
    post(Books::kNode, "ben", {100, 6}, "2.00", 1);
    post(kOther, "ann", {100, 7}, "3.00");
    std::map<std::string, ChainHead> chains;
    std::vector<std::string> seen;
    const auto reader = ledger->snapshot(Books::kNode);
    reader->scan_journal(1, [&](const JournalGroup& group) {
        EXPECT_TRUE(verify_seal(group, chains[group.node])) << group.first_entry;
        EXPECT_EQ(group.entries.size(), 2U);
        seen.push_back(group.node.substr(0, 1) + std::to_string(group.first_entry) + " " +
                       std::to_string(group.entries.back().refers_to));
        return true;
    });
    EXPECT_THAT(seen, ElementsAre("01 0", "11 0", "13 1"));
    std::vector<std::string> heads;
    reader->scan_heads([&heads](const LedgerHead& head) {
        heads.push_back(head.node.substr(0, 1) + std::to_string(head.next_entry) + " " +
                        RowTexts::said(head.last_received));
        return true;
    });
    EXPECT_THAT(heads, ElementsAre("03 1770000000.1", "15 1770000000.1"));
    std::vector<std::string> found;
    reader->scan_chains([&](const NodeChain& chain) {
        EXPECT_EQ(chain.head.hash, chains[chain.node].hash);
        found.push_back(chain.node.substr(0, 1) + std::to_string(chain.head.entries));
        return true;
    });
    EXPECT_THAT(found, testing::UnorderedElementsAre("02", "14"));
}

TEST_P(StoredJournal, J2_TheBooksOfEveryNodeAddUp) {
    post(Books::kNode, "ben", {100, 0}, "1.00");
    post(kOther, "ben", {100, 0}, "2.50");
    const BalanceKey key{kAcme, ProgramId("spring"), CreatorId("ben"), currency("USD")};
    const std::optional<Balance> sum = ledger->snapshot(Books::kNode)->balance(key);
    ASSERT_TRUE(sum.has_value());
    EXPECT_EQ(sum->owed, dec("-3.50"));
    EXPECT_EQ(sum->in_payout.to_string(), "3.50");
    EXPECT_EQ(sum->paid.to_string(), "0.00");
    std::size_t rows = 0;
    ledger->snapshot(kOther)->scan_balances([&rows](const Balance&) { return ++rows != 0; });
    EXPECT_EQ(rows, 1U);
}

SLUICE_FOR_EVERY_LEDGER(StoredRows);
SLUICE_FOR_EVERY_LEDGER(StoredJournal);

}  // namespace
}  // namespace sluice::test
