// Values of orders and of the rows with special layouts: a written value is read back.
#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_value.hpp"
#include "unit/lmdb_store/rows/samples.hpp"

namespace sluice::store {
namespace {

constexpr std::string_view kRowKey = "key";

std::string exact(const Decimal& value) {
    return value.to_string();
}
auto fields(const Money& money) {
    return std::tuple(money.currency, exact(money.amount));
}
auto fields(const FrozenLine& line) {
    const FrozenRate& rate = line.rate;
    return std::tuple(line.line, rate.rate.kind, exact(rate.rate.value), rate.rate.currency,
                      rate.base, rate.match, rate.program_version, rate.rule, rate.tier,
                      rate.shared_with);
}
auto fields(const OrderLine& line) {
    return std::tuple(line.id, line.sku, line.variant_sku, exact(line.amount), exact(line.tax),
                      line.quantity, line.present);
}
auto fields(const RefundRow& row) {
    return std::tuple(row.id, row.line, row.version, row.stated, row.refunded_at, exact(row.amount),
                      exact(row.tax), row.quantity);
}
auto fields(const EventTrace& event) {
    return std::tuple(event.seq, event.topic, event.decision, event.digest, event.version,
                      event.received_at, event.cancelled, event.anomalies, event.first_entry,
                      event.source);
}
auto fields(const Candidate& candidate) {
    return std::tuple(candidate.type, candidate.program, candidate.creator, candidate.code,
                      candidate.clicked_at, candidate.verdict);
}
auto fields(const LineAccrual& accrual) {
    return std::tuple(accrual.line, accrual.currency, exact(accrual.accrued),
                      exact(accrual.allocated), accrual.first_entry);
}
auto fields(const PositionPayout& payout) {
    return std::tuple(payout.payout_id, payout.currency, exact(payout.amount),
                      exact(payout.commission), payout.has_commission, payout.active);
}
auto fields(const JournalEntry& entry) {
    return std::tuple(entry.line, entry.currency, exact(entry.amount), entry.reason,
                      entry.refers_to);
}

template <class Row>
auto all_fields(const std::vector<Row>& rows) {
    std::vector<decltype(fields(rows.front()))> all;
    for (const Row& row : rows) {
        all.push_back(fields(row));
    }
    return all;
}

void expect_equal(const Position& a, const Position& b) {
    EXPECT_EQ(std::tie(a.attribution.program, a.attribution.creator, a.attribution.types,
                       a.attribution.cause, a.attribution.command_id, a.attribution.cause_topic,
                       a.attribution.at, a.facts.customer, a.facts.group, a.last_posted),
              std::tie(b.attribution.program, b.attribution.creator, b.attribution.types,
                       b.attribution.cause, b.attribution.command_id, b.attribution.cause_topic,
                       b.attribution.at, b.facts.customer, b.facts.group, b.last_posted));
    EXPECT_EQ(all_fields(a.attribution.candidates), all_fields(b.attribution.candidates));
    ASSERT_EQ(a.facts.volume.has_value(), b.facts.volume.has_value());
    if (a.facts.volume) {
        EXPECT_EQ(fields(*a.facts.volume), fields(*b.facts.volume));
    }
    EXPECT_EQ(all_fields(a.facts.caps), all_fields(b.facts.caps));
    EXPECT_EQ(all_fields(a.frozen), all_fields(b.frozen));
    EXPECT_EQ(all_fields(a.accruals), all_fields(b.accruals));
    EXPECT_EQ(all_fields(a.payouts), all_fields(b.payouts));
}

void expect_equal(const OrderState& a, const OrderState& b) {
    EXPECT_EQ(std::tie(a.key, a.version, a.ordered_at, a.cancelled_at, a.currency, a.amount, a.tax,
                       a.shipping, a.codes, a.numbers, a.confirmation_number, a.device,
                       a.device_version, a.customer, a.plausible_version),
              std::tie(b.key, b.version, b.ordered_at, b.cancelled_at, b.currency, b.amount, b.tax,
                       b.shipping, b.codes, b.numbers, b.confirmation_number, b.device,
                       b.device_version, b.customer, b.plausible_version));
    EXPECT_EQ(std::tie(a.statements_count, a.flags, a.anomalies_showing, a.anomalies_acknowledged,
                       a.live, a.last_applied, a.last_node, a.events_count, a.duplicates_count,
                       a.other_groups, a.changes_count),
              std::tie(b.statements_count, b.flags, b.anomalies_showing, b.anomalies_acknowledged,
                       b.live, b.last_applied, b.last_node, b.events_count, b.duplicates_count,
                       b.other_groups, b.changes_count));
    EXPECT_EQ(all_fields(a.lines), all_fields(b.lines));
    EXPECT_EQ(all_fields(a.refunds), all_fields(b.refunds));
    EXPECT_EQ(all_fields(a.events), all_fields(b.events));
    ASSERT_EQ(a.positions.size(), b.positions.size());
    for (std::size_t i = 0; i < a.positions.size(); ++i) {
        expect_equal(a.positions[i], b.positions[i]);
    }
}

OrderState decoded(const OrderState& order) {
    OrderValue value;
    OrderState back;
    back.key = order.key;
    EXPECT_TRUE(value.decode(kRowKey, std::string(value.encode(kRowKey, order)), back));
    return back;
}

TEST(LedgerValue, AnOrderIsReadBackIntoAnyBuffer) {
    OrderSamples samples(42);
    OrderValue value;
    OrderState back;
    for (int i = 0; i < 500; ++i) {
        const OrderKey key{{1}, {2}, OrderId(samples.text(samples.chance() ? 20 : 1024))};
        const OrderState order = samples.order(key);
        const std::string bytes(value.encode(kRowKey, order));
        back.key = key;
        ASSERT_TRUE(value.decode(kRowKey, bytes, back));
        expect_equal(order, back);
        EXPECT_EQ(value.encode(kRowKey, back), bytes) << "equal orders must give equal bytes";
    }
}

TEST(LedgerValue, PositionsOfAnOrderWithManyLinesNameThemByTheirPlaces) {
    OrderSamples samples(8);
    OrderState order = samples.order({{1}, {2}, OrderId("o")});
    for (int i = 0; i < 3000; ++i) {
        order.lines.push_back(samples.line());
        order.lines.back().id = LineItemId("line-of-many-" + std::to_string(i));
    }
    order.positions = {samples.position(order), samples.position(order)};
    order.live = 1;
    expect_equal(order, decoded(order));
    OrderValue value;
    const std::string bytes(value.encode(kRowKey, order));
    EXPECT_EQ(bytes.find("line-of-many-2999"), bytes.rfind("line-of-many-2999"));
}

TEST(LedgerValue, NumbersAtTheirEndsAreExact) {
    OrderState order;
    order.key = {{1}, {2}, OrderId("o")};
    order.currency = currency_of("USD");
    order.version = {-62'167'219'200 - 86'400, 999'999'999};
    order.ordered_at = {253'402'300'799, 1};
    const Int128 most = Int128{10'000'000'000'000} * 1'000'000'000'000 - 1;
    for (const Decimal& amount :
         {Decimal(most, 0), Decimal(-most, 0), Decimal(most * 1'000'000'000'000, 12),
          Decimal(0, 12), Decimal(-1, 0), Decimal(3, 12), Decimal(4, 12), Decimal(-4, 12),
          Decimal(-5, 12)}) {
        order.lines.emplace_back().amount = amount;
    }
    order.lines.front().quantity = 0xFFFF'FFFF;
    order.other_groups = {0xFFFF'FFFF'FFFF'FFFF, 0, 1, 0x8000'0000'0000'0000, 127, 128, 16'384};
    order.events_count = 0xFFFF'FFFF'FFFF'FFFF;
    order.anomalies_showing = 0xFFFF'FFFF;
    expect_equal(order, decoded(order));
}

TEST(LedgerValue, ARateIsKnownByItsScaleToo) {
    OrderState order;
    order.key = {{1}, {2}, OrderId("o")};
    Position& position = order.positions.emplace_back();
    position.frozen.resize(3);
    position.frozen[0].rate.rate = {RateKind::kFixed, Decimal(150, 2), currency_of("USD")};
    position.frozen[1].rate.rate = {RateKind::kFixed, Decimal(1500, 3), currency_of("USD")};
    position.frozen[2].rate = position.frozen[0].rate;
    const OrderState back = decoded(order);
    EXPECT_EQ(back.positions[0].frozen[0].rate.rate.value.to_string(), "1.50");
    EXPECT_EQ(back.positions[0].frozen[1].rate.rate.value.to_string(), "1.500");
    EXPECT_EQ(back.positions[0].frozen[2].rate.rate.value.to_string(), "1.50");
}

/// Five lines, one position that freezes and owes each of them.
OrderState order_of_five_lines() {
    OrderState order;
    order.key = {{1}, {2}, OrderId("order-1234567")};
    order.currency = currency_of("USD");
    order.version = order.ordered_at = {1'767'225'600, 0};
    order.amount = "123.45";
    order.tax = "23.45";
    order.shipping = "4.50";
    order.codes = {"SPRING10"};
    order.device = Digest256{};
    order.device_version = order.version;
    Position& position = order.positions.emplace_back();
    for (int i = 0; i < 5; ++i) {
        OrderLine& line = order.lines.emplace_back();
        line.id = LineItemId("line-123456-" + std::to_string(i));
        line.sku = Sku("sku-12345");
        line.variant_sku = VariantSku("sku-12345-blue");
        line.amount = Decimal(2345, 2);
        line.tax = Decimal(345, 2);
        FrozenLine& frozen = position.frozen.emplace_back();
        frozen.line = line.id;
        frozen.rate.rate = {RateKind::kPercent, Decimal(10, 0), {}};
        position.accruals.push_back({line.id, order.currency, Decimal(200, 2), Decimal(0, 2),
                                     1'000'000 + static_cast<std::uint64_t>(i)});
    }
    position.attribution.program = ProgramId("spring");
    position.attribution.creator = CreatorId("creator-17");
    position.attribution.cause = {1'000'000};
    position.attribution.at = {1'767'225'601, 123'000'000};
    position.attribution.candidates = {{AttributionType::kAffiliateCode,
                                        ProgramId("spring"),
                                        CreatorId("creator-17"),
                                        "SPRING17",
                                        {},
                                        CandidateVerdict::kWon}};
    position.last_posted = position.attribution.at;
    order.live = 0;
    EventTrace& event = order.events.emplace_back();
    event.seq = {1'000'000};
    event.version = order.version;
    event.received_at = position.attribution.at;
    event.first_entry = 1'000'000;
    order.events_count = 1;
    return order;
}

TEST(LedgerValue, AnOrderOfFiveLinesTakesAnEighthOfAPage) {
    OrderValue value;
    EXPECT_LT(value.encode(kRowKey, order_of_five_lines()).size(), 512U);
}

TEST(LedgerValue, NoCutIsReadBeyondItsEnd) {
    OrderSamples samples(7);
    OrderValue value;
    OrderState back;
    const OrderState order = samples.order({{1}, {2}, OrderId("o")});
    const std::string bytes(value.encode(kRowKey, order));
    for (std::size_t cut = 0; cut < bytes.size(); cut += 3) {
        back.key = order.key;
        EXPECT_FALSE(value.decode(kRowKey, std::string(bytes.substr(0, cut)), back)) << cut;
    }
}

TEST(LedgerValue, AValueUnderAnotherKeyIsNotTaken) {
    OrderSamples samples(7);
    OrderValue value;
    OrderState back = samples.order({{1}, {2}, OrderId("o")});
    const std::string bytes(value.encode("one key", back));
    EXPECT_TRUE(value.decode("one key", bytes, back));
    EXPECT_FALSE(value.decode("another", bytes, back));
}

TEST(LedgerValue, ACutIdInTheValueIsCompared) {
    OrderSamples samples(3);
    OrderValue value;
    const OrderState order = samples.order({{1}, {2}, OrderId(std::string(900, 'a'))});
    const LedgerKey key = order_key(order.key);
    const std::string bytes(value.encode(key.view(), order));
    OrderKey stored;
    EXPECT_TRUE(OrderValue::decode_key(key.view(), bytes, stored));
    EXPECT_EQ(stored.order_id.str(), std::string(900, 'a'));
    EXPECT_FALSE(OrderValue::decode_key(key.view(), "no row", stored));
    OrderState other;
    other.key = {{1}, {2}, OrderId(std::string(899, 'a') + "b")};
    EXPECT_FALSE(value.decode(key.view(), bytes, other));
}

TEST(LedgerValue, AnOrderThatPointsBeyondItsListsIsDamaged) {
    OrderValue value;
    OrderState back;
    const auto is_taken = [&](const std::function<void(OrderState&)>& change) {
        OrderState order = order_of_five_lines();
        change(order);
        back.key = order.key;
        return value.decode(kRowKey, std::string(value.encode(kRowKey, order)), back);
    };
    EXPECT_TRUE(is_taken([](OrderState&) {}));
    EXPECT_FALSE(is_taken([](OrderState& order) { order.live = 1; }));
    EXPECT_FALSE(is_taken([](OrderState& order) { order.positions.clear(); }));
    EXPECT_FALSE(
        is_taken([](OrderState& order) { order.positions[0].frozen[2].rate.shared_with = 5; }));
}

TEST(LedgerValue, AJournalGroupIsReadBack) {
    OrderSamples samples(11);
    RowValue value;
    JournalGroup back;
    for (int i = 0; i < 200; ++i) {
        JournalGroup group;
        group.event_seq = {samples.any_number()};
        group.command_id = samples.chance() ? samples.text(20) : "";
        group.account = {3};
        group.shop = {static_cast<std::uint32_t>(samples.number(3))};
        group.order_id = OrderId(samples.text(1024));
        group.program = ProgramId(samples.text(128));
        group.creator = CreatorId(samples.text(128));
        group.payout_id = samples.chance() ? samples.text(30) : "";
        group.recorded_at = samples.instant();
        group.accounting_date = samples.chance() ? group.recorded_at : samples.instant();
        group.note = samples.chance() ? samples.text(100) : "";
        group.actor = samples.chance() ? samples.text(10) : "";
        group.hash = samples.digest();
        group.last_change = samples.any_number();
        group.order_change = samples.any_number();
        for (std::uint64_t entries = 1 + samples.number(5); entries > 0; --entries) {
            group.entries.push_back({LineItemId(samples.text(1024)), samples.currency(),
                                     samples.decimal(), JournalReason::kRefund,
                                     samples.any_number()});
        }
        group.entries.push_back({LineItemId("memo"), {}, {}, JournalReason::kMemoHeld, 0});
        ASSERT_TRUE(RowValue::decode(kRowKey, std::string(value.encode(kRowKey, group)), back));
        EXPECT_EQ(std::tie(group.event_seq, group.command_id, group.account, group.shop,
                           group.order_id, group.program, group.creator, group.payout_id,
                           group.recorded_at, group.accounting_date, group.note, group.actor,
                           group.hash, group.last_change, group.order_change),
                  std::tie(back.event_seq, back.command_id, back.account, back.shop, back.order_id,
                           back.program, back.creator, back.payout_id, back.recorded_at,
                           back.accounting_date, back.note, back.actor, back.hash, back.last_change,
                           back.order_change));
        EXPECT_EQ(all_fields(group.entries), all_fields(back.entries));
    }
}

}  // namespace
}  // namespace sluice::store
