// Rules R1 to R3: refund rows, ownership of refund ids, what a refund does to a line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rules/order_book.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RefundRules : public RulesTest {
protected:
    static OrderText at(const char* updated, std::vector<RefundText> refunds = {}) {
        OrderText order;
        order.updated = updated;
        order.codes = {"SAVE"};
        order.refunds = std::move(refunds);
        return order;
    }
    std::string refund_sum(std::string_view id = "o1") {
        return EffectiveRefunds(books.order(id).refunds).amount_sum().to_string();
    }
    std::string tax_sum() { return EffectiveRefunds(books.order().refunds).tax_sum().to_string(); }
};
SLUICE_FOR_EVERY_LEDGER(RefundRules);

TEST_P(RefundRules, R1_ALaterStatementReplacesTheRow) {
    books.create(at(kDay1, {{.amount = "10.00"}}));
    EXPECT_EQ(books.commission(), "9.00 USD");
    books.update(at(kDay2, {{.amount = "25.00"}}));
    EXPECT_EQ(books.commission(), "7.50 USD");
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/l1 -1.50 USD REFUND");
    EXPECT_EQ(books.order().refunds.size(), 1U);
}

TEST_P(RefundRules, R1_AStaleEventStatesARowThatIsNew) {
    books.create(at(kDay2));
    EXPECT_EQ(books.update(at(kDay1, {{.amount = "50.00"}})).input_class, InputClass::kStale);
    EXPECT_EQ(books.commission(), "5.00 USD");
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/l1 -5.00 USD REFUND");
}

TEST_P(RefundRules, R1_AStaleEventDoesNotReplaceANewerRow) {
    books.create(at(kDay2, {{.amount = "10.00"}}));
    books.update(at(kDay1, {{.amount = "50.00"}}));
    EXPECT_EQ(books.commission(), "9.00 USD");
}

TEST_P(RefundRules, R1_AStaleEventReplacesARowOfItsOwnOrAnOlderVersion) {
    books.create(at(kDay1, {{.amount = "10.00"}}));
    books.update(at(kDay3));
    books.update(at(kDay2, {{.amount = "20.00"}}));
    EXPECT_EQ(books.commission(), "8.00 USD");
    OrderText same = at(kDay2, {{.amount = "30.00"}});
    same.shipping = "1.00";
    EXPECT_EQ(books.update(same).input_class, InputClass::kStale);
    EXPECT_EQ(books.commission(), "7.00 USD");
}

TEST_P(RefundRules, R1_ARowThatIsNotMentionedStays) {
    books.create(at(kDay1, {{.amount = "10.00"}}));
    books.update(at(kDay2));
    EXPECT_EQ(books.commission(), "9.00 USD");
    EXPECT_EQ(refund_sum(), "10.00");
}

TEST_P(RefundRules, R1_RestatingToZeroUndoesTheRefund) {
    books.create(at(kDay1, {{.amount = "100.00"}}));
    EXPECT_EQ(books.commission(), "0.00 USD");
    books.update(at(kDay2, {{.amount = "0.00"}}));
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/l1 10.00 USD REFUND");
}

TEST_P(RefundRules, R2_ASecondIdForALineIsNotCountedTwice) {
    books.create(at(kDay1, {{.amount = "10.00"}}));
    books.update(at(kDay2, {{.id = "r2", .amount = "30.00"}}));
    EXPECT_EQ(books.commission(), "7.00 USD");
    EXPECT_EQ(refund_sum(), "30.00");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("DUPLICATE_REFUND_ID o1 first=" + event_no(0) + " count=1"));
}

TEST_P(RefundRules, R2_TheRowOfTheNewerVersionCountsInAnyOrderOfArrival) {
    books.create(at(kDay3, {{.id = "r2", .amount = "30.00"}}));
    books.update(at(kDay2, {{.amount = "10.00"}}));
    EXPECT_EQ(books.commission(), "7.00 USD");
}

TEST_P(RefundRules, R2_AtOneVersionTheLaterArrivalCounts) {
    books.create(at(kDay1, {{.id = "r2", .amount = "30.00"}}));
    books.update(at(kDay1, {{.amount = "10.00"}}));
    EXPECT_EQ(books.commission(), "9.00 USD");
    OrderText again = at(kDay1, {{.id = "r2", .amount = "30.00"}});
    again.shipping = "1.00";
    books.update(again);
    EXPECT_EQ(books.commission(), "7.00 USD");
}

TEST_P(RefundRules, R2_TheAnomalyIsForTheFirstAppearanceOfEachFurtherId) {
    books.create(at(kDay1, {{.amount = "10.00"}}));
    books.update(at(kDay2, {{.id = "r2", .amount = "30.00"}}));
    const std::string first = event_no(0);
    books.update(at(kDay3, {{.id = "r2", .amount = "31.00"}}));
    EXPECT_THAT(books.anomalies(),
                ElementsAre("DUPLICATE_REFUND_ID o1 first=" + first + " count=1"));
    books.update(at(kDay3, {{.id = "r3", .amount = "31.00"}}));
    EXPECT_THAT(books.anomalies(),
                ElementsAre("DUPLICATE_REFUND_ID o1 first=" + first + " count=2"));
}

TEST_P(RefundRules, R2_AnIdOfAnotherOrderIsIgnored) {
    books.create(at(kDay1, {{.amount = "10.00"}}));
    OrderText other = at(kDay1, {{.amount = "50.00"}});
    other.id = "o2";
    books.create(other);
    EXPECT_EQ(books.commission("o2"), "10.00 USD");
    EXPECT_EQ(refund_sum("o2"), "0");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("REFUND_ID_REUSED o2 first=" + event_no(0) + " count=1"));
}

TEST_P(RefundRules, R2_AnIdOfAnotherLineIsIgnored) {
    OrderText order = at(kDay1, {{.amount = "10.00"}});
    order.lines = {{.id = "l1"}, {.id = "l2"}};
    books.create(order);
    order.updated = kDay2;
    order.refunds = {{.line = "l2", .amount = "50.00"}};
    books.update(order);
    EXPECT_EQ(books.commission(), "19.00 USD");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("REFUND_ID_REUSED o1 first=" + event_no(0) + " count=1"));
}

TEST_P(RefundRules, R2_AnIdUsedWithAmountZeroIsOwnedPermanently) {
    books.create(at(kDay1, {{.amount = "0.00"}}));
    OrderText other = at(kDay1, {{.amount = "50.00"}});
    other.id = "o2";
    books.create(other);
    EXPECT_EQ(books.commission("o2"), "10.00 USD");
}

TEST_P(RefundRules, R2_OwnershipIsWithinTheShop) {
    books.create(at(kDay1, {{.amount = "10.00"}}));
    books.from_shop("shop-2");
    OrderText other = at(kDay1, {{.amount = "50.00"}});
    other.id = "o2";
    books.create(other);
    EXPECT_EQ(books.commission("o2"), "5.00 USD");
    EXPECT_THAT(books.anomalies(), IsEmpty());
}

TEST_P(RefundRules, R2_AStaleEventOwnsTheIdsItUsesFirst) {
    books.create(at(kDay2));
    books.update(at(kDay1, {{.amount = "10.00"}}));
    OrderText other = at(kDay1, {{.amount = "50.00"}});
    other.id = "o2";
    books.create(other);
    EXPECT_EQ(books.commission("o2"), "10.00 USD");
}

TEST_P(RefundRules, R3_ARefundEqualInValueDisqualifiesTheLine) {
    books.create(at(kDay1, {{.amount = "100"}}));
    EXPECT_EQ(books.commission(), "0.00 USD");
    EXPECT_THAT(books.anomalies(), IsEmpty());
}

TEST_P(RefundRules, R3_MoreThanTheLineIsFullAndAnAnomaly) {
    books.create(at(kDay1, {{.amount = "100.01"}}));
    EXPECT_EQ(books.commission(), "0.00 USD");
    EXPECT_EQ(refund_sum(), "100.01");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("REFUND_EXCEEDS_LINE o1 first=" + event_no(0) + " count=1"));
}

TEST_P(RefundRules, R3_IsLookedAtAfterEveryEvent) {
    books.create(at(kDay1, {{.amount = "60.00"}}));
    EXPECT_THAT(books.anomalies(), IsEmpty());
    OrderText less = at(kDay2);
    less.lines[0].amount = "50.00";
    books.update(less);
    EXPECT_EQ(books.commission(), "0.00 USD");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("REFUND_EXCEEDS_LINE o1 first=" + event_no(0) + " count=1"));
    less.updated = kDay3;
    books.update(less);
    EXPECT_THAT(books.anomalies(),
                ElementsAre("REFUND_EXCEEDS_LINE o1 first=" + event_no(-1) + " count=2"));
}

TEST_P(RefundRules, R3_OneEventShowsAKindOnceHoweverManyLines) {
    OrderText order =
        at(kDay1, {{.amount = "200.00"}, {.id = "r2", .line = "l2", .amount = "200"}});
    order.lines = {{.id = "l1"}, {.id = "l2"}};
    books.create(order);
    EXPECT_THAT(books.anomalies(),
                ElementsAre("REFUND_EXCEEDS_LINE o1 first=" + event_no(0) + " count=1"));
}

TEST_P(RefundRules, R3_ARefundOfZeroIsNoRefundAlsoOnALineOfZero) {
    Program fixed = program("spring", "1.50 USD");
    books.apply({fixed});
    const std::string above_base = "COMMISSION_EXCEEDS_BASE o1 first=";
    OrderText order = at(kDay1, {{.amount = "0.00"}});
    order.lines[0].amount = "0.00";
    books.create(order);
    EXPECT_EQ(books.commission(), "1.50 USD");
    EXPECT_THAT(books.anomalies(), ElementsAre(above_base + event_no(0) + " count=1"));
    order.updated = kDay2;
    order.refunds[0].amount = "0.01";
    books.update(order);
    EXPECT_EQ(books.commission(), "0.00 USD");
    EXPECT_THAT(books.anomalies(),
                ElementsAre("REFUND_EXCEEDS_LINE o1 first=" + event_no(0) + " count=1",
                            above_base + event_no(-1) + " count=2"));
}

TEST_P(RefundRules, SumsKeepTheLargestScaleAndLinesThatAreGone) {
    OrderText order = at(kDay1, {{.amount = "10.5", .tax = "1"},
                                 {.id = "r2", .line = "l2", .amount = "1.125", .tax = "0.50"}});
    order.lines = {{.id = "l1"}, {.id = "l2"}};
    books.create(order);
    EXPECT_EQ(refund_sum(), "11.625");
    EXPECT_EQ(tax_sum(), "1.50");
    books.update(at(kDay2));
    EXPECT_EQ(refund_sum(), "11.625");
}

TEST_P(RefundRules, SumsOfNothingAreZeroWithoutDigits) {
    books.create(at(kDay1));
    EXPECT_EQ(refund_sum(), "0");
    books.update(at(kDay2, {{.amount = "0.00"}}));
    EXPECT_EQ(refund_sum(), "0.00");
}

TEST_P(RefundRules, RefundsOfALineThatTheNewestPayloadNeverHadAreKept) {
    books.create(at(kDay2));
    OrderText old = at(kDay1, {{.line = "l2", .amount = "7.00"}});
    old.lines = {{.id = "l1"}, {.id = "l2"}};
    books.update(old);
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_EQ(refund_sum(), "7.00");
    old.updated = kDay3;
    old.refunds.clear();
    books.update(old);
    EXPECT_EQ(books.commission(), "19.30 USD");
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/l2 9.30 USD ACCRUAL");
}

TEST_P(RefundRules, J1_CancellationComesBeforeRefundAndRefundBeforeUpdate) {
    OrderText order = at(kDay1);
    order.lines = {{.id = "l1"}, {.id = "l2"}, {.id = "l3"}};
    books.create(order);
    order.updated = kDay2;
    order.lines = {{.id = "l1", .amount = "90.00"}, {.id = "l2", .amount = "90.00"}, {.id = "l4"}};
    order.refunds = {{.amount = "9.00"}};
    books.update(order);
    const auto journal = books.journal();
    EXPECT_THAT(std::vector(journal.begin() + 3, journal.end()),
                ElementsAre(event_no(0) + " o1/l1 -1.90 USD REFUND",
                            event_no(0) + " o1/l2 -1.00 USD UPDATE",
                            event_no(0) + " o1/l3 -10.00 USD UPDATE",
                            event_no(0) + " o1/l4 10.00 USD ACCRUAL"));
    order.updated = kDay3;
    order.cancelled = kDay3;
    order.refunds[0].amount = "20.00";
    books.update(order);
    const auto after = books.journal();
    EXPECT_THAT(std::vector(after.begin() + 7, after.end()),
                ElementsAre(event_no(0) + " o1/l1 -8.10 USD CANCELLATION",
                            event_no(0) + " o1/l2 -9.00 USD CANCELLATION",
                            event_no(0) + " o1/l4 -10.00 USD CANCELLATION"));
}

}  // namespace
}  // namespace sluice::test
