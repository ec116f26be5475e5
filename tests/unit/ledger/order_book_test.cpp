// Rules O1 to O3 and C1: versions, duplicates, cancellation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OrderRules : public RulesTest {};
SLUICE_FOR_EVERY_LEDGER(OrderRules);

OrderText at(const char* updated) {
    OrderText order;
    order.updated = updated;
    order.codes = {"SAVE"};
    return order;
}

TEST_P(OrderRules, O1_AnUnknownOrderIsCreatedByAnyTopic) {
    for (const Topic topic : {Topic::kOrderCreate, Topic::kOrderUpdate, Topic::kOrderCancel}) {
        OrderText order = at(kDay1);
        order.id = "by-" + std::string(to_string(topic));
        EXPECT_EQ(books.event(topic, order).input_class, InputClass::kApplied);
        EXPECT_EQ(books.commission(order.id), "10.00 USD");
    }
    EXPECT_THAT(books.anomalies(), IsEmpty());
}

TEST_P(OrderRules, O1_CreateWithoutUpdatedAtHasTheVersionOfOrderedAt) {
    OrderText order = at("");
    order.ordered = kDay2;
    books.create(order);
    EXPECT_EQ(books.order().version, instant(kDay2));
    EXPECT_EQ(books.update(at(kDay1)).input_class, InputClass::kStale);
}

TEST_P(OrderRules, O1_AnOlderEventIsStaleAndChangesNoField) {
    books.create(at(kDay2));
    OrderText old = at(kDay1);
    old.amount = "7.00";
    old.currency = "EUR";
    old.lines[0].amount = "7.00";
    EXPECT_EQ(books.update(old).input_class, InputClass::kStale);
    EXPECT_EQ(books.order().amount, "100.00");
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_EQ(books.totals().stale, 1U);
}

TEST_P(OrderRules, O1_AtTheSameVersionTheLaterArrivalWins) {
    books.create(at(kDay1));
    OrderText again = at(kDay1);
    again.lines[0].amount = "50.00";
    EXPECT_EQ(books.update(again).input_class, InputClass::kApplied);
    EXPECT_EQ(books.commission(), "5.00 USD");
    EXPECT_EQ(books.order().last_applied.value, books.last_seq().value);
}

TEST_P(OrderRules, O1_VersionsCompareToTheNanosecond) {
    books.create(at("2026-01-01T00:00:00.000000002Z"));
    EXPECT_EQ(books.update(at("2026-01-01T00:00:00.000000001Z")).input_class, InputClass::kStale);
    EXPECT_EQ(books.update(at("2026-01-01T00:00:00.000000003Z")).input_class, InputClass::kApplied);
}

TEST_P(OrderRules, O1_ALineThatIsGoneEarnsNothingForReasonUpdate) {
    OrderText order = at(kDay1);
    order.lines = {{.id = "l1"}, {.id = "l2", .amount = "20.00"}};
    books.create(order);
    const auto entries = books.journal().size();
    OrderText fewer = at(kDay2);
    books.update(fewer);
    EXPECT_EQ(books.journal().size(), entries + 1);
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/l2 -2.00 USD UPDATE");
}

TEST_P(OrderRules, O1_AReturnedLineHasItsFrozenRateAndRefund) {
    OrderText order = at(kDay1);
    order.lines = {{.id = "l1"}, {.id = "l2", .amount = "20.00"}};
    order.refunds = {{.id = "r2", .line = "l2", .amount = "5.00"}};
    books.create(order);
    books.update(at(kDay2));
    Program dearer = program("spring", "50%");
    books.apply({dearer});
    OrderText back = at(kDay3);
    back.lines = order.lines;
    books.update(back);
    EXPECT_EQ(books.commission(), "11.50 USD");  // 10 % of 100 and of 20 x 3/4.
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/l2 1.50 USD UPDATE");
}

TEST_P(OrderRules, O1_AChangedCurrencyReversesAndPostsAgain) {
    books.create(at(kDay1));
    OrderText yen = at(kDay2);
    yen.currency = "JPY";
    yen.lines[0].amount = "12345";
    books.update(yen);
    EXPECT_THAT(books.journal(), ElementsAre(event_no(-1) + " o1/l1 10.00 USD ACCRUAL",
                                             event_no(0) + " o1/l1 1234 JPY UPDATE",
                                             event_no(0) + " o1/l1 -10.00 USD UPDATE"));
    EXPECT_EQ(books.commission(), "1234 JPY");
}

TEST_P(OrderRules, O2_ADuplicateOfAnyEarlierEventOnlyCounts) {
    const OrderText first = at(kDay1);
    books.create(first);
    books.update(at(kDay2));
    const auto journal = books.journal();
    EXPECT_EQ(books.create(first).input_class, InputClass::kDuplicate);
    EXPECT_EQ(books.update(at(kDay2)).input_class, InputClass::kDuplicate);
    EXPECT_EQ(books.journal(), journal);
    EXPECT_EQ(books.totals().duplicate, 2U);
    EXPECT_EQ(books.totals().stale, 0U);
    EXPECT_EQ(books.order().duplicates_count, 2U);
}

TEST_P(OrderRules, O2_ADuplicateOfAStaleEventIsADuplicate) {
    books.create(at(kDay2));
    EXPECT_EQ(books.update(at(kDay1)).input_class, InputClass::kStale);
    EXPECT_EQ(books.update(at(kDay1)).input_class, InputClass::kDuplicate);
}

TEST_P(OrderRules, O2_AnotherTopicOrAnotherByteIsNoDuplicate) {
    books.create(at(kDay1));
    EXPECT_EQ(books.update(at(kDay1)).input_class, InputClass::kApplied);
    EXPECT_EQ(books.raw(Topic::kOrderUpdate, to_json(at(kDay1)) + " ").input_class,
              InputClass::kApplied);
}

TEST_P(OrderRules, O2_DuplicatesAreFoundBeyondTheEventsKeptInline) {
    std::vector<OrderText> events;
    for (std::size_t i = 0; i < kEventsInlineMax + 20; ++i) {
        OrderText order = at(kDay1);
        order.shipping = std::to_string(i) + ".00";
        events.push_back(order);
        EXPECT_EQ(books.update(order).input_class, InputClass::kApplied);
    }
    for (const OrderText& order : events) {
        EXPECT_EQ(books.update(order).input_class, InputClass::kDuplicate);
    }
    EXPECT_EQ(books.order().events.size(), kEventsInlineMax);
    EXPECT_EQ(books.order().events_count, events.size());
}

TEST_P(OrderRules, O3_AVersionOverADayAheadIsAppliedAndAnAnomaly) {
    books.receive_at("2026-01-01T00:00:00Z");
    EXPECT_EQ(books.create(at("2026-01-02T00:00:00Z")).input_class, InputClass::kApplied);
    EXPECT_THAT(books.anomalies(), IsEmpty());
    EXPECT_EQ(books.update(at("2026-01-02T00:00:00.000000001Z")).input_class, InputClass::kApplied);
    EXPECT_THAT(books.anomalies(),
                ElementsAre("VERSION_IN_FUTURE o1 first=" + event_no(0) + " count=1"));
    EXPECT_EQ(books.order().version, instant("2026-01-02T00:00:00.000000001Z"));
}

TEST_P(OrderRules, C1_CancelledAtCancelsWhateverTheTopic) {
    books.create(at(kDay1));
    OrderText order = at(kDay2);
    order.cancelled = kDay2;
    books.update(order);
    EXPECT_EQ(books.commission(), "0.00 USD");
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/l1 -10.00 USD CANCELLATION");
    EXPECT_THAT(books.anomalies(), IsEmpty());
}

TEST_P(OrderRules, C1_CancelWithoutTheFieldIsAnUpdateWithAnAnomaly) {
    books.create(at(kDay1));
    OrderText order = at(kDay2);
    order.lines[0].amount = "50.00";
    books.cancel(order);
    EXPECT_EQ(books.commission(), "5.00 USD");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("CANCEL_WITHOUT_CANCELLED_AT o1 first=" + event_no(0) + " count=1"));
}

TEST_P(OrderRules, C1_CancelAtTheSameVersionDoesNotCancelButTheRestApplies) {
    books.create(at(kDay1));
    OrderText order = at(kDay1);
    order.cancelled = kDay2;
    order.lines[0].amount = "50.00";
    EXPECT_EQ(books.cancel(order).input_class, InputClass::kApplied);
    EXPECT_FALSE(books.order().cancelled_at.has_value());
    EXPECT_EQ(books.commission(), "5.00 USD");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("CANCEL_NOT_LATER o1 first=" + event_no(0) + " count=1"));
}

TEST_P(OrderRules, C1_CancelAtTheSameVersionLeavesACancellationAsItWas) {
    OrderText order = at(kDay1);
    order.cancelled = kDay1;
    books.create(order);
    order.cancelled = kDay2;
    books.cancel(order);
    EXPECT_EQ(books.order().cancelled_at, instant(kDay1));
    EXPECT_THAT(books.anomalies(),
                ElementsAre("CANCEL_NOT_LATER o1 first=" + event_no(0) + " count=1"));
}

/// A back-fill sends with a topic, or in a layout, that the shop did not use: no duplicate (O2).
TEST_P(OrderRules, C1_ARepeatedCancellationIsNoAnomaly) {
    books.create(at(kDay1));
    OrderText order = at(kDay2);
    order.cancelled = kDay2;
    books.update(order);
    EXPECT_EQ(books.cancel(order).input_class, InputClass::kApplied);
    order.updated = kDay3;
    books.update(order);
    order.updated = kDay2;
    order.lines[0].amount = "100.0";
    EXPECT_EQ(books.cancel(order).input_class, InputClass::kStale);
    EXPECT_EQ(books.order().cancelled_at, instant(kDay2));
    EXPECT_THAT(books.anomalies(), IsEmpty());
}

TEST_P(OrderRules, C1_AStaleCancelDoesNotCancelAndIsAnAnomaly) {
    books.create(at(kDay2));
    OrderText order = at(kDay1);
    order.cancelled = kDay1;
    EXPECT_EQ(books.cancel(order).input_class, InputClass::kStale);
    EXPECT_FALSE(books.order().cancelled_at.has_value());
    EXPECT_THAT(books.anomalies(),
                ElementsAre("CANCEL_NOT_LATER o1 first=" + event_no(0) + " count=1"));
}

TEST_P(OrderRules, C1_AStaleCancelWithoutTheFieldIsOnlyTheOneAnomaly) {
    books.create(at(kDay2));
    books.cancel(at(kDay1));
    EXPECT_THAT(books.anomalies(),
                ElementsAre("CANCEL_WITHOUT_CANCELLED_AT o1 first=" + event_no(0) + " count=1"));
}

TEST_P(OrderRules, C1_TheFirstEventRecordsNoCancelAnomaly) {
    OrderText with = at(kDay1);
    with.id = "with";
    with.cancelled = kDay1;
    books.cancel(with);
    OrderText without = at(kDay1);
    without.id = "without";
    books.cancel(without);
    EXPECT_THAT(books.anomalies(), IsEmpty());
    EXPECT_EQ(books.commission("with"), "0.00 USD");
    EXPECT_EQ(books.commission("without"), "10.00 USD");
    EXPECT_EQ(books.creator_of("with"), "c1@spring CODE");
}

TEST_P(OrderRules, C1_UndoingACancellationIsAnAnomaly) {
    OrderText order = at(kDay1);
    order.cancelled = kDay1;
    books.create(order);
    books.update(at(kDay2));
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/l1 10.00 USD CANCELLATION");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("CANCELLATION_WITHDRAWN o1 first=" + event_no(0) + " count=1"));
}

TEST_P(OrderRules, C1_CancelWithoutTheFieldCanWithdrawACancellation) {
    OrderText order = at(kDay1);
    order.cancelled = kDay1;
    books.create(order);
    books.cancel(at(kDay2));
    EXPECT_THAT(books.anomalies(),
                ElementsAre("CANCEL_WITHOUT_CANCELLED_AT o1 first=" + event_no(0) + " count=1",
                            "CANCELLATION_WITHDRAWN o1 first=" + event_no(0) + " count=1"));
}

TEST_P(OrderRules, C1_ADuplicateRecordsNoAnomalyAgain) {
    books.create(at(kDay1));
    const OrderText order = at(kDay2);
    books.cancel(order);
    books.cancel(order);
    OrderText other = at(kDay3);
    books.cancel(other);
    EXPECT_THAT(books.anomalies(),
                ElementsAre("CANCEL_WITHOUT_CANCELLED_AT o1 first=" + event_no(-2) + " count=2"));
}

TEST_P(OrderRules, OrdersOfTwoShopsWithOneIdAreTwoOrders) {
    books.create(at(kDay1));
    books.from_shop("shop-2");
    OrderText order = at(kDay1);
    order.lines[0].amount = "50.00";
    EXPECT_EQ(books.create(order).input_class, InputClass::kApplied);
    EXPECT_EQ(books.commission(), "5.00 USD");
    books.from_shop("shop-1");
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_EQ(books.totals().orders, 2U);
}

}  // namespace
}  // namespace sluice::test
