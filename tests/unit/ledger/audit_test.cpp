// Rule D1: each letter of the audit sees a row that was edited behind the ledger's back, on every
// kind of ledger, and names it with the stored and the computed value.
#include "core/audit/audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/values/hour_sums.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::size_t kFindings = 100;

Decimal dec(const char* text) {
    return Decimal::parse(text).value();
}

/// January: an order that was paid out, one that is open, one that waits, a credit; closed.
class AuditTest : public testing::TestWithParam<LedgerKind> {
protected:
    void SetUp() override {
        Program tiered = program();
        tiered.default_tiers = {
            {Money{Currency::parse("USD").value(), dec("1000.00")}, parse_rate("12%").value()}};
        tiered.tiers_apply = TiersApply::kMonth;
        books.receive_at("2026-01-02T00:00:00Z");
        books.apply({tiered});
        books.creator("c1", "spring", "SAVE");
        books.create(order("paid", "SAVE"));
        books.close_account("2026-01-02T00:00:00Z");
        books.create(order("open", "SAVE"));
        books.create(order("waits", "OTHER"));
        Credit credit;
        credit.creator = CreatorId("c1");
        credit.program = ProgramId("spring");
        credit.amount = Money{Currency::parse("USD").value(), dec("3.00")};
        EXPECT_FALSE(books.command(credit).failed);
        books.receive_at("2026-02-01T00:00:00Z");
        PeriodClose close;
        close.until = instant("2026-02-01T00:00:00Z");
        EXPECT_FALSE(books.command(close).failed);
        ASSERT_THAT(found(), IsEmpty());
    }
    static OrderText order(std::string id, std::string code) {
        OrderText text;
        text.id = std::move(id);
        text.ordered = text.updated = "2026-01-01T00:00:00Z";
        text.codes = {std::move(code)};
        return text;
    }

    std::vector<std::string> found(std::size_t max = kFindings) {
        std::vector<std::string> texts;
        for (const AuditFinding& finding : audit_ledger(*books.read(), max)) {
            texts.push_back(to_string(finding));
        }
        return texts;
    }
    /// Returns the findings of the audit after an edit.
    std::vector<std::string> edited(const std::function<void(LedgerTxn&)>& edit) {
        const auto txn = ledger->begin(Books::kNode);
        edit(*txn);
        txn->commit();
        return found();
    }
    std::vector<std::string> edited_balance(const Balance& change) {
        edit_balance(*ledger, Books::kNode, change);
        return found();
    }
    /// ... of the one row of a table for which `wanted` holds.
    template <class Row>
    std::vector<std::string> edited_row(
        const std::function<void(Row&)>& edit,
        const std::function<bool(const Row&)>& wanted = [](const Row& /*row*/) { return true; }) {
        return edited([&](LedgerTxn& txn) {
            std::optional<Row> row;
            txn.scan(Row{}, {}, [&](const Row& stored) {
                if (!row && wanted(stored)) {
                    row = stored;
                }
                return !row;
            });
            ASSERT_TRUE(row.has_value());
            txn.erase(*row);
            edit(*row);
            txn.put(*row);
        });
    }
    template <class Row>
    std::vector<std::string> erased() {
        return edited([](LedgerTxn& txn) {
            std::optional<Row> row;
            txn.scan(Row{}, {}, [&](const Row& stored) {
                row = stored;
                return false;
            });
            ASSERT_TRUE(row.has_value());
            txn.erase(*row);
        });
    }
    std::vector<std::string> edited_order(const char* id,
                                          const std::function<void(OrderState&)>& edit) {
        return edited([&](LedgerTxn& txn) {
            OrderState state;
            ASSERT_TRUE(txn.load_order({kAcme, kShop, OrderId(id)}, state));
            edit(state);
            txn.put_order(state);
        });
    }

    std::unique_ptr<Ledger> ledger = GetParam().make();
    Books books{*ledger};
};
SLUICE_FOR_EVERY_LEDGER(AuditTest);

TEST_P(AuditTest, A_TheEndOfAChain) {
    EXPECT_THAT(edited([](LedgerTxn& txn) { txn.mutable_chain(kAcme).hash[0] ^= 1; }),
                Contains(StartsWith("a: table chains, account 1, node ")));
}

TEST_P(AuditTest, A_WhereAChainIsReadFrom) {
    EXPECT_THAT(
        erased<ChainGroup>(),
        Contains(HasSubstr("entry 1: table chain_groups does not list it under its change")));
}

TEST_P(AuditTest, D_TheChangesOfAnOrder) {
    EXPECT_THAT(edited_order("open", [](OrderState& order) { ++order.changes_count; }),
                Contains(HasSubstr("its journal does not have the changes 1 to ")));
}

TEST_P(AuditTest, A_TheNumberOfTheNextEntry) {
    EXPECT_THAT(edited([](LedgerTxn& txn) { ++txn.mutable_head().next_entry; }),
                Contains(HasSubstr("its next entry is 10, the entries that are there say 9")));
}

TEST_P(AuditTest, B_EachBookOfABalance) {
    for (Decimal Balance::*book : {&Balance::owed, &Balance::in_payout, &Balance::paid}) {
        Balance change;
        change.key = {kAcme, ProgramId("spring"), CreatorId("c1"), Currency::parse("USD").value()};
        change.*book = dec("0.01");
        EXPECT_THAT(edited_balance(change),
                    Contains(StartsWith("b: table balances, account 1, program spring, creator c1, "
                                        "currency USD: ")));
        change.*book = -dec("0.01");
        EXPECT_THAT(edited_balance(change), IsEmpty());
    }
}

bool has_program(const DailySum& row) {
    return !row.program.empty();
}

TEST_P(AuditTest, B_EachAmountOfADayAndOfAMonth) {
    for (Decimal StatementAmounts::*amount :
         {&StatementAmounts::earned, &StatementAmounts::adjusted, &StatementAmounts::paid_out,
          &StatementAmounts::settled}) {
        const auto raise = [&](auto& row) { row.*amount += dec("0.01"); };
        const auto lower = [&](auto& row) { row.*amount -= dec("0.01"); };
        EXPECT_THAT(edited_row<MonthlySum>(raise),
                    Contains(StartsWith("b: table monthly, account 1, 202601, creator c1, program "
                                        "spring, currency USD: ")));
        EXPECT_THAT(edited_row<MonthlySum>(lower), IsEmpty());
        EXPECT_THAT(edited_row<DailySum>(raise, has_program),
                    Contains(StartsWith("b: table daily, account 1, 20260102, program spring, "
                                        "currency USD: ")));
        EXPECT_THAT(edited_row<DailySum>(lower, has_program), IsEmpty());
    }
}

TEST_P(AuditTest, B_EachTurnoverAndCountOfADay) {
    const auto expect_found = [&](const auto& raise, const auto& lower) {
        EXPECT_THAT(edited_row<DailySum>(raise, has_program),
                    Contains(AllOf(StartsWith("b: table daily, account 1, 20260102, program "
                                              "spring, currency USD: "),
                                   HasSubstr(", its postings say "))));
        EXPECT_THAT(edited_row<DailySum>(lower, has_program), IsEmpty());
    };
    for (Turnover DailySum::*book :
         {&DailySum::expense, &DailySum::owed, &DailySum::in_payout, &DailySum::paid}) {
        for (Decimal Turnover::*side : {&Turnover::debit, &Turnover::credit}) {
            expect_found([&](DailySum& row) { (row.*book).*side += dec("0.01"); },
                         [&](DailySum& row) { (row.*book).*side -= dec("0.01"); });
        }
    }
    for (std::uint64_t DailySum::*count : {&DailySum::postings, &DailySum::late_postings}) {
        expect_found([&](DailySum& row) { ++(row.*count); },
                     [&](DailySum& row) { --(row.*count); });
    }
}

TEST_P(AuditTest, D_EachCountOfADay) {
    for (Decimal OrderDay::*count : {&OrderDay::orders, &OrderDay::attributed}) {
        EXPECT_THAT(edited_row<OrderDay>([&](OrderDay& row) { row.*count += dec("1"); }),
                    Contains(AllOf(StartsWith("d: table order_days, account 1, 2026"),
                                   HasSubstr("the orders sold that day exceed it by "))));
        EXPECT_THAT(edited_row<OrderDay>([&](OrderDay& row) { row.*count -= dec("1"); }),
                    IsEmpty());
    }
    EXPECT_THAT(edited([](LedgerTxn& txn) { ++txn.mutable_head().totals.orders; }),
                Contains(HasSubstr("the number of orders is 3, the heads say 4")));
    EXPECT_THAT(edited([](LedgerTxn& txn) { --txn.mutable_head().totals.orders; }), IsEmpty());
}

TEST_P(AuditTest, B_ABalanceWithoutPostings) {
    Balance change;
    change.key = {kAcme, ProgramId("spring"), CreatorId("c9"), Currency::parse("USD").value()};
    change.owed = dec("1.00");
    EXPECT_THAT(edited_balance(change),
                Contains(HasSubstr("creator c9, currency USD: owed is 1.00, its postings say 0")));
}

TEST_P(AuditTest, C_TheAmountOfAPayout) {
    EXPECT_THAT(edited_row<Payout>([](Payout& row) { row.amount = dec("11.00"); }),
                Contains(HasSubstr("its amount is 11.00, its items say 10.00")));
}

TEST_P(AuditTest, C_TheStateOfAPayout) {
    EXPECT_THAT(
        edited_row<Payout>([](Payout& row) { row.state = PayoutState::kPaid; }),
        Contains(HasSubstr("its state is PAID, its memo entries and postings say APPROVED")));
}

TEST_P(AuditTest, C_WhomAPayoutPays) {
    EXPECT_THAT(edited_row<Payout>([](Payout& row) { row.creator = CreatorId("c2"); }),
                Contains(HasSubstr("whom it pays is account 1, c2 in USD, its postings say "
                                   "account 1, c1 in USD")));
    EXPECT_THAT(edited_row<Payout>([](Payout& row) {
                    row.creator = CreatorId("c1");
                    row.account = AccountNumber{2};
                }),
                Contains(HasSubstr("whom it pays is account 2, c1 in USD, its postings say "
                                   "account 1, c1 in USD")));
}

TEST_P(AuditTest, C_ChangedActorOfAPayoutIsReported) {
    EXPECT_THAT(edited_row<Payout>([](Payout& row) { row.closed_by = "eve"; }),
                Contains(HasSubstr("its closing is by eve at 2026-01-02T")));
    EXPECT_THAT(
        edited_row<Payout>([](Payout& row) {
            row.approved_by = "frank";
            row.approved_at = instant("2026-01-03T00:00:00Z");
        }),
        Contains(HasSubstr("its approval is by frank at 2026-01-03T00:00:00Z, its memo entries "
                           "and postings say nothing")));
    EXPECT_THAT(
        edited_row<Payout>([](Payout& row) { row.sent_by = "gina"; }),
        Contains(HasSubstr("its sending is by gina, its memo entries and postings say nothing")));
    EXPECT_THAT(
        edited_row<Payout>([](Payout& row) { row.ended_at = instant("2026-01-03T00:00:00Z"); }),
        Contains(
            HasSubstr("its end is by  at 2026-01-03T00:00:00Z, its memo entries and postings say "
                      "nothing")));
}

TEST_P(AuditTest, C_TheOrdersOfAPayout) {
    EXPECT_THAT(edited_row<Payout>([](Payout& row) { row.orders_count = 2; }),
                Contains(HasSubstr("its number of orders is 2, the items say 1")));
}

TEST_P(AuditTest, C_TheDigestOfAPayout) {
    EXPECT_THAT(edited_row<Payout>([](Payout& row) { row.items_digest[0] ^= 1; }),
                Contains(HasSubstr("its digest is ")));
}

/// K2: the approved payee is paid.
TEST_P(AuditTest, C_ThePayeeOfAPayout) {
    EXPECT_THAT(edited_row<Payout>([](Payout& row) { row.payee = "ref-eve"; }),
                Contains(HasSubstr("the digest in its memo entry CLOSED is ")));
}

TEST_P(AuditTest, C_APayoutThatIsGone) {
    EXPECT_THAT(erased<Payout>(),
                Contains(HasSubstr("the row is missing, though the journal has entries")));
}

TEST_P(AuditTest, C_TheAmountOfAnItem) {
    const auto all = edited_row<PayoutItem>([](PayoutItem& row) { row.amount = dec("9.00"); });
    EXPECT_THAT(all, Contains(HasSubstr("its amount is 10.00, its items say 9.00")));
    EXPECT_THAT(all, Contains(HasSubstr("the digest in its memo entry CLOSED is ")));
}

TEST_P(AuditTest, C_AnItemThatIsGone) {
    EXPECT_THAT(erased<PayoutItem>(), Contains(HasSubstr("its number of items is 1")));
}

TEST_P(AuditTest, C_ChangedAmountPerProgramIsReported) {
    EXPECT_THAT(edited_row<PayoutPart>([](PayoutPart& row) { row.amount = dec("9.00"); }),
                Contains(HasSubstr("by program it is spring 10.00, its parts say spring 9.00")));
}

TEST_P(AuditTest, D_ChangedAccrualOfALineIsReported) {
    EXPECT_THAT(edited_order("open",
                             [](OrderState& state) {
                                 state.positions[0].accruals[0].accrued = dec("11.00");
                             }),
                Contains(HasSubstr("order open, c1 in spring: accrued is line l1 11.00 USD, its "
                                   "postings say line l1 10.00 USD")));
}

TEST_P(AuditTest, D_AccrualThatTheRulesDoNotGiveIsReported) {
    EXPECT_THAT(
        edited_order(
            "open",
            [](OrderState& state) { state.positions[0].frozen[0].rate.rate.value = dec("11"); }),
        Contains(HasSubstr("accrued of its lines is line l1 10.00 USD, the rules say line l1 "
                           "11.00 USD")));
}

TEST_P(AuditTest, D_ChangedCreatorOfAPositionIsReported) {
    EXPECT_THAT(
        edited_order(
            "open",
            [](OrderState& state) { state.positions[0].attribution.creator = CreatorId("c2"); }),
        Contains(HasSubstr("its journal gives line l1 10.00 USD to c1 in spring, who has no "
                           "position")));
}

TEST_P(AuditTest, D_ChangedAllocationIsReported) {
    EXPECT_THAT(edited_order("paid",
                             [](OrderState& state) {
                                 state.positions[0].accruals[0].allocated = dec("9.00");
                                 state.positions[0].payouts[0].amount = dec("9.00");
                             }),
                Contains(HasSubstr(
                    "allocated is line l1 9.00 USD, its active items say line l1 10.00 USD")));
}

TEST_P(AuditTest, D_ChangedStateOfItsPayoutIsReported) {
    EXPECT_THAT(edited_order("paid",
                             [](OrderState& state) {
                                 state.positions[0].payouts[0].active = false;
                                 state.positions[0].accruals[0].allocated = dec("0.00");
                             }),
                Contains(HasSubstr("is active, the order says otherwise")));
}

TEST_P(AuditTest, D_ACredit) {
    const auto all = edited_row<MoneyCommand>([](MoneyCommand& row) { row.accrued = dec("4.00"); });
    EXPECT_THAT(all, Contains(HasSubstr("accrued is 4.00, its postings say 3.00")));
}

TEST_P(AuditTest, D_AnOrderThatBreaksARule) {
    EXPECT_THAT(edited_order("open", [](OrderState& state) { state.flags = 0x80; }),
                Contains("d: table orders, account 1, shop 1, order open: it has flags or "
                         "anomalies that no rule sets"));
}

TEST_P(AuditTest, D_ADamagedOrderIsNeitherPaidNorChanged) {
    (void)edited_order("open", [](OrderState& state) { state.flags = 0x80; });
    books.receive_at("2026-03-02T00:00:00Z");
    EXPECT_THROW(books.close_account("2026-03-02T00:00:00Z"), DamagedRow);
    OrderText later = order("open", "SAVE");
    later.updated = "2026-01-03T00:00:00Z";
    EXPECT_THROW(books.update(later), DamagedRow);
}

TEST_P(AuditTest, E_TheIndexOfOpenAmounts) {
    EXPECT_THAT(edited_row<OpenAmount>([](OpenAmount& row) { row.amount = dec("9.00"); },
                                       [](const OpenAmount& row) { return row.shop == kShop; }),
                Contains(HasSubstr("it is 9.00 posted until 2026-01-02T00:00:00Z, blocks 0, order "
                                   "or credit say 10.00 posted until")));
}

TEST_P(AuditTest, E_EachSumOfOpenAmounts) {
    std::string sound;
    for (const HourSum one : {HourSum{2, 1, 0}, HourSum{2, 0, 1}}) {
        std::string change;
        append_hour(change, one);
        EXPECT_THAT(edited_row<OpenHours>([&](OpenHours& row) {
                        sound = row.hours;
                        ASSERT_TRUE(add_hours(row.hours, change));
                    }),
                    Contains(AllOf(StartsWith("e: table open_hours, account 1, program spring, "),
                                   HasSubstr("T02:00:00Z exceeds the open amounts by 0.0" +
                                             std::string(one.units == 0 ? "0" : "1") +
                                             " and a number of " + std::to_string(one.amounts)))));
        EXPECT_THAT(edited_row<OpenHours>([&](OpenHours& row) { row.hours = sound; }), IsEmpty());
    }
    EXPECT_THAT(edited_row<OpenHours>([](OpenHours& row) { row.hours.pop_back(); }),
                Contains(HasSubstr("not as sluice writes them")));
    EXPECT_THAT(edited_row<OpenHours>([&](OpenHours& row) { row.hours = sound; }), IsEmpty());
}

TEST_P(AuditTest, E_ARowTooManyAndOneTooFew) {
    const auto fewer = erased<OpenAmount>();
    EXPECT_THAT(fewer, Contains(HasSubstr("it is nothing, order or credit say ")));
    EXPECT_THAT(fewer, Contains(HasSubstr("table open: its number of rows is 1, orders and "
                                          "credits say 2")));
}

TEST_P(AuditTest, E_AnOrderThatImportsWouldNotFind) {
    EXPECT_THAT(
        erased<WaitingOrder>(),
        Contains(HasSubstr("it waits for a creator, but the index that imports read lacks it")));
}

TEST_P(AuditTest, F_TheSumsOfAPeriod) {
    for (Decimal PeriodSum::*sum :
         {&PeriodSum::opening_owed, &PeriodSum::opening_in_payout, &PeriodSum::opening_paid,
          &PeriodSum::closing_owed, &PeriodSum::closing_in_payout, &PeriodSum::closing_paid}) {
        Decimal before;
        EXPECT_THAT(edited_row<PeriodSum>([&](PeriodSum& row) {
                        before = row.*sum;
                        row.*sum = dec("99.00");
                    }),
                    Contains(StartsWith("f: table period_sums, ")));
        EXPECT_THAT(edited_row<PeriodSum>([&](PeriodSum& row) { row.*sum = before; }), IsEmpty());
    }
    EXPECT_THAT(edited_row<PeriodSum>([](PeriodSum& row) { row.digest[0] ^= 1; }),
                Contains(HasSubstr("its digest is ")));
    EXPECT_THAT(erased<PeriodSum>(), Contains(HasSubstr("though the period has entries")));
}

TEST_P(AuditTest, F_UntilWhenAnAccountIsClosed) {
    EXPECT_THAT(edited_row<AccountRow>(
                    [](AccountRow& row) { row.closed_until = instant("2026-03-01T00:00:00Z"); }),
                Contains("f: table accounts, account 1: it is closed until 2026-03-01T00:00:00Z, "
                         "its periods say 2026-02-01T00:00:00Z"));
    EXPECT_THAT(edited_row<AccountRow>([](AccountRow& row) { row.closed_until = std::nullopt; }),
                Contains("f: table accounts, account 1: it is closed until never, its periods say "
                         "2026-02-01T00:00:00Z"));
}

TEST_P(AuditTest, G_AVolumeOfAMonth) {
    EXPECT_THAT(edited_row<TierVolume>([](TierVolume& row) { row.amount = dec("1.00"); }),
                Contains(HasSubstr("its volume is 1.00, the orders say 200.00")));
    EXPECT_THAT(erased<TierVolume>(), Contains(HasSubstr("its volume is 0, the orders say ")));
}

TEST_P(AuditTest, G_AnOrderOfAMonthThatIsRated) {
    EXPECT_THAT(erased<TierOrder>(), Contains(HasSubstr("table tier_orders, account 1")));
}

TEST_P(AuditTest, StopsAtTheBound) {
    ASSERT_GT(edited_order("open",
                           [](OrderState& state) {
                               state.positions[0].attribution.creator = CreatorId("c2");
                           })
                  .size(),
              1U);
    EXPECT_THAT(found(1), SizeIs(1));
}

/// K3: a command that waits is the one that its memo entry PENDING proves.
TEST_P(AuditTest, I_ALimitUse) {
    const auto is_payout = [](const LimitUse& row) { return row.kind == LimitKind::kPayout; };
    EXPECT_THAT(edited_row<LimitUse>([](LimitUse& row) { row.amount = dec("0.01"); }, is_payout),
                Contains(StartsWith("i: limit_uses of account 1, c1 in USD: the sum of its payouts "
                                    "is 0.01, the payouts that needed no approval say ")));
    const auto is_adjust = [](const LimitUse& row) { return row.kind == LimitKind::kAdjust; };
    EXPECT_THAT(edited_row<LimitUse>([](LimitUse& row) { row.amount = dec("1.00"); }, is_adjust),
                Contains("i: limit_uses of account 1, c1 in USD: the sum of its adjustments is "
                         "1.00, the commands that needed no approval say 3.00"));
}

TEST_P(AuditTest, H_AWaitingCommand) {
    Policy policy;
    policy.account_id = AccountId("acme");
    policy.account = kAcme;
    policy.approve_adjust_above.emplace();
    EXPECT_FALSE(books.command(ProgramApply{{}, {policy}}).failed);
    books.command(Adjust{OrderId("open"), dec("1.00")});
    EXPECT_THAT(found(), IsEmpty());
    EXPECT_THAT(edited_row<PendingApproval>([](PendingApproval& row) {
                    row.body.replace(row.body.find("1.00"), 4, "9.00");
                }),
                Contains(HasSubstr("h: table pending_approvals, ")));
    EXPECT_THAT(edited_row<PendingApproval>([](PendingApproval& row) {
                    row.body.replace(row.body.find("9.00"), 4, "1.00");
                    row.actor = "frank";
                }),
                Contains(HasSubstr("its actor, reason or receipt is not that of")));
}

}  // namespace
}  // namespace sluice::test
