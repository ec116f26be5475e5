// `sluice explain`: every step from the events to the journal, as a person reads it.
#include "core/explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/statements/statements.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Explain : public RulesTest {
protected:
    Explanation explain(std::string_view id = "o1") {
        return explain_order(*books.read(), {{1}, {1}, OrderId(id)}).value();
    }
    std::string text(std::string_view id = "o1") { return explanation_text(explain(id)); }
    OrderAnswer answer(std::string_view now, std::string_view id = "o1") {
        return order_answer(explain(id), Timestamp::parse(now).value(), *books.read());
    }
    std::string json_text() { return explanation_json(explain(), answer("2026-06-01T00:00:00Z")); }
};
SLUICE_FOR_EVERY_LEDGER(Explain);

OrderText order() {
    OrderText text;
    text.ordered = "2026-01-10T00:00:00Z";
    text.updated = "2026-01-10T00:00:00Z";
    text.codes = {"NOBODYS", "save"};
    text.lines[0].tax = "20.00";
    return text;
}

TEST_P(Explain, EveryStepFromEventToJournal) {
    Program held = program();
    held.clearing_days = 14;
    books.apply({held});
    books.click("dev", "c1", "spring", "2026-01-09T00:00:00Z");
    books.receive_at("2026-01-20T00:00:00Z");
    books.create(order(), "dev");
    books.create(order(), "dev");
    OrderText refund = order();
    refund.updated = "2026-01-09T00:00:00Z";
    refund.refunds = {{.amount = "33.00"}};
    books.update(refund, "dev");
    books.adjust("o1", "-0.36", "goodwill");
    EXPECT_EQ(text(), R"(Order o1 of shop shop-1 (account acme)
  amount 100.00 USD, tax 0.00, shipping 0.00
  ordered at 2026-01-10T00:00:00Z, version 2026-01-10T00:00:00Z
  device id of version 2026-01-10T00:00:00Z
  not cancelled

Events
  #5  ORDER_CREATE, version 2026-01-10T00:00:00Z, received 2026-01-20T00:00:00Z
      applied: the first event of the order
  #7  ORDER_UPDATE, version 2026-01-09T00:00:00Z, received 2026-01-20T00:00:00Z
      stale: older than the stored version, so only its refund rows count
  1 more, equal to one of these, changed nothing

Refunds
  r1 of line l1: 33.00, tax 0.00, quantity 1, stated by version 2026-01-09T00:00:00Z
      counts
  together 33.00, tax 0.00

Attribution
  creator c1 of program spring by AFFILIATE_CODE and LANDED, since input 5 (ORDER_CREATE) of 2026-01-20T00:00:00Z
  AFFILIATE_CODE: code save, creator c1 in program spring
      won
  LANDED: click of 2026-01-09T00:00:00Z, creator c1 in program spring
      points to the same creator

Lines
  l1: sku SKU, amount 100.00, tax 20.00, quantity 1
      rate 10%: default rate of spring, version 2
      base net: 100.00 - 20.00 = 80.00
      refund: 33.00 of 100.00: in proportion
      80.00 x 10% x (1 - 33.00 / 100.00) = 5.36
      half to even, 2 digits: 5.36 USD

Journal
  entry 1, event #5: line l1 +8.00 USD ACCRUAL, recorded 2026-01-20T00:00:00Z
  entry 2, event #5: ATTRIBUTED, recorded 2026-01-20T00:00:00Z
  entry 3, event #7: line l1 -2.64 USD REFUND, recorded 2026-01-20T00:00:00Z
  entry 4, command C260120000000-5BN7KQ: -0.36 USD MANUAL, recorded 2026-01-20T00:00:00Z
      by finance: goodwill

Commission
  accrued 5.00 USD to c1 in spring (-0.36 of it by hand); 5.00 open, it clears 2026-01-24T00:00:00Z: pending before that, payable from then on
)");
}

TEST_P(Explain, ExplainsUnattributedOrder) {
    Program other = program("autumn");
    other.shops = {"shop-2"};
    Program codes_only = program("codes");
    codes_only.precedence = {AttributionType::kAffiliateCode};
    codes_only.window_days = 5;
    Program clicks_only = program("summer");
    clicks_only.precedence = {AttributionType::kLanded};
    books.apply({other, codes_only, clicks_only});
    books.creator("c2", "autumn", "NOBODYS");
    books.creator("c2", "codes");
    books.creator("c3", "summer", "SAVE");
    books.command(CreatorRemove{CreatorId("c1"), ProgramId("spring"), std::nullopt});
    books.click("dev", "c1", "spring", "2026-01-09T00:00:00Z");
    books.click("dev", "c2", "autumn", "2026-01-09T00:00:00Z");
    books.click("dev", "c2", "codes", "2026-01-09T00:00:00Z");
    books.click("dev", "c3", "summer", "2026-01-11T00:00:00Z");
    books.click("dev", "c3", "summer", "2025-01-11T00:00:00Z");
    OrderText unattributed = order();
    unattributed.codes.push_back("UNKNOWN");
    books.create(unattributed, "dev");
    std::vector<std::string> said;
    for (const ExplainedCandidate& candidate : explain().candidates) {
        said.push_back(candidate.source + " " + candidate.program + ": " + candidate.words);
    }
    EXPECT_THAT(
        said,
        testing::ElementsAre(
            "code NOBODYS autumn: does not count: the program does not cover the shop",
            "code save spring: does not count: the creator is not in the program",
            "code save summer: does not count: the program's precedence leaves AFFILIATE_CODE out",
            "code UNKNOWN : does not count: no creator of the account owns it",
            "click of 2026-01-09T00:00:00Z autumn: does not count: the program does not cover the "
            "shop",
            "click of 2026-01-09T00:00:00Z codes: does not count: the program's precedence leaves "
            "LANDED out",
            "click of 2026-01-09T00:00:00Z spring: does not count: the creator is not in the "
            "program",
            "click of 2026-01-11T00:00:00Z summer: does not count: after the order",
            "click of 2025-01-11T00:00:00Z summer: does not count: before the window of 30 "
            "days"));
    EXPECT_THAT(text(), HasSubstr("no creator yet"));
    EXPECT_THAT(text(), HasSubstr("no rate before the order has a creator"));
}

TEST_P(Explain, WhyALineEarnsNothing) {
    Program fixed = program("spring", "1.50 USD");
    fixed.rules = {rule(RuleMatch::kSku, "EUROS", "2.00 EUR")};
    books.apply({fixed});
    OrderText many = order();
    many.lines = {{.id = "kept"}, {.id = "gone"}, {.id = "back"}, {.id = "over"}};
    many.refunds = {{.id = "r1", .line = "back", .amount = "100.00"},
                    {.id = "r2", .line = "over", .amount = "100.01"}};
    books.create(many);
    many.updated = "2026-01-11T00:00:00Z";
    many.lines.erase(many.lines.begin() + 1);
    books.update(many);
    std::string said = text();
    EXPECT_THAT(said, HasSubstr("1 x 1.50 USD = 1.5\n      half to even, 2 digits: 1.50 USD"));
    EXPECT_THAT(said, HasSubstr("base quantity: 1"));
    EXPECT_THAT(said, HasSubstr("0: the line is not in the newest payload"));
    EXPECT_THAT(said, HasSubstr("100.00 of 100.00: in full, the line is disqualified"));
    EXPECT_THAT(said, HasSubstr("100.01 of 100.00: more than the line, counts as in full"));
    EXPECT_THAT(said, HasSubstr("anomaly REFUND_EXCEEDS_LINE"));
    many.updated = "2026-01-12T00:00:00Z";
    many.currency = "EUR";
    books.update(many);
    EXPECT_THAT(text(), HasSubstr("0: the frozen rate is in another currency than the order"));
    many.updated = "2026-01-13T00:00:00Z";
    many.cancelled = "2026-01-13T00:00:00Z";
    books.update(many);
    said = text();
    EXPECT_THAT(said, HasSubstr("0: the order is cancelled"));
    EXPECT_THAT(said, HasSubstr("it cancels the order"));
}

TEST_P(Explain, WhichRuleAndThatTheCodeWasOfThen) {
    Program ruled = program();
    ruled.rules = {rule(RuleMatch::kSku, "SKU", "33.3333%")};
    books.apply({ruled});
    OrderText first = order();
    first.lines[0].amount = "10.01";
    first.lines[0].tax = "12.00";
    books.create(first);
    EXPECT_THAT(text(), HasSubstr("rate 33.3333%: sku \"SKU\" of spring, version 2"));
    EXPECT_THAT(text(), HasSubstr("net: 10.01 - 12.00, below 0 counts as 0.00"));
    first.updated = "2026-01-11T00:00:00Z";
    first.lines[0].tax = "0.00";
    first.refunds = {{.amount = "3.00"}};
    first.codes = {"OTHER"};
    books.update(first);
    EXPECT_THAT(text(), HasSubstr("10.01 x 33.3333% x (1 - 3.00 / 10.01) = 2.33666433\n"));
    EXPECT_THAT(text(), HasSubstr("code save, creator c1"));
    first.updated = "2026-01-12T00:00:00Z";
    first.lines[0].tax = "1.00";
    first.lines[0].amount = "10.03";
    books.update(first);
    EXPECT_THAT(text(), HasSubstr("9.03 x 33.3333% x (1 - 3.00 / 10.03) = 2.109698787607..."));
}

TEST_P(Explain, ARuleByTagCannotMatchALineWithoutAProduct) {
    Program ruled = program();
    ruled.rules = {rule(RuleMatch::kTag, "gift-card", "0%")};
    books.apply({ruled});
    books.create(order());
    EXPECT_THAT(text(), HasSubstr("default rate of spring, version 2; no product is known for this "
                                  "line: rules by tag cannot match"));
    books.products(Topic::kProductUpsert, R"([{"platform_product_id": "SKU", "title": "S"}])");
    EXPECT_THAT(text(), Not(HasSubstr("no product is known")));
}

TEST_P(Explain, DistinguishesPaidAmountAndAdjustment) {
    books.create(order());
    books.close("spring", "2026-02-01T00:00:00Z");
    EXPECT_THAT(text(), HasSubstr("accrued 8.00 USD to c1 in spring, 8.00 allocated to payouts\n"));
    EXPECT_THAT(text(), ContainsRegex("P260201000000-[0-9A-Z]{6}-0001, PAID: 8.00 USD of creator "
                                      "c1\n      line l1: 8.00 COMMISSION\n"));
    OrderText refund = order();
    refund.updated = "2026-01-11T00:00:00Z";
    refund.refunds = {{.amount = "50.00"}, {.id = "r2", .amount = "25.00"}};
    refund.refunds.erase(refund.refunds.begin());
    books.update(refund);
    EXPECT_THAT(text(), HasSubstr("; -2.00 open, payable at once"));
}

TEST_P(Explain, RefundRowsThatDoNotCount) {
    OrderText first = order();
    first.refunds = {{.amount = "10.00"}};
    books.create(first);
    first.updated = "2026-01-11T00:00:00Z";
    first.refunds = {{.id = "r2", .amount = "20.00"}};
    books.update(first);
    EXPECT_THAT(text(), HasSubstr("does not count: r2 of the same line is newer"));
    EXPECT_THAT(text(), HasSubstr("together 20.00"));
}

TEST_P(Explain, AnAnswerIsReadAloud) {
    Program cleared = program();
    cleared.clearing_days = 14;
    books.apply({cleared});
    books.create(order());
    EXPECT_EQ(answer("2026-01-11T00:00:00Z").sentence,
              "8.00 USD for c1, payable from 24 Jan 2026.");
    EXPECT_EQ(answer("2026-01-11T00:00:00Z").status, "pending");
    EXPECT_EQ(answer("2026-01-24T00:00:00Z").sentence,
              "8.00 USD for c1, payable; the next close takes it.");
    EXPECT_EQ(answer("2026-01-24T00:00:00Z").since, Timestamp::parse("2026-01-24T00:00:00Z"));
}

TEST_P(Explain, AnAnswerNamesAnAdjustmentByHandAndADebtAfterThePayment) {
    books.create(order());
    books.adjust("o1", "1.25", "goodwill");
    EXPECT_EQ(answer("2026-01-20T00:00:00Z").sentence,
              "9.25 USD for c1, payable; the next close takes it. "
              "1.25 USD of c1's commission is an adjustment by hand.");
    books.close("spring", "2026-02-01T00:00:00Z");
    EXPECT_THAT(answer("2026-02-02T00:00:00Z").sentence,
                ContainsRegex("^9.25 USD for c1, in payout P[^ ]+ .PAID on [^)]*.\\. "
                              "1.25 USD of c1's commission is an adjustment by hand\\.$"));
    OrderText refund = order();
    refund.updated = "2026-01-11T00:00:00Z";
    refund.refunds = {{.amount = "25.00"}};
    books.update(refund);
    EXPECT_THAT(
        answer("2026-02-02T00:00:00Z").sentence,
        ContainsRegex("^9.25 USD for c1 was paid on [^;]* in payout P[^ ;]+; 2.00 USD will be "
                      "deducted from the next payout\\. 1.25 USD of c1's commission is an "
                      "adjustment by hand\\.$"));
    EXPECT_EQ(answer("2026-02-02T00:00:00Z").next_step,
              "2.00 USD is deducted from the next payout");
    books.adjust("o1", "5.00", "more");
    EXPECT_THAT(answer("2026-02-02T00:00:00Z").sentence,
                HasSubstr(" 3.00 USD more for c1 is open, for the next close."));
}

TEST_P(Explain, ACancelledOrderThatWasPaidNamesTheDebt) {
    books.create(order());
    books.close("spring", "2026-02-01T00:00:00Z");
    OrderText cancelled = order();
    cancelled.updated = cancelled.cancelled = "2026-01-12T00:00:00Z";
    books.cancel(cancelled);
    EXPECT_THAT(answer("2026-02-02T00:00:00Z").sentence,
                ContainsRegex("^Cancelled by the shop on 12 Jan 2026; it earns nothing\\. 8.00 USD "
                              "for c1 is in payout P[^ ]+ .PAID on [^)]*.\\. 8.00 USD will be "
                              "deducted from c1's next payout\\.$"));
}

TEST_P(Explain, AnAnswerNamesACodeWithoutAnOwner) {
    OrderText unattributed = order();
    unattributed.codes = {"ANNA15"};
    books.create(unattributed);
    EXPECT_EQ(answer("2026-06-01T00:00:00Z").sentence,
              "No creator: code ANNA15 belongs to no creator of a program that covers shop-1.");
    unattributed.id = "o2";
    unattributed.codes.clear();
    books.create(unattributed);
    EXPECT_EQ(answer("2026-06-01T00:00:00Z", "o2").sentence,
              "No creator: the order has no discount code, and no click of its device is known.");
    books.click("dev", "c1", "spring", "2026-01-09T00:00:00Z");
    EXPECT_EQ(answer("2026-06-01T00:00:00Z", "o2").sentence,
              "No creator: the order carries no device id.");
    unattributed.id = "o3";
    books.create(unattributed, "other");
    EXPECT_EQ(answer("2026-06-01T00:00:00Z", "o3").sentence,
              "No creator: the order has no discount code, and no click of its device is known.");
}

TEST_P(Explain, TheJsonSaysTheSame) {
    OrderText refund = order();
    refund.refunds = {{.amount = "33.00"}};
    books.create(refund);
    const auto said = nlohmann::json::parse(json_text());
    EXPECT_EQ(said["order_id"], "o1");
    EXPECT_EQ(said["shop_id"], "shop-1");
    EXPECT_EQ(said["commission_amount"], "5.36");
    EXPECT_EQ(said["cancelled_at"], nullptr);
    EXPECT_EQ(said["attribution"]["creator_id"], "c1");
    EXPECT_EQ(said["attribution"]["candidates"][0]["won"], true);
    EXPECT_EQ(said["lines"][0]["calculation"], "80.00 x 10% x (1 - 33.00 / 100.00) = 5.36");
    EXPECT_EQ(said["journal"][0]["amount"], "5.36");
    EXPECT_EQ(said["events"][0]["decision"], "applied");
    EXPECT_EQ(said["refunds"][0]["counts"], true);
    EXPECT_EQ(said["accruals"][0]["accrued"], "5.36");
}

TEST_P(Explain, ABackDatedOrderNamesTheCloseThatPaysIt) {
    books.receive_at("2026-03-05T00:00:00Z");
    books.create(order());
    EXPECT_THAT(text(), HasSubstr("payable from then on; posted at 2026-03-05T00:00:00Z, so a "
                                  "payout close until a later time pays it"));
}

TEST_P(Explain, EveryVerdictHasItsReason) {
    const auto reader = books.read();
    OrderState state;
    state.codes = {"SAVE"};
    state.positions.emplace_back();
    state.live = 0;
    Attribution& attribution = state.positions[0].attribution;
    state.last_applied = attribution.cause = {5};
    for (const auto& [verdict, words] :
         {std::pair{CandidateVerdict::kWon, "won"},
          std::pair{CandidateVerdict::kSameCreator, "points to the same creator"},
          std::pair{CandidateVerdict::kLaterCode, "an earlier code"},
          std::pair{CandidateVerdict::kLowerPrecedence, "precedence puts the other type first"},
          std::pair{CandidateVerdict::kClickBelowCode, "a code beats a click"},
          std::pair{CandidateVerdict::kOlderClick, "another program's click is later"},
          std::pair{CandidateVerdict::kHigherProgramId, "the lowest program id"}}) {
        attribution.candidates = {
            {AttributionType::kAffiliateCode, ProgramId("p"), CreatorId("c"), "SAVE", {}, verdict}};
        const auto told = candidates_then(state, *reader);
        ASSERT_EQ(told.size(), 1U);
        EXPECT_THAT(told[0].words, HasSubstr(words));
        EXPECT_EQ(told[0].source, "code SAVE");
        EXPECT_EQ(told[0].won, verdict == CandidateVerdict::kWon);
    }
    state.codes = {"OTHER"};
    EXPECT_EQ(candidates_then(state, *reader)[0].source, "code SAVE") << "the code of then";
}

TEST_P(Explain, WhichOfTheProgramsCountFromTheNextTryOn) {
    Program clicks_only = program("summer");
    clicks_only.precedence = {AttributionType::kLanded};
    Program codes_only = program("codes");
    codes_only.precedence = {AttributionType::kAffiliateCode};
    books.apply({program(), clicks_only, codes_only});
    books.creator("c2", "summer", "LATE");
    books.click("dev", "c1", "spring", "2026-01-09T00:00:00Z");
    books.command(CreatorRemove{CreatorId("c1"), ProgramId("spring"), {}});
    OrderText late = order();
    late.codes = {"LATE"};
    books.create(late, "dev");
    EXPECT_EQ(books.creator_of(), "unattributed");
    EXPECT_THAT(text(), HasSubstr("precedence leaves AFFILIATE_CODE out"));
    EXPECT_THAT(text(), HasSubstr("the creator is not in the program"));
    late.id = "o2";
    books.create(late);
    EXPECT_THAT(text("o2"), testing::Not(HasSubstr("click of"))) << "it has no anonymous id";
}

TEST_P(Explain, GrossAmountsVariantsAndRatesOfAnotherCurrency) {
    Program gross = program("gross", "10%");
    gross.base = BaseKind::kGross;
    Program euros = program("euros", "1.50 EUR");
    books.apply({gross, euros});
    books.creator("c1", "gross", "GROSS");
    books.creator("c1", "euros", "EUROS");
    OrderText taxed = order();
    taxed.codes = {"GROSS"};
    taxed.lines[0].variant_sku = "SKU-blue";
    books.create(taxed);
    EXPECT_THAT(text(), HasSubstr("gross: 100.00"));
    EXPECT_THAT(text(), HasSubstr("variant SKU-blue"));
    const auto said = nlohmann::json::parse(json_text());
    EXPECT_EQ(said["lines"][0]["variant_sku"], "SKU-blue");
    OrderText dollars = order();
    dollars.id = "o2";
    dollars.codes = {"EUROS"};
    books.create(dollars);
    EXPECT_THAT(text("o2"), HasSubstr("no rate of euros, version 1"));
    EXPECT_THAT(text("o2"), HasSubstr("0: no rate matched"));
}

TEST_P(Explain, TheJsonOfAnUnattributedCancelledOrder) {
    OrderText unattributed = order();
    unattributed.codes = {};
    books.create(unattributed);
    OrderText stale = unattributed;
    stale.updated = stale.cancelled = "2026-01-09T00:00:00Z";
    books.cancel(stale);
    OrderText undated = unattributed;
    undated.updated = "2026-01-11T00:00:00Z";
    books.cancel(undated);
    OrderText cancelled = unattributed;
    cancelled.updated = cancelled.cancelled = "2026-01-12T00:00:00Z";
    books.cancel(cancelled);
    const auto said = nlohmann::json::parse(json_text());
    EXPECT_EQ(said["cancelled_at"], "2026-01-12T00:00:00Z");
    EXPECT_EQ(said["attribution"]["creator_id"], nullptr);
    EXPECT_EQ(said["attribution"]["program_id"], nullptr);
    EXPECT_EQ(said["events"][1]["decision"], "stale");
    EXPECT_EQ(said["events"][2]["anomalies"].size(), 1U);
    EXPECT_THAT(text(), HasSubstr("it does not cancel the order"));
    EXPECT_THAT(text(), HasSubstr("it cancels the order"));
}

TEST_P(Explain, AnUnknownOrderIsNotFound) {
    EXPECT_EQ(explain_order(*books.read(), {{1}, {99}, OrderId("o1")}).error().code,
              ErrorCode::kNotFound)
        << "nor a shop";
    EXPECT_EQ(explain_order(*books.read(), {{1}, {1}, OrderId("no")}).error().code,
              ErrorCode::kNotFound);
}

/// Orders of two creators, two programs and two accounts, whose policies block other anomalies.
void begin_mixed_orders(Books& books) {
    Program slow = program("slow");
    slow.clearing_days = 60;
    books.apply({slow});
    books.creators({{2, CreatorId("c2"), ProgramId("spring"), "TWO"},
                    {3, CreatorId("c2"), ProgramId("slow"), "SLOW"}});
    const auto create = [&books](const char* id, const char* code, const char* amount = "") {
        OrderText text = order();
        text.id = id;
        text.codes = {code};
        text.amount = amount;
        books.create(text);
    };
    create("held", "SAVE");
    create("free", "TWO");
    create("slow", "SLOW");
    create("loud", "TWO", "1.00");  // less than its lines
    books.command(Hold{{std::nullopt, CreatorId("c1"), ProgramId("spring")}});

    books.from_shop("shop-9");
    Program foreign = program("foreign");
    foreign.account_id = AccountId("other");
    foreign.account = {2};
    Policy tolerant;
    tolerant.account_id = AccountId("other");
    tolerant.account = {2};
    tolerant.blocking.emplace();
    books.command(ProgramApply{{foreign}, {tolerant}});
    books.creator("c1", "foreign", "SAVE");
    create("loud", "SAVE", "1.00");
}

TEST_P(Explain, OneJudgeOfManyOrdersMixesNoCreatorsProgramsOrAccounts) {
    begin_mixed_orders(books);
    const auto reader = books.read();
    OrderJudge judge(*reader);
    const auto judged = [&](std::uint32_t account, std::uint32_t shop, const char* id) {
        OrderState order;
        EXPECT_TRUE(reader->load_order({{account}, {shop}, OrderId(id)}, order)) << id;
        std::string text(judge.status(order, instant("2026-02-01T00:00:00Z")));
        for (const std::string& block : judge.blocked_by(order)) {
            text += " " + block;
        }
        return text;
    };
    for (int i = 0; i < 2; ++i) {  // what it reads, and what it keeps
        EXPECT_EQ(judged(1, 1, "held"), "blocked CREATOR_HOLD");
        EXPECT_EQ(judged(1, 1, "free"), "payable");
        EXPECT_EQ(judged(1, 1, "slow"), "pending");
        EXPECT_EQ(judged(1, 1, "loud"), "blocked LINES_EXCEED_AMOUNT");
        EXPECT_EQ(judged(2, 9, "loud"), "payable");
    }
}

TEST_P(Explain, HotOrdersShowEveryEvent) {
    for (std::size_t i = 0; i < kEventsInlineMax + 5; ++i) {
        OrderText again = order();
        again.shipping = std::to_string(i);
        books.update(again);
    }
    EXPECT_EQ(explain().events.size(), kEventsInlineMax + 5);
}

}  // namespace
}  // namespace sluice::test
