// Clicks that servers post: kept, counted, deleted, and what they attribute.
#include "core/orders/clicks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "core/ledger/list_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/lists/clicks.hpp"
#include "core/protocol/click_record.hpp"
#include "core/protocol/personal_ids.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kNoon = "2026-03-01T12:00:00Z";

RecordedClick clicked(std::string_view device, std::string_view creator, std::string_view at,
                      std::string_view link = {}, std::string_view program = "spring") {
    return {anon_digest(device), instant(at), LinkId(link), ProgramId(program), CreatorId(creator)};
}

OrderText ordered(std::string_view at, std::string_view id = "o1") {
    OrderText order;
    order.id = id;
    order.ordered = at;
    order.lines[0].amount = "80.00";
    return order;
}

std::vector<std::string> stored_clicks(Books& books) {
    std::vector<std::string> clicks;
    books.read()->scan(Click{}, {}, [&](const Click& click) {
        clicks.push_back(click.creator.str() + " " + click.occurred_at.to_string() +
                         (click.link.empty() ? "" : " " + click.link.str()) + " " +
                         std::string(to_string(click.source)));
        return true;
    });
    std::sort(clicks.begin(), clicks.end());
    return clicks;
}

std::size_t clicks_to_delete(Books& books) {
    std::size_t count = 0;
    books.read()->scan(ClickByReceipt{}, {}, [&count](const ClickByReceipt&) {
        ++count;
        return true;
    });
    return count;
}

std::string text(const ClickFigures& figures) {
    return figures.clicks.to_string() + " clicks, " + figures.devices.to_string() + " devices, " +
           figures.orders.to_string() + " orders";
}

/// "20260301 anna anna-mug: 1 clicks, 1 devices, 0 orders"
std::vector<std::string> days(Books& books) {
    std::vector<std::string> rows;
    books.read()->scan(ClickDay{}, {}, [&](const ClickDay& row) {
        rows.push_back(std::to_string(row.day) + " " + row.creator.str() + " " + row.link.str() +
                       ": " + text(row));
        return true;
    });
    return rows;
}

std::vector<std::string> months(Books& books) {
    std::vector<std::string> rows;
    books.read()->scan(ClickMonth{}, {}, [&](const ClickMonth& row) {
        rows.push_back(std::to_string(row.month) + " " + row.creator.str() + " " + row.link.str() +
                       ": " + text(row));
        return true;
    });
    return rows;
}

std::vector<std::string> earnings(Books& books) {
    std::vector<std::string> rows;
    books.read()->scan(LinkDay{}, {}, [&](const LinkDay& row) {
        rows.push_back(std::to_string(row.day) + " " + row.link.str() + " " +
                       row.earned.to_string() + " " + row.adjusted.to_string() + " " +
                       std::string(row.currency.code()));
        return true;
    });
    return rows;
}

class PostedClicks : public EmptyBooksTest {
protected:
    void SetUp() override {
        books.receive_at("2026-02-01T00:00:00Z");
        books.apply({program()});
        books.creator("anna", "spring");
        books.creator("ben", "spring");
        books.receive_at("2026-03-01T12:00:01Z");
    }
};
SLUICE_FOR_EVERY_LEDGER(PostedClicks);

TEST_P(PostedClicks, AnOrderAfterAClickIsItsCreators) {
    EXPECT_EQ(books.clicks({clicked("d1", "anna", kNoon)}).input_class, InputClass::kClicks);
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    EXPECT_EQ(books.creator_of(), "anna@spring LANDED");
    EXPECT_EQ(books.totals().clicks, 1U);
}

TEST_P(PostedClicks, A2_AnOrderThatWaitsIsAttributedByAClick) {
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    EXPECT_EQ(books.creator_of(), "unattributed");
    books.clicks({clicked("d1", "anna", kNoon)});
    EXPECT_EQ(books.creator_of(), "anna@spring LANDED");
    EXPECT_THAT(books.journal(), ElementsAre(std::to_string(books.last_seq().value) +
                                             " o1/l1 8.00 USD ATTRIBUTION"));
}

TEST_P(PostedClicks, AClickThatComesAgainChangesNothing) {
    books.clicks({clicked("d1", "anna", kNoon, "anna-mug")});
    const std::vector<std::string> counted = days(books);
    books.clicks({clicked("d1", "anna", kNoon, "other"), clicked("d1", "anna", kNoon)});
    EXPECT_THAT(stored_clicks(books), ElementsAre("anna 2026-03-01T12:00:00Z anna-mug post"));
    EXPECT_EQ(days(books), counted);
}

TEST_P(PostedClicks, A1_TheLatestClickWins) {
    books.clicks({clicked("d1", "anna", kNoon), clicked("d1", "ben", "2026-03-01T12:03:00Z")});
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    EXPECT_EQ(books.creator_of(), "ben@spring LANDED");
}

TEST_P(PostedClicks, A1_OfTwoAtOneInstantTheLastInTheLogWins) {
    books.clicks({clicked("d1", "anna", kNoon)});
    books.clicks({clicked("d1", "ben", kNoon)});
    books.clicks({clicked("d1", "anna", kNoon)});  // stored already: keeps its place
    books.clicks({clicked("d2", "ben", kNoon), clicked("d2", "anna", kNoon)});
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    books.create(ordered("2026-03-01T12:05:00Z", "o2"), "d2");
    EXPECT_EQ(books.creator_of("o1"), "ben@spring LANDED");
    EXPECT_EQ(books.creator_of("o2"), "anna@spring LANDED");
}

TEST_P(PostedClicks, A1_ARepeatedImportRaisesTheRankOfAPostedClick) {
    books.clicks({clicked("d1", "anna", kNoon, "anna-mug")});
    books.clicks({clicked("d1", "ben", kNoon)});
    books.click("d1", "anna", "spring", kNoon);
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    EXPECT_EQ(books.creator_of(), "anna@spring LANDED");
    EXPECT_THAT(stored_clicks(books), ElementsAre("anna 2026-03-01T12:00:00Z anna-mug post",
                                                  "ben 2026-03-01T12:00:00Z post"));
}

TEST_P(PostedClicks, AClickOfAnUnknownProgramCountsOnceProgramAndCreatorAreThere) {
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    books.clicks({clicked("d1", "cy", kNoon, {}, "summer")});
    EXPECT_EQ(books.creator_of(), "unattributed");
    books.apply({program("summer")});
    EXPECT_EQ(books.creator_of(), "unattributed");
    books.creator("cy", "summer");
    EXPECT_EQ(books.creator_of(), "cy@summer LANDED");
}

TEST_P(PostedClicks, A2_AClickReachesAsFarBackAsTheProgramSays) {
    Program near = program();
    near.late_days = 30;
    books.apply({near});
    books.create(ordered("2026-01-29T00:00:00Z"), "d1");
    books.create(ordered("2026-01-31T00:00:00Z", "o2"), "d1");
    books.clicks({clicked("d1", "anna", "2026-01-28T00:00:00Z")});  // 30 days before 1 March
    EXPECT_EQ(books.creator_of("o1"), "unattributed");
    EXPECT_EQ(books.creator_of("o2"), "anna@spring LANDED");
}

TEST_P(PostedClicks, A2_AnOrderKeepsItsCreatorWhateverClickComesLater) {
    books.clicks({clicked("d1", "anna", kNoon)});
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    books.clicks({clicked("d1", "ben", "2026-03-01T12:04:00Z")});
    EXPECT_EQ(books.creator_of(), "anna@spring LANDED");
}

TEST_P(PostedClicks, ABodyThatIsNoRecordOfClicksIsADeadLetter) {
    for (const std::string& body :
         {std::string("{}"), std::string(R"({"source":"post","rows":[]})"),
          std::string(R"({"source":"import","rows":[["x"]]})"),
          encode_clicks({ClickSource::kPost, {clicked("d", "a b", kNoon)}}),
          encode_clicks({ClickSource::kPost, {clicked("d", "anna", kNoon, "..")}}),
          encode_clicks({ClickSource::kImport, {clicked("d", "anna", kNoon)}})}) {
        EXPECT_EQ(books.raw(Topic::kClick, body).input_class, InputClass::kDead) << body;
    }
    EXPECT_THAT(stored_clicks(books), IsEmpty());
}

// ---- Figures ------------------------------------------------------------------------------------

/// An import reads a device's clicks once, however many of its rows are of the device.
TEST_P(PostedClicks, TheFiguresOfAnImportDoNotDependOnTheOrderOfItsRows) {
    books.clicks({clicked("d1", "anna", kNoon), clicked("d2", "anna", kNoon)});
    ClickImport import;
    std::uint32_t line = 2;
    for (const char* const at : {"2026-03-01T12:00:25Z", "2026-03-01T12:00:05Z", kNoon,
                                 "2026-02-28T08:00:00Z", "2026-03-01T12:00:16Z"}) {
        import.rows.push_back(
            {line++, anon_digest("d1"), CreatorId("anna"), ProgramId("spring"), instant(at)});
    }
    books.command(import);
    std::reverse(import.rows.begin(), import.rows.end());
    for (ClickImport::Row& row : import.rows) {
        row.device = anon_digest("d2");
    }
    books.command(import);
    // 12:00:05 and 12:00:25 repeat the clicks before them.
    const auto twice = ElementsAre("20260228 anna : 2 clicks, 2 devices, 0 orders",
                                   "20260301 anna : 4 clicks, 2 devices, 0 orders");
    EXPECT_THAT(days(books), twice);
    books.command(import);
    EXPECT_THAT(days(books), twice) << "stored clicks change no figure";
}

TEST_P(PostedClicks, AClickWithinTenSecondsOfOneOfTheSameLinkIsNotCounted) {
    books.clicks({clicked("d1", "anna", kNoon, "a"), clicked("d1", "ben", "2026-03-01T12:00:02Z"),
                  clicked("d1", "anna", "2026-03-01T12:00:05Z", "a")});
    EXPECT_THAT(days(books), ElementsAre("20260301 anna a: 1 clicks, 1 devices, 0 orders",
                                         "20260301 ben : 1 clicks, 1 devices, 0 orders"));
    EXPECT_EQ(stored_clicks(books).size(), 3U);
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    EXPECT_EQ(books.creator_of(), "anna@spring LANDED");  // the last click wins, counted or not
}

TEST_P(PostedClicks, TenSecondsLaterIsARepetitionAndANanosecondMoreIsNot) {
    books.clicks({clicked("d1", "anna", kNoon), clicked("d1", "anna", "2026-03-01T12:00:10Z")});
    EXPECT_THAT(days(books), ElementsAre("20260301 anna : 1 clicks, 1 devices, 0 orders"));
    books.clicks({clicked("d1", "anna", "2026-03-01T12:00:20.000000001Z")});
    EXPECT_THAT(days(books), ElementsAre("20260301 anna : 2 clicks, 1 devices, 0 orders"));
}

TEST_P(PostedClicks, AnyOrderOfArrivalGivesTheSameFigures) {
    std::vector<RecordedClick> clicks;
    std::mt19937 chance(20261128);
    for (int i = 0; i < 60; ++i) {
        const Timestamp at{
            instant("2026-02-28T23:59:30Z").seconds + static_cast<std::int64_t>(chance() % 60), 0};
        clicks.push_back({anon_digest(chance() % 2 == 0 ? "d1" : "d2"), at,
                          LinkId(chance() % 3 == 0 ? "a" : ""), ProgramId("spring"),
                          CreatorId(chance() % 2 == 0 ? "anna" : "ben")});
    }
    // Clicks of one identity would differ in their link: the first arrival's stays.
    std::sort(clicks.begin(), clicks.end(), [](const RecordedClick& a, const RecordedClick& b) {
        return std::tie(a.device, a.occurred_at, a.creator) <
               std::tie(b.device, b.occurred_at, b.creator);
    });
    clicks.erase(std::unique(clicks.begin(), clicks.end(),
                             [](const RecordedClick& a, const RecordedClick& b) {
                                 return a.device == b.device && a.occurred_at == b.occurred_at &&
                                        a.creator == b.creator;
                             }),
                 clicks.end());
    books.clicks(clicks);
    const auto other = GetParam().make();
    Books shuffled(*other);
    std::shuffle(clicks.begin(), clicks.end(), chance);
    for (const RecordedClick& click : clicks) {
        shuffled.clicks({click, click});
    }
    EXPECT_EQ(days(shuffled), days(books));
    EXPECT_EQ(months(shuffled), months(books));
}

TEST_P(PostedClicks, ADeviceCountsOnceADayAndOnceAMonth) {
    books.clicks({clicked("d1", "anna", "2026-02-27T10:00:00Z", "a"),
                  clicked("d1", "anna", "2026-02-27T11:00:00Z", "a"),
                  clicked("d1", "anna", "2026-02-28T11:00:00Z", "a"),
                  clicked("d2", "anna", "2026-02-28T11:00:00Z", "a"),
                  clicked("d1", "anna", kNoon, "a")});
    EXPECT_THAT(days(books), ElementsAre("20260227 anna a: 2 clicks, 1 devices, 0 orders",
                                         "20260228 anna a: 2 clicks, 2 devices, 0 orders",
                                         "20260301 anna a: 1 clicks, 1 devices, 0 orders"));
    EXPECT_THAT(months(books), ElementsAre("202602 anna a: 4 clicks, 2 devices, 0 orders",
                                           "202603 anna a: 1 clicks, 1 devices, 0 orders"));
}

TEST_P(PostedClicks, AnOrderCountsByItsSaleAndItsCommissionByItsAccountingDate) {
    books.clicks({clicked("d1", "anna", kNoon, "anna-mug"),
                  clicked("d1", "anna", "2026-03-01T13:00:00Z", "anna-mug"),
                  clicked("d2", "anna", kNoon, "anna-mug")});
    OrderText order = ordered("2026-03-02T09:00:00Z");
    books.receive_at("2026-03-02T09:00:01Z");
    books.create(order, "d1");
    books.receive_at("2026-03-05T00:00:00Z");
    order.updated = "2026-03-05T00:00:00Z";
    order.refunds.push_back({"r1", "l1", "20.00"});
    books.update(order);
    EXPECT_THAT(days(books), ElementsAre("20260301 anna anna-mug: 3 clicks, 2 devices, 0 orders",
                                         "20260302 anna anna-mug: 0 clicks, 0 devices, 1 orders"));
    EXPECT_THAT(months(books), ElementsAre("202603 anna anna-mug: 3 clicks, 2 devices, 1 orders"));
    EXPECT_THAT(earnings(books),
                ElementsAre("20260302 anna-mug 8.00 0.00 USD", "20260305 anna-mug 0.00 -2.00 USD"));
}

TEST_P(PostedClicks, ADetachedOrderIsNoOrderOfItsLink) {
    books.clicks({clicked("d1", "anna", kNoon, "anna-mug")});
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    EXPECT_THAT(days(books), ElementsAre("20260301 anna anna-mug: 1 clicks, 1 devices, 1 orders"));
    Detach detach;
    detach.order = OrderId("o1");
    books.command(detach);
    EXPECT_THAT(days(books), ElementsAre("20260301 anna anna-mug: 1 clicks, 1 devices, 0 orders"));
    EXPECT_THAT(earnings(books), ElementsAre("20260301 anna-mug 8.00 -8.00 USD"));
}

TEST_P(PostedClicks, AnOrderThatMovesToAnotherDayTakesItsCountAlong) {
    books.clicks({clicked("d1", "anna", kNoon, "anna-mug")});
    OrderText order = ordered("2026-03-01T12:05:00Z");
    books.create(order, "d1");
    order.ordered = "2026-03-02T12:05:00Z";
    order.updated = "2026-03-02T12:05:00Z";
    books.update(order, "d1");
    EXPECT_THAT(days(books), ElementsAre("20260301 anna anna-mug: 1 clicks, 1 devices, 0 orders",
                                         "20260302 anna anna-mug: 0 clicks, 0 devices, 1 orders"));
}

TEST_P(PostedClicks, AnOrderThatACodeAloneAttributesIsNoOrderOfALink) {
    books.creator("anna", "spring", "ANNA");
    OrderText order = ordered("2026-03-01T12:05:00Z");
    order.codes = {"ANNA"};
    books.create(order, "d1");
    EXPECT_EQ(books.creator_of(), "anna@spring CODE");
    EXPECT_THAT(days(books), IsEmpty());
    EXPECT_THAT(earnings(books), IsEmpty());
}

// ---- Reports ------------------------------------------------------------------------------------

class Lines : public lists::RowOutput {
public:
    void add(const lists::Row& row) override {
        std::string line;
        for (const Json& cell : row) {
            line += (line.empty() ? "" : "|") + (cell.is_null() ? "-" : cell.cell());
        }
        lines.push_back(std::move(line));
    }
    void add_raw(const std::vector<JsonMember>& /*row*/) override {}

    std::vector<std::string> lines;
};

std::vector<std::string> report(Books& books, lists::ClickListing listing) {
    listing.account = AccountNumber{1};
    Lines out;
    lists::write_clicks(*books.read(), listing, out);
    return out.lines;
}

TEST_P(PostedClicks, AReportListsClicksOrdersAndCommission) {
    books.clicks({clicked("d1", "anna", kNoon, "anna-mug"),
                  clicked("d1", "anna", "2026-03-01T13:00:00Z", "anna-mug"),
                  clicked("d2", "anna", kNoon, "anna-mug")});
    OrderText order = ordered("2026-03-02T09:00:00Z");
    books.receive_at("2026-03-02T09:00:01Z");
    books.create(order, "d1");
    books.receive_at("2026-03-05T00:00:00Z");
    order.updated = "2026-03-05T00:00:00Z";
    order.refunds.push_back({"r1", "l1", "20.00"});
    books.update(order);
    lists::ClickListing listing;
    EXPECT_THAT(report(books, listing), ElementsAre("2026-03-01|-|-|-|3|2|0|0|-|-|-",
                                                    "2026-03-02|-|-|-|0|0|1|-|USD|8.00|0.00",
                                                    "2026-03-05|-|-|-|0|0|0|-|USD|0.00|-2.00"));
    listing.by = lists::ClicksBy::kMonth;
    EXPECT_THAT(report(books, listing), ElementsAre("2026-03|-|-|-|3|2|1|0.5|USD|8.00|-2.00"));
    listing.by = lists::ClicksBy::kLink;
    listing.from = instant("2026-03-01T00:00:00Z");
    listing.to = instant("2026-03-05T00:00:00Z");
    EXPECT_THAT(report(books, listing),
                ElementsAre("2026-03-01/2026-03-05|-|-|anna-mug|3|2|1|0.5|USD|8.00|0.00"));
    listing.has_amounts = false;
    EXPECT_THAT(report(books, listing),
                ElementsAre("2026-03-01/2026-03-05|-|-|anna-mug|3|2|1|0.5|-|-|-"));
    listing.link = LinkId("other");
    EXPECT_THAT(report(books, listing), IsEmpty());
}

TEST_P(PostedClicks, ASecondCurrencyIsARowWithoutCounts) {
    books.clicks({clicked("d1", "anna", kNoon)});
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    OrderText euros = ordered("2026-03-01T12:06:00Z", "o2");
    euros.currency = "EUR";
    books.create(euros, "d1");
    lists::ClickListing listing;
    listing.by = lists::ClicksBy::kCreator;
    EXPECT_THAT(report(books, listing), ElementsAre("-|-|anna|-|1|1|2|2|EUR|8.00|0.00",
                                                    "-|-|anna|-|-|-|-|-|USD|8.00|0.00"));
}

TEST_P(PostedClicks, AReportListsPairsThatDoNotCount) {
    books.clicks({clicked("d1", "anna", kNoon), clicked("d1", "cy", kNoon),
                  clicked("d1", "anna", kNoon, {}, "summer")});
    lists::ClickListing listing;
    listing.unmatched = true;
    EXPECT_THAT(report(books, listing),
                ElementsAre("-|spring|cy|-|1|1|0|0|-|-|-", "-|summer|anna|-|1|1|0|0|-|-|-"));
}

// ---- Deletion -----------------------------------------------------------------------------------

TEST_P(PostedClicks, ClicksGoFourHundredDaysAfterTheirReceiptAndImportsStay) {
    books.clicks({clicked("d1", "anna", "2026-01-01T00:00:00Z")});
    books.click("d1", "ben", "spring", "2026-01-01T00:00:00Z");
    books.receive_at("2027-04-05T12:00:01Z");  // 400 days later
    books.clicks({clicked("d2", "anna", "2027-04-05T12:00:00Z")});
    EXPECT_EQ(stored_clicks(books).size(), 3U);
    books.receive_at("2027-04-05T12:00:02Z");
    books.clicks({clicked("d2", "anna", "2027-04-05T12:00:00Z")});
    EXPECT_THAT(stored_clicks(books),
                ElementsAre("anna 2027-04-05T12:00:00Z post", "ben 2026-01-01T00:00:00Z import"));
    EXPECT_EQ(clicks_to_delete(books), 1U);
}

TEST_P(PostedClicks, ALongWindowKeepsClicksLonger) {
    Program longer = program();
    longer.window_days = 500;
    books.apply({longer});
    books.clicks({clicked("d1", "anna", kNoon)});
    books.receive_at("2027-08-13T12:00:01Z");  // 530 days later
    books.clicks({clicked("d2", "anna", kNoon)});
    EXPECT_EQ(stored_clicks(books).size(), 2U);
    books.receive_at("2027-08-13T12:00:02Z");
    books.clicks({clicked("d2", "anna", kNoon)});
    EXPECT_EQ(stored_clicks(books).size(), 1U);
}

TEST_P(PostedClicks, ARecordDeletesTwiceAsManyClicksAsItHasTheOldestFirst) {
    books.clicks({clicked("d1", "anna", kNoon), clicked("d2", "anna", kNoon)});
    books.receive_at("2026-03-01T12:00:02Z");
    books.clicks({clicked("d3", "ben", kNoon)});
    books.receive_at("2028-01-01T00:00:00Z");
    books.clicks({clicked("d4", "anna", "2028-01-01T00:00:00Z")});
    EXPECT_THAT(stored_clicks(books),
                ElementsAre("anna 2028-01-01T00:00:00Z post", "ben 2026-03-01T12:00:00Z post"));
    books.clicks({clicked("d4", "anna", "2028-01-01T00:00:00Z")});  // known ones count as well
    EXPECT_THAT(stored_clicks(books), ElementsAre("anna 2028-01-01T00:00:00Z post"));
}

TEST_P(PostedClicks, OfADeviceAndProgramTheNewestStay) {
    std::vector<RecordedClick> clicks;
    for (std::size_t i = 0; i < kClicksOfDeviceMax + 2; ++i) {
        clicks.push_back(clicked("d1", "anna", kNoon));
        clicks.back().occurred_at = instant(kNoon).plus_seconds(static_cast<std::int64_t>(i) * 60);
    }
    std::swap(clicks.front(), clicks.back());  // the oldest comes last, and goes at once
    books.click("d1", "ben", "spring", "2026-01-01T00:00:00Z");
    books.clicks(clicks);
    const std::vector<std::string> stored = stored_clicks(books);
    EXPECT_EQ(stored.size(), kClicksOfDeviceMax + 1);
    EXPECT_EQ(stored.front(), "anna 2026-03-01T12:02:00Z post");
    EXPECT_EQ(clicks_to_delete(books), kClicksOfDeviceMax);
}

// ---- Forgetting, rebuilding ---------------------------------------------------------------------

TEST_P(PostedClicks, F2_AForgottenDevicesClicksAndInputsHaveItsPseudonym) {
    books.clicks({clicked("d1", "anna", kNoon), clicked("d2", "anna", kNoon)});
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    books.forget(ForgetBy::kDevice, "d1");
    const std::string digest = to_hex(anon_digest("d1"));
    EXPECT_THAT(books.dump(), testing::Not(testing::HasSubstr(digest)));
    for (const Kept& kept : books.archive()) {
        EXPECT_EQ(kept.record.find(digest), std::string::npos);
    }
    EXPECT_EQ(stored_clicks(books).size(), 2U);
    EXPECT_EQ(clicks_to_delete(books), 2U);
    EXPECT_EQ(books.creator_of(), "anna@spring LANDED");
    const auto other = GetParam().make();
    Books rebuilt(*other);
    rebuilt.rebuild_from(books.archive());
    EXPECT_EQ(rebuilt.dump(), books.dump());
}

TEST_P(PostedClicks, ARebuildGivesTheSameRows) {
    books.clicks({clicked("d1", "anna", kNoon, "a"), clicked("d1", "cy", kNoon, {}, "summer")});
    books.create(ordered("2026-03-01T12:05:00Z"), "d1");
    books.create(ordered("2026-03-01T12:05:00Z", "o2"), "d2");
    books.clicks({clicked("d2", "ben", kNoon, "b"), clicked("d1", "anna", kNoon, "a")});
    books.raw(Topic::kClick, "{}");
    const auto other = GetParam().make();
    Books rebuilt(*other);
    rebuilt.rebuild_from(books.archive());
    EXPECT_EQ(rebuilt.dump(), books.dump());
}

}  // namespace
}  // namespace sluice::test
