// Figures of a creator's links and codes, as her page shows them (creators 5, RP2, RP3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/creators/creator_ledger.hpp"
#include "core/creators/figures.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/clicks.hpp"
#include "core/protocol/click_record.hpp"
#include "core/protocol/personal_ids.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFiguresNow = "2026-03-10T00:00:00Z";
constexpr const char* kEarlier = "2026-03-01T12:00:00Z";

class CreatorFiguresTest : public EmptyBooksTest {
protected:
    void SetUp() override {
        books.receive_at("2026-02-01T00:00:00Z");
        books.apply({program()});
        books.creator("ann", "spring", "ANNA15");
        books.creator("ben", "spring", "BEN10");
        link("ann-mug", "ann");
        link("ben-mug", "ben");
        books.receive_at("2026-03-01T12:00:01Z");
    }

    void link(std::string_view id, std::string_view creator, LinkVerb verb = LinkVerb::kCreate) {
        LinkSet command{verb, {{0, LinkId(id), {}, {}, {}, {}}}};
        if (verb == LinkVerb::kCreate) {
            command.rows = {{0, LinkId(id), ProgramId("spring"), CreatorId(creator),
                             "https://shop.example/mug", false}};
        }
        ASSERT_FALSE(books.command(command).failed);
    }

    void follow(std::string_view device, std::string_view at, std::string_view link) {
        books.raw(Topic::kClick,
                  encode_clicks({ClickSource::kLink,
                                 {{anon_digest(device), instant(at), LinkId(link), {}, {}}}}));
    }

    static OrderText sold(std::string_view at, std::vector<std::string> codes = {}) {
        OrderText order;
        order.ordered = at;
        order.codes = std::move(codes);
        order.lines[0].amount = "80.00";
        return order;
    }

    CreatorFigurePage page(FiguresBy by, std::string_view creator = "ann",
                           const std::optional<lists::Month>& month = {},
                           const std::optional<std::string>& after = {}) {
        const auto reader = books.read();
        CreatorLedger own(*reader, CreatorScope::proven(kAcme, CreatorId(creator)));
        return own.figures(by, month, after, instant(kFiguresNow));
    }

    /// "ann-mug clicks 2 devices 1 orders 1 USD 8.00 -2.00"
    std::vector<std::string> figures(FiguresBy by, std::string_view creator = "ann",
                                     const std::optional<lists::Month>& month = {}) {
        std::vector<std::string> lines;
        for (const CreatorFigures& row : page(by, creator, month).rows) {
            const auto& name = row.day     ? row.day
                               : row.month ? row.month
                               : row.link  ? row.link
                                           : row.code;
            std::string line = name.value_or("-");
            if (row.clicks) {
                line += " clicks " + std::to_string(*row.clicks) + " devices " +
                        std::to_string(*row.devices);
            }
            line += " orders " + std::to_string(row.orders);
            for (const CreatorEarned& sum : row.amounts) {
                line += " " + sum.currency + " " + sum.earned.to_string() + " " +
                        sum.adjusted.to_string();
            }
            lines.push_back(line);
        }
        return lines;
    }
};
SLUICE_FOR_EVERY_LEDGER(CreatorFiguresTest);

TEST_P(CreatorFiguresTest, Example15AsItsCreatorSeesIt) {
    follow("d1", kEarlier, "ann-mug");
    follow("d1", "2026-03-01T12:30:00Z", "ann-mug");
    follow("d2", kEarlier, "ann-mug");
    books.receive_at("2026-03-02T09:00:01Z");
    OrderText order = sold("2026-03-02T09:00:00Z");
    books.create(order, "d1");
    books.receive_at("2026-03-05T00:00:00Z");
    order.updated = "2026-03-05T00:00:00Z";
    order.refunds.push_back({"r1", "l1", "20.00"});
    books.update(order);
    EXPECT_THAT(figures(FiguresBy::kDay),
                ElementsAre("2026-03-01 clicks 3 devices 2 orders 0",
                            "2026-03-02 clicks 0 devices 0 orders 1 USD 8.00 0.00",
                            "2026-03-05 clicks 0 devices 0 orders 0 USD 0.00 -2.00"));
    EXPECT_THAT(figures(FiguresBy::kMonth),
                ElementsAre("2026-03 clicks 3 devices 2 orders 1 USD 8.00 -2.00"));
    EXPECT_THAT(figures(FiguresBy::kLink),
                ElementsAre("ann-mug clicks 3 devices 2 orders 1 USD 8.00 -2.00"));
    EXPECT_EQ(page(FiguresBy::kLink).rows[0].conversion, "0.5");
    EXPECT_EQ(page(FiguresBy::kLink).rows[0].to, "https://shop.example/mug");
    EXPECT_THAT(figures(FiguresBy::kCode), IsEmpty());
    EXPECT_THAT(figures(FiguresBy::kLink, "ben"),
                ElementsAre("ben-mug clicks 0 devices 0 orders 0"));
}

TEST_P(CreatorFiguresTest, AnOrderStaysWithTheCodeThatSelectedItsCreator) {
    OrderText order = sold("2026-03-02T09:00:00Z", {"anna15"});
    books.receive_at("2026-03-02T09:00:01Z");
    books.create(order);
    order.updated = "2026-03-03T00:00:00Z";
    order.codes = {"BEN10"};
    books.update(order);
    books.receive_at("2026-03-05T00:00:00Z");
    order.updated = "2026-03-05T00:00:00Z";
    order.refunds.push_back({"r1", "l1", "20.00"});
    books.update(order);
    EXPECT_EQ(books.creator_of(), "ann@spring CODE");
    EXPECT_THAT(figures(FiguresBy::kCode), ElementsAre("ANNA15 orders 1 USD 8.00 -2.00"));
    EXPECT_THAT(figures(FiguresBy::kCode, "ben"), IsEmpty());
    EXPECT_THAT(figures(FiguresBy::kDay), IsEmpty()) << "days have what came by links";
}

TEST_P(CreatorFiguresTest, ACodeThatLostToALinkIsNotShown) {
    if (dynamic_cast<PagedReads*>(books.read().get()) == nullptr) {
        GTEST_SKIP() << "a ledger in memory has no pages";
    }
    Program links_first = program();
    links_first.precedence = {AttributionType::kLanded, AttributionType::kAffiliateCode};
    books.apply({links_first});
    follow("d1", kEarlier, "ann-mug");
    books.create(sold("2026-03-02T09:00:00Z", {"BEN10"}), "d1");
    ASSERT_EQ(books.creator_of(), "ann@spring LANDED");
    const auto reader = books.read();
    CreatorLedger own(*reader, CreatorScope::proven(kAcme, CreatorId("ann")));
    EXPECT_EQ(own.orders({}, instant(kFiguresNow))->rows[0].code, std::nullopt);
    EXPECT_THAT(figures(FiguresBy::kCode, "ben"), IsEmpty());
}

TEST_P(CreatorFiguresTest, ADetachedOrderIsNoOrderOfItsCode) {
    books.create(sold("2026-03-01T09:00:00Z", {"ANNA15"}));
    Detach detach;
    detach.order = OrderId("o1");
    books.command(detach);
    EXPECT_THAT(figures(FiguresBy::kCode), ElementsAre("ANNA15 orders 0 USD 8.00 -8.00"));
}

TEST_P(CreatorFiguresTest, AMonthHasItsDevicesOnceAndNothingOfOthers) {
    for (const char* const at :
         {"2026-02-27T10:00:00Z", "2026-02-28T10:00:00Z", "2026-03-01T10:00:00Z"}) {
        follow("d1", at, "ann-mug");
    }
    const lists::Month february{instant("2026-02-01T00:00:00Z"), instant("2026-03-01T00:00:00Z"),
                                "2026-02"};
    EXPECT_THAT(figures(FiguresBy::kLink, "ann", february),
                ElementsAre("ann-mug clicks 2 devices 1 orders 0"));
    EXPECT_THAT(figures(FiguresBy::kDay, "ann", february),
                ElementsAre("2026-02-27 clicks 1 devices 1 orders 0",
                            "2026-02-28 clicks 1 devices 1 orders 0"));
    EXPECT_THAT(figures(FiguresBy::kLink), ElementsAre("ann-mug clicks 3 devices 3 orders 0"));
    EXPECT_THAT(figures(FiguresBy::kMonth), ElementsAre("2026-02 clicks 2 devices 1 orders 0",
                                                        "2026-03 clicks 1 devices 1 orders 0"));
}

TEST_P(CreatorFiguresTest, ARemovedLinkIsShownWhileItHasFigures) {
    link("ann-cup", "ann");
    link("ann-cup", "ann", LinkVerb::kStop);
    link("ann-old", "ann");
    link("ann-old", "ann", LinkVerb::kRemove);
    follow("d1", kEarlier, "ann-mug");
    link("ann-mug", "ann", LinkVerb::kRemove);
    std::vector<std::string> shown;
    for (const CreatorFigures& row : page(FiguresBy::kLink).rows) {
        shown.push_back(*row.link + " " + std::string(*row.state));
    }
    EXPECT_THAT(shown, ElementsAre("ann-cup stopped", "ann-mug removed"));
}

TEST_P(CreatorFiguresTest, APageHas200Rows) {
    LinkSet many{LinkVerb::kCreate, {}};
    for (int number = 100; number < 350; ++number) {
        many.rows.push_back({0, LinkId("l" + std::to_string(number)), ProgramId("spring"),
                             CreatorId("ann"), "https://shop.example/", false});
    }
    ASSERT_FALSE(books.command(many).failed);
    const CreatorFigurePage first = page(FiguresBy::kLink);
    ASSERT_EQ(first.rows.size(), 200U);
    ASSERT_EQ(first.next, first.rows.back().link);
    const CreatorFigurePage second = page(FiguresBy::kLink, "ann", {}, first.next);
    EXPECT_EQ(second.rows.size(), 51U);
    EXPECT_FALSE(second.next);
}

}  // namespace
}  // namespace sluice::test
