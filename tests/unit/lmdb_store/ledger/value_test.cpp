#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "lmdb_store/ledger/order_value.hpp"
#include "lmdb_store/ledger/row_value.hpp"
#include "unit/lmdb_store/ledger/samples.hpp"

namespace sluice::store {
namespace {

std::string exact(const Decimal& value) {
    return value.to_string();
}
auto fields(const FrozenRate& rate) {
    return std::tuple(rate.rate.kind, exact(rate.rate.value), rate.rate.currency, rate.base,
                      rate.match, rate.program_version, rate.rule);
}
auto fields(const OrderLine& line) {
    return std::tuple(line.id, line.sku, line.variant_sku, exact(line.amount), exact(line.tax),
                      exact(line.commission), line.quantity, line.present,
                      line.frozen ? std::optional(fields(*line.frozen)) : std::nullopt);
}
auto fields(const RefundRow& row) {
    return std::tuple(row.id, row.line, row.version, row.stated, row.refunded_at, exact(row.amount),
                      exact(row.tax), row.quantity);
}
auto fields(const EventTrace& event) {
    return std::tuple(event.seq, event.topic, event.decision, event.digest, event.version,
                      event.received_at, event.cancelled, event.anomalies, event.first_entry);
}
auto fields(const Candidate& candidate) {
    return std::tuple(candidate.type, candidate.program, candidate.creator, candidate.code,
                      candidate.touched_at, candidate.verdict);
}
auto fields(const OrderDue& due) {
    return std::tuple(due.currency, exact(due.due), exact(due.manual), exact(due.settled));
}

template <class Row>
auto all_fields(const std::vector<Row>& rows) {
    std::vector<decltype(fields(rows.front()))> all;
    for (const Row& row : rows) {
        all.push_back(fields(row));
    }
    return all;
}

void expect_equal(const OrderState& a, const OrderState& b) {
    EXPECT_EQ(std::tie(a.key, a.version, a.ordered_at, a.cancelled_at, a.currency, a.amount, a.tax,
                       a.shipping, a.codes, a.anon),
              std::tie(b.key, b.version, b.ordered_at, b.cancelled_at, b.currency, b.amount, b.tax,
                       b.shipping, b.codes, b.anon));
    EXPECT_EQ(std::tie(a.statements_count, a.last_applied, a.events_count, a.duplicates_count,
                       a.other_groups),
              std::tie(b.statements_count, b.last_applied, b.events_count, b.duplicates_count,
                       b.other_groups));
    EXPECT_EQ(all_fields(a.lines), all_fields(b.lines));
    EXPECT_EQ(all_fields(a.refunds), all_fields(b.refunds));
    EXPECT_EQ(all_fields(a.events), all_fields(b.events));
    EXPECT_EQ(all_fields(a.dues), all_fields(b.dues));
    ASSERT_EQ(a.attribution.has_value(), b.attribution.has_value());
    if (a.attribution) {
        EXPECT_EQ(std::tie(a.attribution->program, a.attribution->creator, a.attribution->types,
                           a.attribution->cause, a.attribution->cause_topic, a.attribution->at),
                  std::tie(b.attribution->program, b.attribution->creator, b.attribution->types,
                           b.attribution->cause, b.attribution->cause_topic, b.attribution->at));
        EXPECT_EQ(all_fields(a.attribution->candidates), all_fields(b.attribution->candidates));
    }
    ASSERT_EQ(a.paid.has_value(), b.paid.has_value());
    if (a.paid) {
        EXPECT_EQ(a.paid->currency, b.paid->currency);
        EXPECT_EQ(exact(a.paid->amount), exact(b.paid->amount));
        EXPECT_EQ(a.paid->payout_id, b.paid->payout_id);
    }
}

TEST(LedgerValue, AnOrderComesBackAsItWasWhateverTheBufferHeldBefore) {
    OrderSamples samples(42);
    OrderValue value;
    OrderState decoded;
    for (int i = 0; i < 500; ++i) {
        const OrderKey key{{1}, {2}, OrderId(samples.text(samples.chance() ? 20 : 1024))};
        const OrderState order = samples.order(key);
        const std::string bytes(value.encode(order));
        decoded.key = key;
        ASSERT_TRUE(value.decode(bytes, decoded));
        expect_equal(order, decoded);
        EXPECT_EQ(value.encode(decoded), bytes) << "equal orders must give equal bytes";
    }
}

/// One line whose numbers are the largest that the short form of lines holds.
OrderState order_at_the_short_limit() {
    OrderState order;
    order.key = {{1}, {2}, OrderId("o")};
    order.currency = currency_of("USD");
    OrderLine& line = order.lines.emplace_back();
    line.id = LineItemId(std::string(255, 'i'));
    line.sku = Sku(std::string(255, 's'));
    line.variant_sku = VariantSku(std::string(254, 'v'));
    line.amount = line.tax = line.commission = Decimal(4'294'967'295, 12);
    line.quantity = 65'535;
    return order;
}

TEST(LedgerValue, ALineBeyondTheShortFormsLimitsIsAsExactAsOneWithin) {
    const std::vector<std::function<void(OrderLine&)>> changes = {
        [](OrderLine&) {},
        [](OrderLine& line) { line.amount = Decimal(4'294'967'296, 12); },
        [](OrderLine& line) { line.tax = Decimal(4'294'967'296, 12); },
        [](OrderLine& line) { line.commission = Decimal(4'294'967'296, 12); },
        [](OrderLine& line) { line.commission = Decimal(-1, 2); },
        [](OrderLine& line) { line.quantity = 65'536; },
        [](OrderLine& line) { line.id = LineItemId(std::string(256, 'i')); },
        [](OrderLine& line) { line.sku = Sku(std::string(256, 's')); },
        [](OrderLine& line) { line.variant_sku = VariantSku(std::string(255, 'v')); },
        [](OrderLine& line) { line.variant_sku.reset(); },
        [](OrderLine& line) { line.present = false; },
        [](OrderLine& line) { line.frozen.emplace(); },
    };
    OrderValue value;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        OrderState order = order_at_the_short_limit();
        order.lines.push_back(order.lines.front());
        changes[i](order.lines.back());
        OrderState decoded;
        decoded.key = order.key;
        ASSERT_TRUE(value.decode(std::string(value.encode(order)), decoded)) << i;
        expect_equal(order, decoded);
    }
}

TEST(LedgerValue, LinesKeepTheirRatesHoweverManyAnOrderHas) {
    OrderState order = order_at_the_short_limit();
    order.lines.front().frozen.emplace();
    OrderValue value;
    for (std::uint32_t rates = 2; rates < 260; ++rates) {
        order.lines.push_back(order.lines.front());
        order.lines.back().frozen->rule = rates;
        OrderState decoded;
        decoded.key = order.key;
        ASSERT_TRUE(value.decode(std::string(value.encode(order)), decoded)) << rates;
        expect_equal(order, decoded);
    }
}

TEST(LedgerValue, WhatAnOrderHasOpenIsReadWithoutTheRest) {
    OrderState order = order_at_the_short_limit();
    order.attribution.emplace().program = ProgramId("p");
    order.attribution->creator = CreatorId("c");
    order.dues = {{currency_of("EUR"), Decimal(7, 2), {}, Decimal(7, 2)},
                  {currency_of("USD"), Decimal(-500, 2), {}, Decimal(300, 2)}};
    OrderValue value;
    const std::string bytes(value.encode(order));
    OpenAmount row;
    row.currency = currency_of("USD");
    ASSERT_TRUE(value.decode_open(bytes, row));
    EXPECT_EQ(row.creator, CreatorId("c"));
    EXPECT_EQ(row.amount, Decimal(-800, 2));
    row.currency = currency_of("EUR");
    EXPECT_FALSE(value.decode_open(bytes, row)) << "all of it is settled";
    row.currency = currency_of("JPY");
    EXPECT_FALSE(value.decode_open(bytes, row));
}

TEST(LedgerValue, AnOrderOfFiveLinesTakesAFifthOfAPage) {
    OrderState order;
    order.key = {{1}, {2}, OrderId("order-1234567")};
    order.currency = currency_of("USD");
    order.amount = "123.45";
    order.tax = "23.45";
    order.shipping = "4.50";
    order.codes = {"SPRING10"};
    order.anon = Digest256{};
    for (int i = 0; i < 5; ++i) {
        OrderLine& line = order.lines.emplace_back();
        line.id = LineItemId("line-123456-" + std::to_string(i));
        line.sku = Sku("sku-12345");
        line.variant_sku = VariantSku("sku-12345-blue");
        line.amount = Decimal(2345, 2);
        line.frozen.emplace().rate = {RateKind::kPercent, Decimal(10, 0), {}};
    }
    order.attribution = Attribution{ProgramId("spring"),
                                    CreatorId("creator-17"),
                                    1,
                                    {5},
                                    Topic::kOrderCreate,
                                    {},
                                    {{AttributionType::kAffiliateCode,
                                      ProgramId("spring"),
                                      CreatorId("creator-17"),
                                      0,
                                      {},
                                      CandidateVerdict::kWon}}};
    order.dues.push_back({order.currency, Decimal(1000, 2), {}, {}});
    order.events.emplace_back();
    OrderValue value;
    EXPECT_LT(value.encode(order).size(), 780U);
}

TEST(LedgerValue, NoCutAndNoFlippedByteIsReadBeyondItsEnd) {
    OrderSamples samples(7);
    OrderValue value;
    const OrderKey key{{1}, {2}, OrderId("o")};
    OrderState decoded;
    const std::string bytes(value.encode(samples.order(key)));
    for (std::size_t cut = 0; cut < bytes.size(); cut += 3) {
        decoded.key = key;
        (void)value.decode(std::string(bytes.substr(0, cut)), decoded);
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const int mask : {1, 0x80, 0xFF}) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ mask);
            decoded.key = key;
            (void)value.decode(damaged, decoded);
        }
    }
}

/// The vector that `field` of the root names begins 4 bytes later.
std::string with_vector_askew(std::string_view value, flatbuffers::voffset_t field) {
    std::string bytes(value);
    const auto* root = flatbuffers::GetRoot<flatbuffers::Table>(bytes.data());
    const std::size_t at = static_cast<std::size_t>(
        root->GetAddressOf(field) - reinterpret_cast<const std::uint8_t*>(bytes.data()));
    auto offset = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(bytes.data() + at);
    flatbuffers::WriteScalar<flatbuffers::uoffset_t>(bytes.data() + at, offset + 4);
    return bytes;
}

TEST(LedgerValue, NumbersThatLieAskewAreDamage) {
    RowValue value;
    NodeHead head;
    head.node = 1;
    head.head.next_entry = 1;
    head.head.totals.anomalies[0] = 1;  // its first half is taken for the count
    const std::string bytes(value.encode(head));
    ASSERT_TRUE(value.decode(bytes, head));
    EXPECT_FALSE(value.decode(with_vector_askew(bytes, fbs::Head::VT_ANOMALIES), head));

    OrderSamples samples(5);
    OrderValue order_value;
    OrderState order = samples.order({{1}, {2}, OrderId("o")});
    order.other_groups = {1};
    const std::string order_bytes(order_value.encode(order));
    ASSERT_TRUE(order_value.decode(order_bytes, order));
    EXPECT_FALSE(
        order_value.decode(with_vector_askew(order_bytes, fbs::Order::VT_OTHER_GROUPS), order));
}

TEST(LedgerValue, ACutIdInTheValueIsCompared) {
    OrderSamples samples(3);
    OrderValue value;
    const OrderState order = samples.order({{1}, {2}, OrderId(std::string(900, 'a'))});
    const std::string bytes(value.encode(order));
    EXPECT_EQ(value.order_id(bytes), std::string(900, 'a'));
    OrderState other;
    other.key = {{1}, {2}, OrderId(std::string(899, 'a') + "b")};
    EXPECT_FALSE(value.decode(bytes, other));
}

TEST(LedgerValue, AJournalGroupComesBackAsItWas) {
    OrderSamples samples(11);
    RowValue value;
    StoredGroup decoded;
    for (int i = 0; i < 200; ++i) {
        JournalGroup group;
        group.event_seq = {samples.number(1'000'000)};
        group.order = {{3}, {4}, OrderId(samples.text(1024))};
        group.program = ProgramId(samples.text(128));
        group.creator = CreatorId(samples.text(128));
        group.recorded_at = samples.instant();
        group.note = samples.chance() ? samples.text(100) : "";
        group.actor = samples.chance() ? samples.text(10) : "";
        group.hash = samples.digest();
        for (std::uint64_t lines = 1 + samples.number(5); lines > 0; --lines) {
            group.lines.push_back({LineItemId(samples.text(1024)), samples.currency(),
                                   samples.decimal(), JournalReason::kRefund});
        }
        const std::string bytes(value.encode(group, 9));
        ASSERT_TRUE(value.decode(bytes, decoded));
        EXPECT_EQ(decoded.node, 9U);
        EXPECT_EQ(std::tie(group.event_seq, group.order, group.program, group.creator,
                           group.recorded_at, group.note, group.actor, group.hash),
                  std::tie(decoded.group.event_seq, decoded.group.order, decoded.group.program,
                           decoded.group.creator, decoded.group.recorded_at, decoded.group.note,
                           decoded.group.actor, decoded.group.hash));
        ASSERT_EQ(decoded.group.lines.size(), group.lines.size());
        for (std::size_t line = 0; line < group.lines.size(); ++line) {
            EXPECT_EQ(decoded.group.lines[line].line, group.lines[line].line);
            EXPECT_EQ(exact(decoded.group.lines[line].amount), exact(group.lines[line].amount));
            EXPECT_EQ(decoded.group.lines[line].currency, group.lines[line].currency);
            EXPECT_EQ(decoded.group.lines[line].reason, group.lines[line].reason);
        }
    }
}

TEST(LedgerValue, RandomBytesAreNoRows) {
    OrderSamples samples(23);
    RowValue value;
    for (int i = 0; i < 2000; ++i) {
        const std::string bytes = samples.text(200);
        StoredGroup group;
        Anomaly anomaly;
        ProgramRow program;
        CatalogRecord record;
        DeadLetter letter;
        NodeHead head;
        (void)value.decode(bytes, group);
        (void)value.decode(bytes, anomaly);
        (void)value.decode(bytes, program);
        (void)value.decode(bytes, record);
        (void)value.decode(bytes, letter);
        (void)value.decode(bytes, head);
    }
    NodeHead head;
    EXPECT_FALSE(value.decode("", head));
}

}  // namespace
}  // namespace sluice::store
