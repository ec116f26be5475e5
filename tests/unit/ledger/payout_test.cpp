// Rules J1 and P1: the journal's chain, manual entries, holds and payouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/approvals/subject.hpp"
#include "core/journal/journal.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kOrdered = "2026-01-01T00:00:00Z";
constexpr const char* kClearsAt = "2026-01-11T00:00:00Z";
constexpr const char* kNow = "2026-02-01T00:00:00Z";

/// Program `spring` holds for 10 days; orders of 100.00 earn c1 10.00.
class PayoutRules : public RulesTest {
protected:
    void SetUp() override {
        RulesTest::SetUp();
        hold(10);
        books.receive_at(kNow);
    }
    void hold(std::uint32_t days) {
        Program held = program();
        held.clearing_days = days;
        books.apply({held});
    }
    static OrderText order(std::string id = "o1", std::string amount = "100.00") {
        OrderText text;
        text.id = std::move(id);
        text.ordered = kOrdered;
        text.updated = kOrdered;
        text.codes = {"SAVE"};
        text.lines[0].amount = std::move(amount);
        return text;
    }
    static OrderText later(OrderText text, const char* updated) {
        text.updated = updated;
        return text;
    }
};
SLUICE_FOR_EVERY_LEDGER(PayoutRules);

TEST_P(PayoutRules, P1_PendingUntilItClearsThenPayable) {
    books.create(order());
    EXPECT_THAT(books.balances("2026-01-10T23:59:59.999999999Z"),
                ElementsAre("c1@spring USD pending=10.00 payable=0.00 paid=0.00 total=10.00"));
    EXPECT_THAT(books.balances(kClearsAt),
                ElementsAre("c1@spring USD pending=0.00 payable=10.00 paid=0.00 total=10.00"));
}

TEST_P(PayoutRules, P1_CloseIncludesCommissionsClearedAtT) {
    books.receive_at(kOrdered);
    books.create(order());
    books.receive_at(kNow);
    EXPECT_EQ(books.close("spring", "2026-01-10T23:59:59.999999999Z").text, "0 payouts closed");
    EXPECT_EQ(books.close("spring", kClearsAt).text, "1 payout closed");
    EXPECT_THAT(books.payouts(), ElementsAre("c1@spring 10.00 USD orders=1"));
    EXPECT_THAT(books.balances(kNow),
                ElementsAre("c1@spring USD pending=0.00 payable=0.00 paid=10.00 total=10.00"));
}

TEST_P(PayoutRules, P1_ClosingAgainPaysNothingTwice) {
    books.create(order());
    books.close("spring", kNow);
    EXPECT_EQ(books.close("spring", kNow).text, "0 payouts closed");
    EXPECT_EQ(books.payouts().size(), 1U);
}

TEST_P(PayoutRules, P1_TheFutureCannotBeClosed) {
    books.create(order());
    const Applied refused = books.close("spring", "2026-02-01T00:00:00.000000001Z");
    EXPECT_TRUE(refused.failed);
    EXPECT_THAT(books.payouts(), IsEmpty());
    EXPECT_FALSE(books.close("spring", kNow).failed);
}

TEST_P(PayoutRules, P1_AnUnknownProgramIsAnError) {
    EXPECT_TRUE(books.close("nothing", kOrdered).failed);
}

TEST_P(PayoutRules, P1_OncePaidTheAmountStaysAndChangesArePayableAtOnce) {
    books.create(order());
    books.close("spring", kNow);
    OrderText refund = later(order(), "2026-01-02T00:00:00Z");
    refund.refunds = {{.amount = "40.00"}};
    books.update(refund);
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_THAT(books.balances(kOrdered),
                ElementsAre("c1@spring USD pending=0.00 payable=-4.00 paid=10.00 total=6.00"));
    refund.updated = "2026-01-03T00:00:00Z";
    refund.lines[0].amount = "200.00";
    books.update(refund);
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_EQ(books.close("spring", kNow).text, "1 payout closed");
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_THAT(books.payouts(), testing::UnorderedElementsAre("c1@spring 10.00 USD orders=1",
                                                               "c1@spring 6.00 USD orders=1"));
}

TEST_P(PayoutRules, P1_ANegativeSumCarriesOverAndIsNettedOff) {
    books.create(order());
    books.close("spring", kNow);
    OrderText cancelled = later(order(), "2026-01-02T00:00:00Z");
    cancelled.cancelled = kNow;
    books.cancel(cancelled);
    EXPECT_EQ(books.close("spring", kNow).text, "0 payouts closed");
    EXPECT_THAT(books.balances(kNow),
                ElementsAre("c1@spring USD pending=0.00 payable=-10.00 paid=10.00 total=0.00"));
    books.create(order("o2", "100.00"));
    EXPECT_EQ(books.close("spring", kNow).text, "0 payouts closed");  // A sum of 0.
    books.create(order("o3", "30.00"));
    EXPECT_EQ(books.close("spring", kNow).text, "1 payout closed");
    EXPECT_THAT(books.payouts(), testing::UnorderedElementsAre("c1@spring 10.00 USD orders=1",
                                                               "c1@spring 3.00 USD orders=3"));
    EXPECT_THAT(books.balances(kNow),
                ElementsAre("c1@spring USD pending=0.00 payable=0.00 paid=13.00 total=13.00"));
}

TEST_P(PayoutRules, P1_AnOrderOfANotClosedSumIsNotPaid) {
    books.create(order());
    books.adjust("o1", "-10.00");
    books.close("spring", kNow);
    EXPECT_TRUE(books.order().position()->payouts.empty());
    books.update(later(order("o1", "150.00"), "2026-01-02T00:00:00Z"));
    EXPECT_EQ(books.commission(), "5.00 USD");
}

TEST_P(PayoutRules, P1_NothingIsPaidForACommissionOfZeroSoItMayStillEarn) {
    OrderText cancelled = order();
    cancelled.cancelled = kOrdered;
    books.create(cancelled);
    books.create(order("o2"));
    books.close("spring", kNow);
    EXPECT_THAT(books.payouts(), ElementsAre("c1@spring 10.00 USD orders=1"));
    books.update(later(order(), "2026-01-02T00:00:00Z"));
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_THAT(books.balances(kOrdered),
                ElementsAre("c1@spring USD pending=10.00 payable=0.00 paid=10.00 total=20.00"));
}

TEST_P(PayoutRules, P1_CreatorsAndCurrenciesCloseEachOnTheirOwn) {
    books.creator("c2", "spring", "OTHER");
    books.create(order());
    OrderText other = order("o2");
    other.codes = {"OTHER"};
    books.create(other);
    OrderText euro = order("o3");
    euro.currency = "EUR";
    books.create(euro);
    EXPECT_EQ(books.close("spring", kNow).text, "3 payouts closed");
    EXPECT_THAT(books.payouts(),
                ElementsAre("c1@spring 10.00 EUR orders=1", "c1@spring 10.00 USD orders=1",
                            "c2@spring 10.00 USD orders=1"));
}

TEST_P(PayoutRules, P1_AnotherProgramIsLeftAlone) {
    books.apply({program("autumn")});
    books.creator("c1", "autumn", "FALL");
    OrderText other = order("o2");
    other.codes = {"FALL"};
    books.create(order());
    books.create(other);
    books.close("spring", kNow);
    EXPECT_THAT(books.balances(kNow),
                ElementsAre("c1@autumn USD pending=0.00 payable=10.00 paid=0.00 total=10.00",
                            "c1@spring USD pending=0.00 payable=0.00 paid=10.00 total=10.00"));
}

TEST_P(PayoutRules, P1_TheClearingDaysAreTheProgramsOfToday) {
    books.receive_at(kOrdered);
    books.create(order());
    books.receive_at(kNow);
    hold(60);
    EXPECT_EQ(books.close("spring", kNow).text, "0 payouts closed");
    hold(0);
    EXPECT_EQ(books.close("spring", "2026-01-01T00:00:01Z").text, "1 payout closed");
}

TEST_P(PayoutRules, P1_AChangedCurrencyAfterAPayoutIsAdjustedInBoth) {
    books.create(order());
    books.close("spring", kNow);
    OrderText euro = later(order(), "2026-01-02T00:00:00Z");
    euro.currency = "EUR";
    books.update(euro);
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_THAT(
        books.balances(kOrdered),
        ElementsAre("c1@spring EUR pending=0.00 payable=0.00 paid=0.00 total=10.00 blocked=10.00",
                    "c1@spring USD pending=0.00 payable=-10.00 paid=10.00 total=0.00"));
}

TEST_P(PayoutRules, P1_TwoCurrenciesArePaidTogetherTheOrdersFirst) {
    books.create(order());
    books.adjust("o1", "5.00");
    OrderText euro = later(order(), "2026-01-02T00:00:00Z");
    euro.currency = "EUR";
    books.update(euro);
    EXPECT_EQ(books.close("spring", kNow).text, "2 payouts closed");
    EXPECT_THAT(books.payouts(), testing::UnorderedElementsAre("c1@spring 10.00 EUR orders=1",
                                                               "c1@spring 5.00 USD orders=1"));
    EXPECT_EQ(books.commission(), "10.00 EUR") << "the commission, not what was added by hand";
    EXPECT_THAT(books.balances(kNow), testing::Each(HasSubstr("pending=0.00 payable=0.00")));
}

TEST_P(PayoutRules, P1_ManyOrdersCloseWhateverTheSliceTheyFallInto) {
    for (int i = 0; i < 300; ++i) {
        books.create(order("o" + std::to_string(i), "10.00"));
    }
    EXPECT_EQ(books.close("spring", kNow).text, "1 payout closed");
    EXPECT_THAT(books.payouts(), ElementsAre("c1@spring 300.00 USD orders=300"));
}

/// K2: the file that an export wrote pays what was read, or nothing is sent.
TEST_P(PayoutRules, K2_AnExportOfPayoutsThatChangedMeanwhileSendsNothing) {
    CreatorSet first{CreatorId("c1"), {}, "ref-1", {}, {}};
    books.command(first);
    books.create(order());
    books.create(order("o2"));
    books.close_account(kNow);
    const auto payout = [this] {
        std::vector<Payout> found;
        books.read()->scan_payouts([&found](const Payout& row) {
            found.push_back(row);
            return true;
        });
        return found.front();
    };
    const std::string id = payout().payout_id;
    const auto sent = [&](const Payout& read) {
        PayoutMove move{PayoutVerb::kSent, {id}, {}, {}};
        move.message = "M1";
        move.sha256 = std::string(64, '0');
        move.expect = to_hex(payouts_digest({read}));
        return books.command(move);
    };
    const Payout read = payout();
    CreatorSet second{CreatorId("c1"), {}, "ref-2", {}, {}};
    books.command(second);
    books.command(PayoutMove{PayoutVerb::kRepoint, {id}, {}, {}});
    books.actor = "gina";
    books.command(Approve{id});
    books.actor = "finance";
    ASSERT_EQ(payout().state, PayoutState::kApproved);
    EXPECT_THAT(sent(read).text, HasSubstr("was repointed or sent while its file was made"));
    EXPECT_EQ(payout().state, PayoutState::kApproved);
    EXPECT_EQ(payout().message, "");
    EXPECT_EQ(sent(payout()).text, "1 payout sent");
    EXPECT_EQ(payout().message, "M1");
}

/// K2: a payout that another export sent meanwhile is not in two files.
TEST_P(PayoutRules, K2_TwoExportsAtOnceSendAPayoutOnce) {
    books.create(order());
    books.adjust("o1", "5.00");
    OrderText euro = later(order(), "2026-01-02T00:00:00Z");
    euro.currency = "EUR";
    books.update(euro);
    books.close_account(kNow);
    std::vector<Payout> read;
    books.read()->scan_payouts([&read](const Payout& row) {
        read.push_back(row);
        return true;
    });
    ASSERT_EQ(read.size(), 2U);
    PayoutMove move{PayoutVerb::kSent, {read[1].payout_id}, {}, {}};
    move.message = "M1";
    move.sha256 = std::string(64, '0');
    move.expect = to_hex(payouts_digest({read[1]}));
    EXPECT_EQ(books.command(move).text, "1 payout sent");
    move.ids = {read[0].payout_id, read[1].payout_id};
    move.message = "M2";
    move.expect = to_hex(payouts_digest(read));
    EXPECT_THAT(books.command(move).text, HasSubstr("was repointed or sent"));
}

/// A payout run of c1 and c2.
class PayoutRuns : public PayoutRules {
protected:
    void SetUp() override {
        PayoutRules::SetUp();
        books.creator("c2", "spring", "OTHER");
        books.create(order());
        OrderText other = order("o2");
        other.codes = {"OTHER"};
        books.create(other);
        const std::string closed = books.close_account(kNow).text;
        run = closed.substr(closed.find("run ") + 4);
        books.read()->scan_payouts([this](const Payout& row) {
            ids.push_back(row.payout_id);
            return true;
        });
        ASSERT_EQ(ids.size(), 2U);
    }
    Applied move(PayoutVerb verb, const std::string& id) {
        return books.command(PayoutMove{verb, {id}});
    }
    std::string run;
    std::vector<std::string> ids;
};
SLUICE_FOR_EVERY_LEDGER(PayoutRuns);

/// P3: whatever the verb, one payout that went on or ended does not stop the others of its run.
TEST_P(PayoutRuns, P3_AVerbOnARunPassesOverPayoutsThatArePastIt) {
    const auto expect = [&](PayoutVerb verb, const char* text, const char* state) {
        const Applied moved = move(verb, run);
        EXPECT_EQ(moved.text, text + ids[0] + " is passed over: it is " + state);
        EXPECT_EQ(moved.outcome, CommandOutcome::kDone);
    };
    EXPECT_EQ(move(PayoutVerb::kVoid, ids[0]).text, "1 payout voided");
    expect(PayoutVerb::kSent, "1 payout sent; payout ", "VOID");
    expect(PayoutVerb::kSettle, "1 payout settled; payout ", "VOID");
    expect(PayoutVerb::kReturned, "1 payout returned; payout ", "VOID");
}

TEST_P(PayoutRuns, P3_AVoidOrARepointOfARunPassesOverSentPayouts) {
    EXPECT_EQ(move(PayoutVerb::kSent, ids[0]).text, "1 payout sent");
    for (const char* creator : {"c1", "c2"}) {
        books.command(CreatorSet{CreatorId(creator), {}, "ref-1", {}, {}});
    }
    EXPECT_EQ(move(PayoutVerb::kRepoint, run).text,
              "1 payout repointed; payout " + ids[0] + " is passed over: it is SENT");
    EXPECT_EQ(move(PayoutVerb::kVoid, run).text,
              "1 payout voided; payout " + ids[0] + " is passed over: it is SENT");
    EXPECT_EQ(move(PayoutVerb::kFailed, run).text,
              "1 payout failed; payout " + ids[1] + " is passed over: it is VOID");
}

TEST_P(PayoutRuns, P3_APayoutThatIsNotReadyOrIsNamedItselfRefusesTheCommand) {
    EXPECT_EQ(move(PayoutVerb::kSent, ids[0]).text, "1 payout sent");
    EXPECT_EQ(move(PayoutVerb::kFailed, run).text,
              "payout " + ids[1] + " is APPROVED: failed is not possible; expected SENT");
    EXPECT_EQ(move(PayoutVerb::kVoid, ids[0]).text,
              "payout " + ids[0] + " is SENT: void is not possible; expected CLOSED or APPROVED");
    EXPECT_THAT(books.command(PayoutMove{PayoutVerb::kVoid, {run, ids[0]}}).text,
                HasSubstr("void is not possible"));
}

TEST_P(PayoutRuns, P3_ARunOfWhichNothingMovesSaysSo) {
    EXPECT_EQ(move(PayoutVerb::kSent, run).text, "2 payouts sent");
    const Applied none = move(PayoutVerb::kVoid, run);
    EXPECT_EQ(none.outcome, CommandOutcome::kNothing);
    EXPECT_EQ(none.text, "0 payouts voided; payout " + ids[0] +
                             " is passed over: it is SENT; payout " + ids[1] +
                             " is passed over: it is SENT");
}

TEST_P(PayoutRules, P3_AVoidReleasesAnOrderWithItemsAcrossASlice) {
    for (const char* id : {"o1", "o2", "o3", "o4", "o5"}) {
        OrderText text = order(id, "10.00");
        text.lines.resize(2000, text.lines[0]);  // four orders and a part are a slice
        for (std::size_t i = 0; i < text.lines.size(); ++i) {
            text.lines[i].id = "l" + std::to_string(i);
        }
        books.create(text);
    }
    books.close_account(kNow);
    std::string id;
    books.read()->scan_payouts([&id](const Payout& payout) {
        id = payout.payout_id;
        return true;
    });
    books.reason = "never sent";
    const Applied moved = books.command(PayoutMove{PayoutVerb::kVoid, {id}});
    EXPECT_FALSE(moved.failed) << moved.text;
    EXPECT_EQ(moved.outcome, CommandOutcome::kDone) << moved.text;
    EXPECT_THAT(
        books.balances(kNow),
        ElementsAre("c1@spring USD pending=0.00 payable=10000.00 paid=0.00 total=10000.00"));
    EXPECT_EQ(books.close_account(kNow).text.substr(0, 8), "1 payout");
}

TEST_P(PayoutRules, Manual_IsPartOfTheAccrualOfAnUnpaidOrder) {
    books.create(order());
    const Applied applied = books.adjust("o1", "-2.5", "late parcel");
    EXPECT_EQ(applied.text, "order o1 adjusted by -2.50 USD as C260201000000-HPHQBY");
    EXPECT_EQ(books.commission(), "7.50 USD");
    EXPECT_EQ(books.journal().back(), event_no(0) + " o1/ -2.50 USD MANUAL");
    EXPECT_THAT(books.balances(kOrdered),
                ElementsAre("c1@spring USD pending=7.50 payable=0.00 paid=0.00 total=7.50"));
    const OrderState state = books.order();
    const auto journal = books.read()->order_journal(state);
    EXPECT_EQ(journal.back().note, "late parcel");
    EXPECT_EQ(journal.back().actor, "finance");
}

TEST_P(PayoutRules, Manual_OnAPaidOrderIsPayableAtOnce) {
    books.create(order());
    books.close("spring", kNow);
    books.adjust("o1", "3.00");
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_THAT(books.balances(kOrdered),
                ElementsAre("c1@spring USD pending=0.00 payable=3.00 paid=10.00 total=13.00"));
}

TEST_P(PayoutRules, Manual_StaysWhenTheOrderChanges) {
    books.create(order());
    books.adjust("o1", "3.00");
    OrderText cancelled = later(order(), "2026-01-02T00:00:00Z");
    cancelled.cancelled = kNow;
    books.cancel(cancelled);
    EXPECT_EQ(books.commission(), "3.00 USD");
}

TEST_P(PayoutRules, Manual_IsRefusedWhereItMeansNothing) {
    OrderText unattributed = order("o2");
    unattributed.codes.clear();
    books.create(order());
    books.create(unattributed);
    EXPECT_TRUE(books.adjust("o1", "0.00").failed);
    EXPECT_TRUE(books.adjust("o1", "1.001").failed);
    EXPECT_TRUE(books.adjust("o1", "1.00", "").failed);
    EXPECT_TRUE(books.adjust("o2", "1.00").failed);
    EXPECT_TRUE(books.adjust("o3", "1.00").failed);
    EXPECT_FALSE(books.adjust("o1", "1.000").failed);
    EXPECT_EQ(books.journal().size(), 2U);
}

TEST_P(PayoutRules, J1_AnAlteredEntryBreaksTheChain) {
    books.create(order());
    books.update(later(order("o1", "70.00"), "2026-01-02T00:00:00Z"));
    std::vector<JournalGroup> groups;
    books.read()->scan_journal(1, [&groups](const JournalGroup& group) {
        groups.push_back(group);
        return true;
    });
    ASSERT_EQ(groups.size(), 2U);
    const auto holds = [&groups] {
        ChainHead chain;
        return verify_seal(groups[0], chain) && verify_seal(groups[1], chain);
    };
    EXPECT_TRUE(holds());
    const std::vector<JournalGroup> intact = groups;
    const std::function<void()> alterations[] = {
        [&] { groups[0].entries[0].amount = Decimal(1001, 2); },
        [&] { groups[0].entries[0].amount = Decimal(10000, 3); },
        [&] { groups[1].entries[0].reason = JournalReason::kRefund; },
        [&] { groups[1].event_seq.value += 1; },
        [&] { groups[1].creator = CreatorId("thief"); },
        [&] { groups[1].program = ProgramId("other"); },
        [&] { groups[1].order_id = OrderId("o2"); },
        [&] { groups[1].entries[0].line = LineItemId("l2"); },
        [&] { groups[1].recorded_at.nanos += 1; },
        [&] { groups[1].note = "x"; },
        [&] { groups[1].first_entry += 1; },
        [&] { std::swap(groups[0], groups[1]); },
    };
    for (const auto& alter : alterations) {
        groups = intact;
        alter();
        EXPECT_FALSE(holds());
    }
}

TEST_P(PayoutRules, J1_ARemovedEntryBreaksTheChain) {
    books.create(order());
    books.update(later(order("o1", "70.00"), "2026-01-02T00:00:00Z"));
    books.update(later(order("o1", "80.00"), "2026-01-03T00:00:00Z"));
    std::vector<JournalGroup> groups;
    books.read()->scan_journal(1, [&groups](const JournalGroup& group) {
        groups.push_back(group);
        return true;
    });
    ASSERT_EQ(groups.size(), 3U);
    ChainHead whole;
    for (const JournalGroup& group : groups) {
        EXPECT_TRUE(verify_seal(group, whole));
    }
    for (std::size_t removed = 0; removed < 2; ++removed) {
        ChainHead chain;
        bool holds = true;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (i == removed) {
                chain.entries = groups[i].last_change;  // only the hash can tell
            } else {
                holds = verify_seal(groups[i], chain) && holds;
            }
        }
        EXPECT_FALSE(holds) << "without group " << removed;
    }
}

TEST_P(PayoutRules, J1_AccountsHaveChainsOfTheirOwn) {
    Program theirs = program("theirs");
    theirs.account_id = AccountId("other");
    theirs.account = {2};
    books.apply({theirs});
    books.creator("c9", "theirs", "SAVE");
    books.create(order());
    books.from_shop("shop-9");
    books.create(order());
    EXPECT_EQ(books.creator_of(), "c9@theirs CODE");
    const auto reader = books.read();
    EXPECT_EQ(reader->chain({1}).entries, 2U) << "ACCRUAL and ATTRIBUTED";
    EXPECT_EQ(reader->chain({2}).entries, 2U);
    EXPECT_NE(reader->chain({1}).hash, reader->chain({2}).hash);
}

}  // namespace
}  // namespace sluice::test
