// Opening balances and write-offs, on every kind of ledger: nothing is owed twice, a write-off is
// never paid, and an amount that was edited behind the ledger's back is neither paid nor reversed
// (O6, K12, D1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/approvals/subject.hpp"
#include "core/audit/audit.hpp"
#include "core/ledger/account_rows.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kToday = "2026-02-01T00:00:00Z";
const Timestamp kAt = instant("2026-01-15T00:00:00Z");

Money usd(const char* amount) {
    const bool is_negative = *amount == '-';
    const Decimal size = Decimal::parse(is_negative ? amount + 1 : amount).value();
    return {Currency::parse("USD").value(), is_negative ? -size : size};
}

template <class Row>
std::vector<Row> rows_of(LedgerReader& ledger) {
    std::vector<Row> rows;
    ledger.scan(Row{}, {}, [&rows](const Row& row) {
        rows.push_back(row);
        return true;
    });
    return rows;
}

class OpeningTest : public testing::TestWithParam<LedgerKind> {
protected:
    void SetUp() override {
        books.apply({program()});
        books.creator("c1", "spring", "SAVE");
    }

    static OrderText order(std::string refund = {}) {
        OrderText text;
        text.codes = {"SAVE"};
        text.updated = "2026-01-01T00:00:0" + std::to_string(refund.size() % 10) + "Z";
        if (!refund.empty()) {
            text.refunds = {RefundText{"r1", "l1", std::move(refund)}};
        }
        return text;
    }
    Applied import_balance(const char* amount) {
        OpeningImport balances{kAt, {}};
        balances.rows.push_back({2, CreatorId("c1"), ProgramId("spring"), usd(amount)});
        return books.command(balances);
    }
    Applied write_off(const char* amount) {
        return books.command(WriteOff{CreatorId("c1"), ProgramId("spring"), usd(amount)});
    }
    Applied move(PayoutVerb verb) { return books.command(PayoutMove{verb, {payout().payout_id}}); }
    Payout payout() {
        Payout last;
        books.read()->scan_payouts([&last](const Payout& row) {
            last = row;
            return true;
        });
        return last;
    }
    std::string payable() {
        const auto all = books.balances(kToday);
        return all.empty() ? "" : all.front();
    }
    std::size_t payouts() { return rows_of<Payout>(*books.read()).size(); }
    std::vector<std::string> found() {
        std::vector<std::string> texts;
        for (const AuditFinding& finding : audit_ledger(*books.read(), 100)) {
            texts.push_back(to_string(finding));
        }
        return texts;
    }
    template <class Row>
    void edit(const std::function<void(Row&)>& change) {
        const auto txn = ledger->begin(Books::kNode);
        for (Row row : rows_of<Row>(*txn)) {
            txn->erase(row);
            change(row);
            txn->put(row);
        }
        txn->commit();
    }

    std::unique_ptr<Ledger> ledger = GetParam().make();
    Books books{*ledger};
};
SLUICE_FOR_EVERY_LEDGER(OpeningTest);

/// The commission of an order from before the date is owed again when its payout is void.
TEST_P(OpeningTest, AnOrderFromBeforeTheDateThatIsInAPayoutRefusesTheImport) {
    books.create(order());
    books.close_account(kToday);
    EXPECT_THAT(import_balance("50.00").text,
                HasSubstr("commission of 1 order from before 2026-01-15"));
    EXPECT_FALSE(move(PayoutVerb::kVoid).failed);
    EXPECT_THAT(payable(), HasSubstr("payable=10.00"));
}

TEST_P(OpeningTest, ARejectedACancelledAndAPaidOrderFromBeforeTheDateRefuseTheImport) {
    OrderText other = order();
    other.id = "o2";
    books.create(other);
    other.cancelled = other.updated = "2026-01-02T00:00:00Z";
    books.cancel(other);
    EXPECT_THAT(import_balance("50.00").text, HasSubstr("such as order o2"));
    EXPECT_FALSE(books.command(Detach{OrderId("o2"), {}, false}).failed);
    books.create(order());
    EXPECT_FALSE(books.command(Reject{OrderId("o1")}).failed);
    EXPECT_THAT(import_balance("50.00").text, HasSubstr("such as order o1"));
    EXPECT_FALSE(books.command(Release{{OrderId("o1"), {}, {}}}).failed);
    books.close_account(kToday);
    EXPECT_FALSE(move(PayoutVerb::kSettle).failed);
    EXPECT_THAT(import_balance("50.00").text, HasSubstr("such as order o1"));
    EXPECT_THAT(found(), IsEmpty());
}

/// K12: the amount of a credit is what its posting says.
TEST_P(OpeningTest, AnEditedBalanceIsNeitherPaidNorReversed) {
    EXPECT_FALSE(import_balance("8.00").failed);
    edit<MoneyCommand>([](MoneyCommand& row) { row.accrued = usd("8000.00").amount; });
    edit<OpenAmount>([](OpenAmount& row) { row.amount = usd("8000.00").amount; });
    EXPECT_THROW(books.close_account(kToday), DamagedRow);
    EXPECT_EQ(payouts(), 0U);
    edit<MoneyCommand>([](MoneyCommand& row) {
        row.accrued = usd("8.00").amount;
        row.amount = usd("8000.00").amount;
    });
    EXPECT_THROW(books.command(Reverse{rows_of<MoneyCommand>(*books.read()).front().command_id}),
                 DamagedRow);
    EXPECT_THAT(found(), Contains(HasSubstr("its amount is 8000.00, its postings say 8.00")));
}

TEST_P(OpeningTest, AnEditedItemIsNotReleased) {
    EXPECT_FALSE(import_balance("8.00").failed);
    books.close_account(kToday);
    edit<PayoutItem>([](PayoutItem& row) { row.amount = usd("8000.00").amount; });
    EXPECT_THROW(move(PayoutVerb::kVoid), DamagedRow);
    EXPECT_THAT(found(), Contains(HasSubstr("a payout took 8000.00 of it, more than the 8.00")));
    edit<PayoutItem>([](PayoutItem& row) { row.amount = usd("8.00").amount; });
    EXPECT_FALSE(move(PayoutVerb::kVoid).failed);
    EXPECT_THAT(found(), IsEmpty());
}

/// K2: a payout that was sent is set back, and would be sent again.
TEST_P(OpeningTest, APayoutThatWasSentCannotBeSetBack) {
    books.create(order());
    books.close_account(kToday);
    books.receive_at("2026-02-02T00:00:00Z");
    EXPECT_FALSE(move(PayoutVerb::kSent).failed);
    const auto set_back = [](Payout& row) { row.state = PayoutState::kApproved; };
    edit<Payout>(set_back);
    EXPECT_THAT(damage_of(payout(), *books.read()).value_or(""),
                HasSubstr("it is APPROVED, though the journal has SENT"));
    EXPECT_FALSE(move(PayoutVerb::kSent).failed);
    EXPECT_THAT(found(), Contains(HasSubstr("it was sent 2 times")));
}

/// D1: a balance whose row is gone would be imported a second time.
TEST_P(OpeningTest, ABalanceWithoutItsRowIsFoundAndNotImportedAgain) {
    EXPECT_FALSE(import_balance("40.00").failed);
    const OpeningBalance row = rows_of<OpeningBalance>(*books.read()).front();
    const auto erase = [&](LedgerTxn& txn) { txn.erase(row); };
    const auto txn = ledger->begin(Books::kNode);
    erase(*txn);
    txn->commit();
    EXPECT_THAT(found(), Contains(HasSubstr("the row is missing, though " + row.command_id)));
    EXPECT_THROW(import_balance("40.00"), DamagedRow);
    EXPECT_THAT(payable(), HasSubstr("payable=40.00"));
}

/// D1: another balance of the same import stands.
TEST_P(OpeningTest, OneOfSeveralBalancesWithoutItsRowIsNotImportedAgain) {
    books.creator("c2", "spring", "TWO");
    OpeningImport balances{kAt, {}};
    for (const char* creator : {"c1", "c2"}) {
        balances.rows.push_back({2, CreatorId(creator), ProgramId("spring"), usd("40.00")});
    }
    EXPECT_FALSE(books.command(balances).failed);
    const std::vector<OpeningBalance> rows = rows_of<OpeningBalance>(*books.read());
    ASSERT_THAT(rows, SizeIs(2));
    const auto txn = ledger->begin(Books::kNode);
    txn->erase(rows.front());
    txn->commit();
    EXPECT_THROW(import_balance("40.00"), DamagedRow);
    EXPECT_THAT(payable(), HasSubstr("payable=40.00"));
}

TEST_P(OpeningTest, AProgramWithoutTheDateOfItsBalancesIsFound) {
    EXPECT_FALSE(import_balance("40.00").failed);
    edit<ProgramHead>([](ProgramHead& row) { row.opening_at.reset(); });
    EXPECT_THAT(found(), Contains(HasSubstr("the date of its opening balances is no date, these "
                                            "balances say 2026-01-15T00:00:00Z")));
}

// ---- Write-offs ---------------------------------------------------------------------------------

/// The debt goes away with the payout that made it.
TEST_P(OpeningTest, AWriteOffIsNotPaidAfterItsDebtWentAwayWithAVoidPayout) {
    books.create(order());
    books.close_account(kToday);
    books.update(order("100.00"));
    EXPECT_FALSE(write_off("10.00").failed);
    EXPECT_FALSE(move(PayoutVerb::kVoid).failed);
    EXPECT_THAT(payable(), HasSubstr("payable=0.00"));
    EXPECT_THAT(payable(), HasSubstr("blocked=10.00"));
    books.close_account(kToday);
    EXPECT_EQ(payouts(), 1U);
    const auto skipped = rows_of<Skipped>(*books.read());
    ASSERT_FALSE(skipped.empty());
    EXPECT_EQ(skipped.back().skip_reason, SkipReason::kBlocked);
    EXPECT_EQ(skipped.back().amount, usd("10.00").amount);
    EXPECT_THAT(found(), IsEmpty());
}

/// After a refund is restated as 0 the order earns again.
TEST_P(OpeningTest, AWriteOffIsNotPaidAfterTheRefundIsRestated) {
    books.create(order());
    books.close("spring", kToday);
    books.update(order("100.00"));
    EXPECT_FALSE(write_off("10.00").failed);
    OrderText back = order("0.00");
    back.updated = "2026-01-03T00:00:00Z";
    books.update(back);
    EXPECT_THAT(payable(), HasSubstr("payable=0.00"));
    books.close_account(kToday);
    EXPECT_EQ(payouts(), 1U);
    EXPECT_THAT(found(), IsEmpty());
}

/// The import that the write-off made up for is reversed.
TEST_P(OpeningTest, AWriteOffIsNotPaidAfterTheNegativeBalanceIsReversed) {
    EXPECT_FALSE(import_balance("-5.00").failed);
    const std::string opening = rows_of<MoneyCommand>(*books.read()).front().command_id;
    EXPECT_FALSE(write_off("5.00").failed);
    EXPECT_FALSE(books.command(Reverse{opening}).failed);
    EXPECT_THAT(payable(), HasSubstr("payable=0.00"));
    books.close_account(kToday);
    EXPECT_EQ(payouts(), 0U);
    EXPECT_THAT(found(), IsEmpty());
}

/// A part of the debt is left: the write-off makes up for that part, and later orders are paid.
TEST_P(OpeningTest, AWriteOffMakesUpForTheDebtAndNoMore) {
    EXPECT_FALSE(import_balance("-5.00").failed);
    EXPECT_FALSE(write_off("5.00").failed);
    Credit credit;
    credit.creator = CreatorId("c1");
    credit.program = ProgramId("spring");
    credit.amount = usd("7.00");
    EXPECT_FALSE(books.command(credit).failed);
    books.close_account(kToday);
    EXPECT_THAT(books.payouts(), ElementsAre(HasSubstr("c1@spring 7.00 USD")));
    EXPECT_THAT(found(), IsEmpty());
}

/// c1 owes 5.00 in one program and has earned 7.00 in the other, both in January.
class DebtInOneProgramTest : public OpeningTest {
protected:
    void SetUp() override {
        books.apply({program(), program("summer")});
        books.creators(
            {{2, CreatorId("c1"), ProgramId("spring")}, {3, CreatorId("c1"), ProgramId("summer")}});
        books.receive_at("2026-01-20T00:00:00Z");
        EXPECT_FALSE(import_balance("-5.00").failed);
        credit("summer", "7.00", kAt);
        books.receive_at("2026-02-03T00:00:00Z");
    }
    void credit(const char* of, const char* amount, Timestamp sale_at) {
        Credit given;
        given.creator = CreatorId("c1");
        given.program = ProgramId(of);
        given.amount = usd(amount);
        given.sale_at = sale_at;
        EXPECT_FALSE(books.command(given).failed);
    }
    void close_on(const char* day, const char* until) {
        books.receive_at(day);
        EXPECT_FALSE(books.close_account(until).failed);
    }
    void expect_paid_in_full() {
        EXPECT_EQ(payouts(), 1U);
        EXPECT_EQ(payout().amount, usd("7.00").amount);
        for (const std::string& balance : books.balances("2026-03-01T00:00:00Z")) {
            EXPECT_THAT(balance, HasSubstr("pending=0.00 payable=0.00"));
            EXPECT_THAT(balance, Not(HasSubstr("blocked")));
        }
        EXPECT_THAT(found(), IsEmpty());
    }
};
SLUICE_FOR_EVERY_LEDGER(DebtInOneProgramTest);

/// A month is closed some days after its end, and the debt was written off between the two.
TEST_P(DebtInOneProgramTest, AWriteOffCountsInACloseUntilAnInstantBeforeIt) {
    EXPECT_FALSE(write_off("5.00").failed);
    close_on("2026-02-04T00:00:00Z", kToday);
    expect_paid_in_full();
}

TEST_P(DebtInOneProgramTest, AWriteOffCountsWhileItsCreatorIsHeld) {
    EXPECT_FALSE(write_off("5.00").failed);
    EXPECT_FALSE(books.command(Hold{{{}, CreatorId("c1"), ProgramId("spring")}}).failed);
    EXPECT_THAT(books.balances("2026-02-04T00:00:00Z"), Each(Not(HasSubstr("blocked"))));
    close_on("2026-02-04T00:00:00Z", "2026-02-04T00:00:00Z");
    expect_paid_in_full();
}

/// Each close takes of the write-off what it deducts. A debt that has not cleared is not deducted.
TEST_P(DebtInOneProgramTest, AWriteOffCountsWithTheFirstOfItsDebtsThatClears) {
    credit("spring", "-3.00", instant("2026-02-02T00:00:00Z"));
    EXPECT_FALSE(write_off("8.00").failed);
    close_on("2026-02-04T00:00:00Z", kToday);
    EXPECT_EQ(payout().amount, usd("7.00").amount);
    close_on("2026-02-05T00:00:00Z", "2026-02-05T00:00:00Z");
    credit("summer", "4.00", kAt);
    close_on("2026-02-06T00:00:00Z", "2026-02-06T00:00:00Z");
    EXPECT_EQ(payout().amount, usd("4.00").amount);
    EXPECT_THAT(found(), IsEmpty());
}

/// o1 was paid and refunded, the debt written off, and a payout of o2 deducted both.
class WrittenOffTest : public OpeningTest {
protected:
    void SetUp() override {
        OpeningTest::SetUp();
        books.create(order());
        books.close_account(kToday);
        EXPECT_FALSE(move(PayoutVerb::kSettle).failed);
        paid_first = payout().payout_id;
        books.update(order("100.00"));
        EXPECT_FALSE(books.command(WriteOff{CreatorId("c1"), ProgramId("spring")}).failed);
        OrderText other = order();
        other.id = "o2";
        books.create(other);
        books.close_account(kToday);
        EXPECT_EQ(payout().amount, usd("10.00").amount);
        for (const MoneyCommand& row : rows_of<MoneyCommand>(*books.read())) {
            write_off_id = row.command_id;
        }
    }
    void withdraw_refund() {
        OrderText back = order("0.00");
        back.updated = "2026-01-03T00:00:00Z";
        books.update(back);
    }
    void expect_blocked() {
        EXPECT_THAT(books.anomalies(), Contains(HasSubstr("DEBT_WRITTEN_OFF o1")));
        EXPECT_THAT(payable(), HasSubstr("payable=0.00"));
        EXPECT_THAT(payable(), HasSubstr("blocked=10.00"));
        const std::size_t before = payouts();
        books.close_account(kToday);
        EXPECT_EQ(payouts(), before);
        EXPECT_EQ(rows_of<Skipped>(*books.read()).back().skip_reason, SkipReason::kBlocked);
        EXPECT_THAT(found(), IsEmpty());
    }

    std::string paid_first, write_off_id;
};
SLUICE_FOR_EVERY_LEDGER(WrittenOffTest);

TEST_P(WrittenOffTest, ARefundThatIsWithdrawnIsBlockedUntilTheWriteOffIsReversed) {
    withdraw_refund();
    expect_blocked();
    EXPECT_FALSE(books.command(Reverse{write_off_id}).failed);
    EXPECT_THAT(payable(), HasSubstr("payable=0.00"));
    EXPECT_THAT(payable(), Not(HasSubstr("blocked")));
    books.close_account(kToday);
    EXPECT_EQ(payouts(), 2U);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_P(WrittenOffTest, ARefundThatIsWithdrawnIsPaidIfAPersonSaysSo) {
    withdraw_refund();
    EXPECT_FALSE(books.command(AnomalyAck{OrderId("o1"), "DEBT_WRITTEN_OFF"}).failed);
    EXPECT_THAT(payable(), HasSubstr("payable=10.00"));
    books.close_account(kToday);
    EXPECT_EQ(payouts(), 3U);
    EXPECT_THAT(found(), IsEmpty());
}

/// The payout that paid the commission comes back after its refund was written off.
TEST_P(WrittenOffTest, APaymentThatComesBackIsBlocked) {
    EXPECT_FALSE(books.command(PayoutMove{PayoutVerb::kReturned, {paid_first}}).failed);
    expect_blocked();
}

/// The order earns again because a person adjusts it.
TEST_P(WrittenOffTest, AnAdjustmentOfTheOrderIsBlocked) {
    EXPECT_FALSE(books.command(Adjust{OrderId("o1"), usd("10.00").amount}).failed);
    expect_blocked();
}

TEST_P(WrittenOffTest, OtherOrdersOfTheCreatorArePaid) {
    OrderText third = order();
    third.id = "o3";
    books.create(third);
    EXPECT_THAT(payable(), HasSubstr("payable=10.00"));
    withdraw_refund();
    EXPECT_THAT(payable(), HasSubstr("payable=10.00"));
    EXPECT_THAT(payable(), HasSubstr("blocked=10.00"));
}

/// A payout deducted the balance and the write-off.
TEST_P(OpeningTest, ANegativeBalanceThatWasWrittenOffIsReversedAfterTheWriteOff) {
    EXPECT_FALSE(import_balance("-5.00").failed);
    const std::string opening = rows_of<MoneyCommand>(*books.read()).front().command_id;
    EXPECT_FALSE(write_off("5.00").failed);
    const std::string off = rows_of<MoneyCommand>(*books.read()).back().command_id;
    Credit credit;
    credit.creator = CreatorId("c1");
    credit.program = ProgramId("spring");
    credit.amount = usd("10.00");
    EXPECT_FALSE(books.command(credit).failed);
    books.close_account(kToday);
    EXPECT_EQ(payout().amount, usd("10.00").amount);
    EXPECT_THAT(books.command(Reverse{opening}).text, HasSubstr("reverse " + off + " first"));
    EXPECT_FALSE(books.command(Reverse{off}).failed);
    EXPECT_FALSE(books.command(Reverse{opening}).failed);
    EXPECT_THAT(payable(), HasSubstr("payable=0.00"));
    EXPECT_THAT(found(), IsEmpty());
}

/// K1: the balance is 0 by then.
TEST_P(OpeningTest, AWriteOffOfTheWholeBalanceIsRepeatedWithItsKey) {
    EXPECT_FALSE(import_balance("-5.00").failed);
    const WriteOff whole{CreatorId("c1"), ProgramId("spring")};
    books.key = "key-1";
    const Applied first = books.command(whole);
    EXPECT_THAT(first.text, HasSubstr("5.00 USD"));
    EXPECT_EQ(books.command(whole).text, first.text);
    books.key = "key-2";
    EXPECT_THAT(books.command(whole).text, HasSubstr("no balance below 0"));
}

}  // namespace
}  // namespace sluice::test
