// Every ledger gives an order back as it was put, with everything that its row holds, and the
// events beyond it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/row_texts.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

class StoredOrders : public testing::TestWithParam<LedgerKind> {
protected:
    std::unique_ptr<Ledger> ledger = GetParam().make();
};

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
           (rate.tier ? std::to_string(*rate.tier) : "-") + "," + rate.factor.to_string() + "," +
           std::to_string(rate.shared_with);
}

std::string text_of(const Position& position) {
    const Attribution& from = position.attribution;
    std::string text = from.program.str() + "/" + from.creator.str() + " " +
                       std::to_string(from.types) + " " + std::to_string(from.cause.value) + " " +
                       from.command_id + " " + std::to_string(static_cast<int>(from.cause_topic)) +
                       " " + RowTexts::said(from.at);
    for (const Candidate& candidate : from.candidates) {
        text += " candidate(" + candidate.program.str() + " " + candidate.creator.str() + " " +
                std::to_string(static_cast<int>(candidate.type)) + " " + candidate.code + " " +
                RowTexts::said(candidate.clicked_at) + " " +
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
    for (const std::string& number : state.numbers) {
        text += " number(" + number + ")";
    }
    text += " confirmed(" + state.confirmation_number + ")";
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
                std::to_string(event.anomalies) + " " + std::to_string(event.first_entry) + " " +
                std::string(to_string(event.source)) + ")";
    }
    for (const std::uint64_t group : state.other_groups) {
        text += " " + std::to_string(group);
    }
    return text;
}

Decimal decimal_of(std::string_view text) {
    return Decimal::parse_signed(text).value();
}
Currency currency_of(std::string_view code) {
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
                              "SAVE",
                              {1'760'000'000, 999'999'999},
                              CandidateVerdict::kOlderClick}}};
    position.facts = {
        Money{currency_of("JPY"), decimal_of("1500")},
        CustomerKind::kReturning,
        "gold",
        {{currency_of("EUR"), decimal_of("40.00")}, {currency_of("KWD"), decimal_of("1.000")}}};
    const FrozenRate per_order{{RateKind::kPerOrder, decimal_of("5.00"), currency_of("USD")},
                               BaseKind::kGross,
                               RuleMatch::kSku,
                               3,
                               2,
                               std::uint8_t{1},
                               decimal_of("2.5"),
                               0};
    const FrozenRate percent{{RateKind::kPercent, decimal_of("12.5"), {}},
                             BaseKind::kNet,
                             RuleMatch::kDefault,
                             1,
                             0,
                             std::nullopt,
                             kNoFactor,
                             0};
    position.frozen = {
        {LineItemId("l1"), per_order}, {LineItemId("l2"), percent}, {LineItemId("gone"), percent}};
    position.accruals = {
        {LineItemId("l1"), currency_of("USD"), decimal_of("3.34"), decimal_of("-1.00"), 9},
        {LineItemId(), currency_of("JPY"), decimal_of("-200"), decimal_of("0"), 0}};
    position.payouts = {{"P260131140509-7KQ4M9-0001", currency_of("USD"), decimal_of("-1.00"),
                         decimal_of("0.00"), false, true},
                        {"P260131140509-7KQ4M9-0002", currency_of("JPY"), decimal_of("7"),
                         decimal_of("7"), true, false}};
    position.last_posted = {1'769'000'000, 1};
    return position;
}

OrderState full_order() {
    OrderState state;
    state.key = {kAcme, {1}, OrderId("o1")};
    state.version = {1'768'000'000, 3};
    state.ordered_at = {1'767'000'000, 0};
    state.cancelled_at = Timestamp{1'768'000'001, 0};
    state.currency = currency_of("USD");
    state.amount = "0100.500";
    state.tax = "0";
    state.shipping = "4.90";
    state.codes = {"SAVE", ""};
    state.numbers = {"#1001", "1001/b"};
    state.confirmation_number = "XK4J2PQ9V";
    state.device = Digest256{1, 2, 3};
    state.device_version = {1'767'000'001, 7};
    state.customer = Digest256{9};
    state.plausible_version = Timestamp{1'768'000'000, 3};
    state.lines = {
        {LineItemId("l1"), Sku("s"), VariantSku("v"), decimal_of("100.50"), decimal_of("0.0"), 2,
         true},
        {LineItemId("gone"), Sku(""), std::nullopt, decimal_of("1"), decimal_of("0"), 1, false}};
    state.refunds = {{RefundLineItemId("r"),
                      LineItemId("l1"),
                      {1'768'000'000, 3},
                      4,
                      {1'767'500'000, 1},
                      decimal_of("4.90"),
                      decimal_of("0"),
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
                     8,
                     0,
                     {},
                     EventSource::kImport}};
    state.events_count = 70;
    state.duplicates_count = 2;
    state.other_groups = {3, 8};
    return state;
}

TEST_P(StoredOrders, AnOrderWithPositionsIsReadBackWhole) {
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
    changed.positions[0].accruals[0].allocated = decimal_of("2.34");
    {
        const auto txn = ledger->begin(Books::kNode);
        ASSERT_TRUE(txn->load_order(put.key, found));
        txn->put_order(changed);
        txn->commit();
    }
    ASSERT_TRUE(ledger->snapshot(Books::kNode)->load_order(put.key, found));
    EXPECT_EQ(text_of(found), text_of(changed));
}

TEST_P(StoredOrders, O5_AnEventBeyondTheOrdersRowIsReplaced) {
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

SLUICE_FOR_EVERY_LEDGER(StoredOrders);

}  // namespace
}  // namespace sluice::test
