// Rules A1 and A2: candidates, who wins, and orders that are attributed late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/apply/work.hpp"
#include "core/protocol/personal_ids.hpp"
#include "unit/ledger/rules_fixture.hpp"
#include "unit/whole_form.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kBought = "2026-01-31T00:00:00Z";

OrderText with(std::vector<std::string> codes, const char* updated = kBought) {
    OrderText order;
    order.ordered = kBought;
    order.updated = updated;
    order.codes = std::move(codes);
    return order;
}

class AttributionRules : public EmptyBooksTest {
protected:
    void SetUp() override {
        books.apply({program("p1"), program("p2")});
        books.creators({{2, CreatorId("ann"), ProgramId("p1"), "ANN"},
                        {3, CreatorId("ben"), ProgramId("p1"), "BEN"},
                        {4, CreatorId("ann"), ProgramId("p2"), "ANN"},
                        {5, CreatorId("cy"), ProgramId("p2"), "CY"}});
    }
    std::string attributed(const OrderText& order, std::string_view anon = {}) {
        books.create(order, anon);
        return books.creator_of(order.id);
    }
    static Program ordered_by(std::string_view id, std::vector<AttributionType> precedence) {
        Program changed = program(id);
        changed.precedence = std::move(precedence);
        return changed;
    }
    static constexpr AttributionType kCode = AttributionType::kAffiliateCode;
    static constexpr AttributionType kLanded = AttributionType::kLanded;
};
SLUICE_FOR_EVERY_LEDGER(AttributionRules);

TEST_P(AttributionRules, A1_CodesCompareIgnoringAsciiCase) {
    EXPECT_EQ(attributed(with({"bEn"})), "ben@p1 CODE");
}

TEST_P(AttributionRules, A1_OnlyAsciiLettersAreFolded) {
    books.creator("dora", "p1", "CAFÉ");
    EXPECT_EQ(attributed(with({"café"})), "unattributed");
    OrderText order = with({"cafÉ"});
    order.id = "o2";
    EXPECT_EQ(attributed(order), "dora@p1 CODE");
}

TEST_P(AttributionRules, A1_TheFirstCodeOfTheOrderWins) {
    EXPECT_EQ(attributed(with({"UNKNOWN", "CY", "BEN", "ANN"})), "cy@p2 CODE");
}

TEST_P(AttributionRules, A1_OneCodeInTwoProgramsGoesToTheLowestProgramId) {
    EXPECT_EQ(attributed(with({"ANN"})), "ann@p1 CODE");
}

TEST_P(AttributionRules, A1_TheLatestClickWinsAmongPrograms) {
    books.click("dev", "ben", "p1", "2026-01-10T00:00:00Z");
    books.click("dev", "cy", "p2", "2026-01-10T00:00:00.000000001Z");
    EXPECT_EQ(attributed(with({}), "dev"), "cy@p2 LANDED");
}

TEST_P(AttributionRules, A1_ClicksAtOneInstantGoToTheLowestProgramId) {
    books.click("dev", "cy", "p2", "2026-01-10T00:00:00Z");
    books.click("dev", "ben", "p1", "2026-01-10T00:00:00Z");
    EXPECT_EQ(attributed(with({}), "dev"), "ben@p1 LANDED");
}

TEST_P(AttributionRules, A1_WithinAProgramTheLatestClickAndThenTheLastImportedWins) {
    books.click("dev", "ben", "p1", "2026-01-10T00:00:00Z");
    books.click("dev", "ann", "p1", "2026-01-09T00:00:00Z");
    EXPECT_EQ(attributed(with({}), "dev"), "ben@p1 LANDED");
    books.click("dev2", "ben", "p1", "2026-01-10T00:00:00Z");
    books.click("dev2", "ann", "p1", "2026-01-10T00:00:00Z");
    OrderText second = with({});
    second.id = "o2";
    EXPECT_EQ(attributed(second, "dev2"), "ann@p1 LANDED");
    books.click("dev2", "ben", "p1", "2026-01-10T00:00:00Z");  // The same click, imported again.
    OrderText third = with({});
    third.id = "o3";
    EXPECT_EQ(attributed(third, "dev2"), "ben@p1 LANDED");
}

TEST_P(AttributionRules, A1_TheWindowIncludesBothEnds) {
    Program ten_days = program("p1");
    ten_days.window_days = 10;
    books.apply({ten_days});
    const std::pair<const char*, const char*> cases[] = {
        {"2026-01-21T00:00:00Z", "ben@p1 LANDED"},
        {"2026-01-20T23:59:59.999999999Z", "unattributed"},
        {"2026-01-31T00:00:00Z", "ben@p1 LANDED"},
        {"2026-01-31T00:00:00.000000001Z", "unattributed"},
    };
    for (const auto& [touched, expected] : cases) {
        books.click(touched, "ben", "p1", touched);
        OrderText order = with({});
        order.id = touched;
        EXPECT_EQ(attributed(order, touched), expected) << touched;
    }
}

TEST_P(AttributionRules, A1_AWindowOfZeroDaysTakesTheInstantOfTheOrder) {
    Program none = program("p1");
    none.window_days = 0;
    books.apply({none});
    books.click("dev", "ben", "p1", kBought);
    EXPECT_EQ(attributed(with({}), "dev"), "ben@p1 LANDED");
}

TEST_P(AttributionRules, A1_BetweenProgramsACodeBeatsAClick) {
    books.apply({ordered_by("p2", {kLanded, kCode})});
    books.click("dev", "cy", "p2", "2026-01-30T00:00:00Z");
    EXPECT_EQ(attributed(with({"BEN"}), "dev"), "ben@p1 CODE");
}

TEST_P(AttributionRules, A1_WithinAProgramThePrecedenceDecides) {
    books.apply({ordered_by("p1", {kLanded, kCode})});
    books.click("dev", "ann", "p1", "2026-01-30T00:00:00Z");
    EXPECT_EQ(attributed(with({"BEN"}), "dev"), "ann@p1 LANDED");
}

TEST_P(AttributionRules, A1_ATypeThatThePrecedenceDoesNotNameIsLeftOut) {
    books.apply({ordered_by("p1", {kCode})});
    books.click("dev", "ben", "p1", "2026-01-30T00:00:00Z");
    EXPECT_EQ(attributed(with({}), "dev"), "unattributed");
    OrderText order = with({"BEN"});
    order.id = "o2";
    EXPECT_EQ(attributed(order, "dev"), "ben@p1 CODE");
}

TEST_P(AttributionRules, A1_AllTypesThatPointToTheWinnerAreRecorded) {
    books.click("dev", "ben", "p1", "2026-01-30T00:00:00Z");
    EXPECT_EQ(attributed(with({"BEN"}), "dev"), "ben@p1 CODE+LANDED");
}

TEST_P(AttributionRules, A1_AClickOfTheWinnerInAnotherProgramIsNotRecorded) {
    books.click("dev", "ann", "p2", "2026-01-30T00:00:00Z");
    EXPECT_EQ(attributed(with({"ANN"}), "dev"), "ann@p1 CODE");
}

TEST_P(AttributionRules, A1_OnlyTheLatestClickOfAProgramIsACandidate) {
    books.click("dev", "ben", "p1", "2026-01-20T00:00:00Z");
    books.click("dev", "ann", "p1", "2026-01-30T00:00:00Z");
    EXPECT_EQ(attributed(with({"BEN"}), "dev"), "ben@p1 CODE");
}

TEST_P(AttributionRules, A1_OnlyCoveringProgramsOfTheAccountCount) {
    Program other_shop = program("p1");
    other_shop.shops = {"shop-2"};
    books.apply({other_shop});
    EXPECT_EQ(attributed(with({"BEN"})), "unattributed");
    books.from_shop("shop-2");
    EXPECT_EQ(attributed(with({"BEN"})), "ben@p1 CODE");
    books.from_shop("shop-9");
    EXPECT_EQ(attributed(with({"BEN"})), "unattributed");
}

TEST_P(AttributionRules, A1_EveryLoserKeepsTheReasonWhyItLost) {
    books.click("dev", "ann", "p1", "2026-01-30T00:00:00Z");
    books.click("dev", "cy", "p2", "2026-01-30T00:00:00Z");
    books.create(with({"BEN", "CY"}), "dev");
    std::vector<std::string> verdicts;
    const OrderState order = books.order();
    for (const Candidate& candidate : order.position()->attribution.candidates) {
        verdicts.push_back(candidate.program.str() + "/" + candidate.creator.str() + "=" +
                           std::to_string(static_cast<int>(candidate.verdict)));
    }
    EXPECT_THAT(verdicts, ElementsAre("p1/ben=1", "p2/cy=3", "p1/ann=4", "p2/cy=5"));
}

TEST_P(AttributionRules, A1_TheWinnerAndAtMost15LosersAreKept) {
    std::vector<std::string> codes;
    for (int i = 0; i < 20; ++i) {
        codes.push_back("CODE-" + std::to_string(i));
        books.creator("creator-" + std::to_string(i), "p1", codes.back());
    }
    EXPECT_EQ(attributed(with(codes)), "creator-0@p1 CODE");
    const OrderState order = books.order();
    const auto candidates = order.position()->attribution.candidates;
    ASSERT_EQ(candidates.size(), kCandidatesMax);
    EXPECT_EQ(candidates.front().creator, CreatorId("creator-0"));
    EXPECT_EQ(candidates.front().verdict, CandidateVerdict::kWon);
}

TEST_P(AttributionRules, A2_OnceAttributedAnOrderKeepsItsCreator) {
    books.create(with({"BEN"}));
    books.click("dev", "cy", "p2", "2026-01-30T00:00:00Z");
    books.update(with({"CY"}, "2026-02-01T00:00:00Z"), "dev");
    EXPECT_EQ(books.creator_of(), "ben@p1 CODE");
    books.command(CreatorRemove{CreatorId("ben"), ProgramId("p1"), std::nullopt});
    OrderText more = with({"BEN"}, "2026-02-02T00:00:00Z");
    more.lines.push_back({.id = "l2"});
    books.update(more);
    EXPECT_EQ(books.creator_of(), "ben@p1 CODE");
    EXPECT_EQ(books.commission(), "20.00 USD");
}

TEST_P(AttributionRules, A2_ALaterEventOfTheOrderTriesAgain) {
    books.create(with({}));
    EXPECT_EQ(books.creator_of(), "unattributed");
    books.update(with({"BEN"}, "2026-02-01T00:00:00Z"));
    EXPECT_EQ(books.creator_of(), "ben@p1 CODE");
    EXPECT_THAT(books.journal(),
                ElementsAre(std::to_string(books.last_seq().value) + " o1/l1 10.00 USD ACCRUAL"));
}

TEST_P(AttributionRules, J1_AnImportThatAttributesIsTheInputOfItsEntries) {
    books.create(with({}), "dev");
    books.update(with({}, "2026-01-01T00:00:00Z"), "dev");  // Stale.
    books.click("dev", "ben", "p1", "2026-01-30T00:00:00Z");
    EXPECT_EQ(books.creator_of(), "ben@p1 LANDED");
    const std::string import = std::to_string(books.last_seq().value);
    EXPECT_THAT(books.journal(), ElementsAre(import + " o1/l1 10.00 USD ATTRIBUTION"));
}

TEST_P(AttributionRules, A2_AnImportedCodeAttributesWaitingOrders) {
    books.create(with({"late"}));
    books.creator("dan", "p2", "LATE");
    EXPECT_EQ(books.creator_of(), "dan@p2 CODE");
}

TEST_P(AttributionRules, A2_AProgramFileAttributesWaitingOrders) {
    Program narrow = program("p1");
    narrow.window_days = 1;
    books.apply({narrow});
    books.click("dev", "ben", "p1", "2026-01-20T00:00:00Z");
    books.create(with({}), "dev");
    EXPECT_EQ(books.creator_of(), "unattributed");
    books.apply({program("p1")});
    EXPECT_EQ(books.creator_of(), "ben@p1 LANDED");
}

TEST_P(AttributionRules, A2_JoiningAProgramMakesEarlierClicksCount) {
    books.click("dev", "eve", "p1", "2026-01-20T00:00:00Z");
    books.create(with({}), "dev");
    EXPECT_EQ(books.creator_of(), "unattributed");
    books.creator("eve", "p1");
    EXPECT_EQ(books.creator_of(), "eve@p1 LANDED");
}

TEST_P(AttributionRules, A2_AFileIsJudgedAsAWhole) {
    books.create(with({}), "dev");
    books.command(ClickImport{{{2, anon_digest("dev"), CreatorId("ben"), ProgramId("p1"),
                                instant("2026-01-10T00:00:00Z")},
                               {3, anon_digest("dev"), CreatorId("ann"), ProgramId("p1"),
                                instant("2026-01-20T00:00:00Z")}}});
    EXPECT_EQ(books.creator_of(), "ann@p1 LANDED");
}

TEST_P(AttributionRules, A2_TheNewestPayloadSaysWhichCodesAnOrderWaitsFor) {
    books.create(with({"OLD"}), "dev");
    books.update(with({"NEW"}, "2026-02-01T00:00:00Z"));
    books.creator("dan", "p1", "OLD");
    EXPECT_EQ(books.creator_of(), "unattributed");
    books.creator("dan", "p1", "NEW");
    EXPECT_EQ(books.creator_of(), "dan@p1 CODE");
}

TEST_P(AttributionRules, A2_CancelledOrdersAreAttributedAtZero) {
    OrderText order = with({"BEN"});
    order.cancelled = kBought;
    EXPECT_EQ(attributed(order), "ben@p1 CODE");
    EXPECT_EQ(books.commission(), "0.00 USD");
    EXPECT_THAT(books.journal(), IsEmpty());
}

TEST_P(AttributionRules, A2_ManyWaitingOrdersAreDoneInSlices) {
    for (int i = 0; i < 40; ++i) {
        OrderText order = with({"LATE"});
        order.id = "many-" + std::to_string(i);
        books.create(order, "dev-" + std::to_string(i % 7));
    }
    books.work_slice = 3;
    books.creator("dan", "p2", "LATE");
    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(books.creator_of("many-" + std::to_string(i)), "dan@p2 CODE");
    }
    EXPECT_FALSE(ledger->begin("11111111-2222-3333-4444-555555555555")->first_work());
}

/// A program file looks at every key of the account, in slices that may end anywhere.
TEST_P(AttributionRules, A2_AProgramFileAttributesManyWaitingOrdersInSlices) {
    Program narrow = program("p9");
    narrow.shops = {"shop-2"};
    books.apply({narrow});
    books.creator("dan", "p9", "LATE");
    constexpr int kOrders = static_cast<int>(kWorkInline) / 2 + 8;
    for (int i = 0; i < kOrders; ++i) {
        books.click("dev-" + std::to_string(i), "dan", "p9", "2026-01-20T00:00:00Z");
        OrderText touched = with({"NOBODYS-" + std::to_string(i)});
        touched.id = "t" + std::to_string(i);
        books.create(touched, "dev-" + std::to_string(i));
        OrderText coded = with({"LATE"});
        coded.id = "c" + std::to_string(i);
        books.create(coded, "unseen");
    }
    using Slices = std::vector<std::size_t>;
    for (const std::size_t slice : whole_or_short(Slices{1, 7}, Slices{7})) {
        books.work_slice = slice;
        Program wide = program("p9");
        wide.clearing_days = static_cast<std::uint32_t>(slice);
        books.apply({wide});
        EXPECT_FALSE(ledger->begin(Books::kNode)->first_work());
        for (int i = 0; i < kOrders; ++i) {
            EXPECT_EQ(books.creator_of("t" + std::to_string(i)), "dan@p9 LANDED") << i;
            EXPECT_EQ(books.creator_of("c" + std::to_string(i)), "dan@p9 CODE") << i;
        }
    }
}

TEST_P(AttributionRules, A2_WorkBeyondOneStepContinues) {
    constexpr int kOrders = static_cast<int>(kWorkInline) + 30;
    for (int i = 0; i < kOrders; ++i) {
        OrderText order = with({});
        order.id = "w" + std::to_string(i);
        books.create(order, "same");
    }
    books.work_slice = 10;
    books.click("same", "ben", "p1", "2026-01-30T00:00:00Z");
    EXPECT_EQ(books.journal().size(), static_cast<std::size_t>(kOrders));
}

TEST_P(AttributionRules, M4_AMonthBeyondOneStepIsRatedInItsOrder) {
    constexpr int kOrders = static_cast<int>(kWorkInline) + 30;
    Program month = program("p1");
    month.default_tiers = {{*parse_money("30000.00 USD"), *parse_rate("20%")}};
    month.tiers_apply = TiersApply::kMonth;
    books.apply({month});
    books.work_slice = 10;
    for (int i = 0; i < kOrders; ++i) {
        OrderText order = with({"ANN"});
        order.id = "m" + std::to_string(1000 + i);
        order.lines[0].amount = "100.00";
        books.create(order);
    }
    EXPECT_EQ(books.commission("m1000"), "10.00 USD");
    OrderText last = with({"ANN"});
    last.id = "last";
    last.lines[0].amount = "2000.00";
    books.create(last);
    EXPECT_EQ(books.commission("last"), "400.00 USD");
    for (int i = 0; i < kOrders; ++i) {
        EXPECT_EQ(books.commission("m" + std::to_string(1000 + i)), "20.00 USD") << i;
    }
    const std::vector<std::string> journal = books.journal();
    ASSERT_EQ(journal.size(), static_cast<std::size_t>(2 * kOrders + 1));
    for (int i = 0; i < kOrders; ++i) {
        EXPECT_THAT(journal[static_cast<std::size_t>(kOrders + 1 + i)],
                    testing::EndsWith("m" + std::to_string(1000 + i) + "/l1 10.00 USD TIER"));
    }
    EXPECT_FALSE(ledger->begin(Books::kNode)->first_work());
}

TEST_P(AttributionRules, RemovedCreatorsGetNothingNew) {
    books.click("dev", "ben", "p1", "2026-01-30T00:00:00Z");
    books.click("dev", "ann", "p1", "2026-01-29T00:00:00Z");
    EXPECT_FALSE(
        books.command(CreatorRemove{CreatorId("ben"), ProgramId("p1"), std::nullopt}).failed);
    EXPECT_EQ(attributed(with({"BEN"}), "dev"), "ann@p1 LANDED");
    books.creator("ben", "p1", "BEN");  // the full list again
    OrderText back = with({"BEN"});
    back.id = "o2";
    EXPECT_EQ(attributed(back, "dev"), "ann@p1 LANDED");
    const std::string said = books
                                 .creators({{2, CreatorId("ben"), ProgramId("p1"), ""},
                                            {3, CreatorId("ben"), ProgramId("p1"), "NEW"},
                                            {4, CreatorId("ann"), ProgramId("p1"), ""}})
                                 .text;
    EXPECT_EQ(
        said,
        "no change: no row was imported; 2 rows of creators who were removed stay out without "
        "dates: line 2 ben, line 3 ben; 1 row states what is stored already: line 4 ann");
    back.codes = {"NEW"};
    back.id = "o4";
    EXPECT_EQ(attributed(back, "dev"), "ann@p1 LANDED");
    back.codes = {"BEN"};
    CreatorImport::Row dated{2, CreatorId("ben"), ProgramId("p1"), "BEN"};
    dated.valid_from = instant("2026-01-01T00:00:00Z");
    books.creators({dated});
    back.id = "o3";
    EXPECT_EQ(attributed(back, "dev"), "ben@p1 CODE+LANDED");
}

TEST_P(AttributionRules, A2_AnEffectiveDateBringsBackARemovedCreatorWithoutACode) {
    books.click("dev", "ben", "p1", "2026-01-30T00:00:00Z");
    books.command(CreatorRemove{CreatorId("ben"), ProgramId("p1"), std::nullopt});
    CreatorImport list;
    list.rows = {{2, CreatorId("ben"), ProgramId("p1"), ""}};
    list.rows.front().payee = "another account";
    books.command(list);
    CreatorRow profile{{1}, CreatorId("ben"), {}, {}, {}};
    ASSERT_TRUE(books.read()->load(profile));
    EXPECT_EQ(profile.payee, "") << "who is out is not paid elsewhere";
    EXPECT_EQ(attributed(with({}), "dev"), "unattributed");
    list.effective_from = instant("2026-01-01T00:00:00Z");
    books.command(list);
    OrderText back = with({});
    back.id = "o2";
    EXPECT_EQ(attributed(back, "dev"), "ben@p1 LANDED");
}

TEST_P(AttributionRules, RemovingACodeTakesOnlyThatCode) {
    books.creator("ben", "p1", "SECOND");
    EXPECT_FALSE(books
                     .command(CreatorRemove{CreatorId("ben"), ProgramId("p1"), "ben",
                                            instant("2026-01-15T00:00:00Z")})
                     .failed);
    EXPECT_EQ(attributed(with({"BEN"})), "unattributed");
    OrderText order = with({"SECOND"});
    order.id = "o2";
    EXPECT_EQ(attributed(order), "ben@p1 CODE");
    OrderText before = with({"BEN"});
    before.id = "o3";
    before.ordered = "2026-01-14T23:59:59Z";
    EXPECT_EQ(attributed(before), "ben@p1 CODE") << "valid until it was taken away, end excluded";
}

TEST_P(AttributionRules, ImportOfAnOwnedCodeFailsTheWholeFileWithItsLine) {
    const Applied applied = books.creators({{2, CreatorId("dan"), ProgramId("p1"), "FREE"},
                                            {3, CreatorId("dan"), ProgramId("p1"), "ann"}});
    EXPECT_TRUE(applied.failed);
    EXPECT_EQ(applied.text, "line 3: code ann belongs to creator ann in program p1");
    EXPECT_EQ(attributed(with({"FREE"})), "unattributed");
    EXPECT_EQ(applied.input_class, InputClass::kCommand);
}

TEST_P(AttributionRules, AnImportListsTheRowsThatChangeNothing) {
    CreatorImport list;
    list.rows = {{2, CreatorId("ben"), ProgramId("p1"), "ben"},
                 {3, CreatorId("ann"), ProgramId("p1"), ""},
                 {4, CreatorId("dan"), ProgramId("p1"), "DAN"}};
    EXPECT_EQ(books.command(list).text,
              "1 row imported; 2 rows state what is stored already: line 2 ben ben, line 3 ann");
    list.effective_from = instant("2025-01-01T00:00:00Z");
    EXPECT_EQ(books.command(list).text,
              "no change: no row was imported; 3 rows state what is stored already: line 2 ben "
              "ben, line 3 ann, line 4 dan DAN; --effective-from dates new codes only: valid_from "
              "dates a code that is stored");
    list.rows.front().valid_from = instant("2025-01-01T00:00:00Z");
    EXPECT_THAT(books.command(list).text, testing::StartsWith("1 row imported; 2 rows state"));
    list.rows = {{2, CreatorId("ann"), ProgramId("p1"), ""}};
    list.rows.front().group = "gold";
    EXPECT_EQ(books.command(list).text, "1 row imported");
    EXPECT_THAT(books.command(list).text, testing::StartsWith("no change"));
}

TEST_P(AttributionRules, ACommandThatChangesNothingSaysSo) {
    books.names_shop = false;
    CreatorSet named{CreatorId("ann"), "Ann", std::nullopt, std::nullopt, std::nullopt};
    EXPECT_EQ(books.command(named).text, "creator ann set");
    EXPECT_EQ(books.command(named).text, "no change: creator ann is so already");
    const CreatorRemove removed{CreatorId("ben"), ProgramId("p1"), "BEN",
                                instant("2026-01-15T00:00:00Z")};
    EXPECT_EQ(books.command(removed).text, "code BEN removed from 2026-01-15T00:00:00Z on");
    EXPECT_EQ(books.command(removed).text, "no change: code BEN ended before 2026-01-15T00:00:00Z");
}

/// A2: the row stays, also if it begins after the end, so that the full list without dates leaves
/// it, and the code remains one that ben had (K13).
TEST_P(AttributionRules, ACodeThatIsRemovedBeforeItBeganStaysRemoved) {
    CreatorImport dated;
    dated.rows = {{2, CreatorId("ben"), ProgramId("p1"), "XMAS"}};
    dated.rows.front().valid_from = instant("2027-12-01T00:00:00Z");
    EXPECT_EQ(books.command(dated).text, "1 row imported");
    for (const auto& [code, at] :
         {std::pair("XMAS", "2026-02-01T00:00:00Z"), std::pair("BEN", "2000-01-01T00:00:00Z")}) {
        const CreatorRemove removed{CreatorId("ben"), ProgramId("p1"), code, instant(at)};
        EXPECT_EQ(books.command(removed).text,
                  "code " + std::string(code) + " removed from " + at + " on");
        EXPECT_EQ(books.command(removed).text,
                  "no change: code " + std::string(code) + " ended before " + at);
        CreatorImport list;
        list.rows = {{2, CreatorId("ben"), ProgramId("p1"), code}};
        EXPECT_THAT(books.command(list).text,
                    testing::EndsWith("stays so without dates: line 2 " + std::string(code)));
        EXPECT_THAT(books.read()->code_owners(kAcme, code_digest(code)),
                    testing::ElementsAre(testing::Field(&CodeRow::creator, CreatorId("ben"))));
    }
    EXPECT_EQ(attributed(with({"BEN"}), ""), "unattributed");
    dated.rows = {{2, CreatorId("ann"), ProgramId("p1"), "XMAS"}};
    dated.rows.front().valid_from = instant("2027-11-01T00:00:00Z");
    EXPECT_EQ(books.command(dated).text, "1 row imported");
}

TEST_P(AttributionRules, ACodeTwiceInOneFileBelongsToTheFirst) {
    EXPECT_EQ(books
                  .creators({{2, CreatorId("dan"), ProgramId("p1"), "FREE"},
                             {3, CreatorId("eve"), ProgramId("p1"), "free"}})
                  .text,
              "line 3: code free belongs to creator dan in program p1");
    EXPECT_FALSE(books
                     .creators({{2, CreatorId("dan"), ProgramId("p1"), "FREE"},
                                {3, CreatorId("eve"), ProgramId("p2"), "free"},
                                {4, CreatorId("dan"), ProgramId("p1"), "free"}})
                     .failed);
}

}  // namespace
}  // namespace sluice::test
