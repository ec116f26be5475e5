// Links: their creators, the changes that commands make, and the clicks that nginx counts.
#include "core/lists/links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ledger/link_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/links/published_links.hpp"
#include "core/protocol/click_record.hpp"
#include "core/protocol/personal_ids.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kShopUrl = "https://shop.example/mug";

LinkSet created(std::string_view id, std::string_view creator = "anna",
                std::string_view to = kShopUrl, bool deep = false,
                std::string_view of_program = "spring") {
    return {LinkVerb::kCreate,
            {{0, LinkId(id), ProgramId(of_program), CreatorId(creator), std::string(to), deep}}};
}

LinkSet moved(LinkVerb verb, std::string_view id) {
    return {verb, {{0, LinkId(id), {}, {}, {}, {}}}};
}

LinkSet changed(std::string_view id, std::optional<std::string> to, std::optional<bool> deep) {
    return {LinkVerb::kSet, {{0, LinkId(id), {}, {}, std::move(to), deep}}};
}

RecordedClick link_click(std::string_view device, std::string_view at, std::string_view link) {
    return {anon_digest(device), instant(at), LinkId(link), {}, {}};
}

/// "anna-mug anna@spring https://shop.example/mug 1", the last number being the state.
std::vector<std::string> stored_links(Books& books) {
    std::vector<std::string> rows;
    books.read()->scan(LinkRow{}, {}, [&rows](const LinkRow& row) {
        rows.push_back(row.link.str() + " " + row.creator.str() + "@" + row.program.str() + " " +
                       row.destination + (row.deep ? " deep " : " ") +
                       std::to_string(static_cast<int>(row.state)));
        return true;
    });
    return rows;
}

LinksHead links_head(Books& books) {
    LinksHead head;
    (void)books.read()->load(head);
    return head;
}

class Links : public EmptyBooksTest {
protected:
    void SetUp() override {
        books.receive_at("2026-02-01T00:00:00Z");
        books.apply({program()});
        books.creator("anna", "spring");
        books.creator("ben", "spring");
        books.receive_at("2026-03-01T12:00:01Z");
    }
    std::string refusal(const LinkSet& command) {
        const Applied applied = books.command(command);
        return applied.failed ? applied.text : "done: " + applied.text;
    }
    Applied link_clicks(const std::vector<RecordedClick>& rows) {
        return books.raw(Topic::kClick, encode_clicks({ClickSource::kLink, rows}));
    }
};
SLUICE_FOR_EVERY_LEDGER(Links);

TEST_P(Links, LK1_ALinkIsOfOneCreatorForEver) {
    EXPECT_EQ(books.command(created("anna-mug")).text, "link anna-mug created");
    EXPECT_EQ(books.command(created("anna-mug")).text, "link anna-mug exists so already");
    EXPECT_THAT(refusal(created("anna-mug", "ben")), HasSubstr("is of creator anna"));
    EXPECT_THAT(refusal(created("anna-mug", "anna", "https://evil.example/")),
                HasSubstr("leads elsewhere"));
    EXPECT_THAT(stored_links(books),
                ElementsAre("anna-mug anna@spring https://shop.example/mug 1"));
    EXPECT_EQ(links_head(books).links, 1U);
    EXPECT_EQ(links_head(books).revision, 1U);
}

TEST_P(Links, LK1_Example14_AnIdThatWasRemovedIsNeverUsedAgain) {
    books.command(created("anna-mug"));
    EXPECT_EQ(books.command(moved(LinkVerb::kStop, "anna-mug")).text, "link anna-mug is stopped");
    EXPECT_EQ(books.command(moved(LinkVerb::kStop, "anna-mug")).outcome, CommandOutcome::kNothing);
    books.command(moved(LinkVerb::kStart, "anna-mug"));
    EXPECT_EQ(books.command(moved(LinkVerb::kRemove, "anna-mug")).text, "link anna-mug is removed");
    EXPECT_EQ(links_head(books).links, 0U);
    EXPECT_THAT(refusal(created("anna-mug")), HasSubstr("never used again"));
    EXPECT_THAT(refusal(created("anna-mug", "ben")), HasSubstr("never used again"));
    for (const LinkVerb verb : {LinkVerb::kStart, LinkVerb::kStop, LinkVerb::kRemove}) {
        EXPECT_EQ(refusal(moved(verb, "anna-mug")), "account acme has no link anna-mug");
    }
    EXPECT_THAT(refusal(changed("anna-mug", kShopUrl, {})), HasSubstr("has no link"));
}

TEST_P(Links, AnotherAccountLearnsNothingOfALink) {
    books.command(created("anna-mug"));
    Program other = program("autumn");
    other.account_id = AccountId("other");
    other.account = {2};
    books.from_shop("shop-9");
    books.apply({other});
    books.creator("eve", "autumn");
    EXPECT_EQ(refusal(created("anna-mug", "eve", kShopUrl, false, "autumn")),
              "link anna-mug is taken");
    EXPECT_EQ(refusal(moved(LinkVerb::kRemove, "anna-mug")), "account other has no link anna-mug");
    EXPECT_EQ(refusal(created("eves", "anna", kShopUrl, false, "spring")),
              "account other has no program spring");
}

TEST_P(Links, LK2_ProgramCreatorAndUrlAreChecked) {
    EXPECT_THAT(refusal(created("a", "nobody")), HasSubstr("not in program spring"));
    EXPECT_THAT(refusal(created("a", "anna", kShopUrl, false, "sprng")),
                HasSubstr("no program sprng"));
    EXPECT_THAT(refusal(created("a", "anna", "javascript:x")), HasSubstr("byte 1 "));
    EXPECT_THAT(refusal(created("a", "anna", "https://shop.example/?svc%5Fanon_id=1")),
                HasSubstr("svc_anon_id"));
    EXPECT_THAT(refusal(created("a", "anna", "https://shop.example/us/", true)),
                HasSubstr("must not end in a slash"));
    books.command(CreatorRemove{CreatorId("ben"), ProgramId("spring"), {}});
    EXPECT_THAT(refusal(created("a", "ben")), HasSubstr("not in program spring"));
    EXPECT_THAT(stored_links(books), IsEmpty());
    EXPECT_EQ(links_head(books).revision, 0U);
}

TEST_P(Links, SetChangesWhereALinkLeads) {
    books.command(created("anna"));
    EXPECT_THAT(books.command(changed("anna", "https://shop.example/us", true)).text,
                HasSubstr("leads to https://shop.example/us, and what follows"));
    EXPECT_EQ(books.command(changed("anna", {}, true)).outcome, CommandOutcome::kNothing);
    EXPECT_THAT(refusal(changed("anna", "https://shop.example/", {})), HasSubstr("slash"));
    books.command(changed("anna", "https://shop.example/", false));
    EXPECT_THAT(stored_links(books), ElementsAre("anna anna@spring https://shop.example/ 1"));
}

TEST_P(Links, AnImportIsAllOrNothing) {
    books.command(created("one"));
    LinkSet import = created("two");
    import.rows.push_back(created("one").rows[0]);
    import.rows.push_back(created("three", "nobody").rows[0]);
    for (std::uint32_t line = 2; LinkSet::Row & row : import.rows) {
        row.line = line++;
    }
    EXPECT_EQ(refusal(import), "line 4: creator nobody is not in program spring");
    EXPECT_EQ(links_head(books).links, 1U);
    import.rows[2].creator = CreatorId("ben");
    EXPECT_EQ(books.command(import).text, "2 links created; 1 row states what is stored already");
    EXPECT_EQ(books.command(import).outcome, CommandOutcome::kNothing);
    EXPECT_EQ(links_head(books).links, 3U);
    EXPECT_EQ(links_head(books).revision, 2U);
    import.rows[1].creator = CreatorId("ben");
    EXPECT_THAT(refusal(import), HasSubstr("line 3: link one is of creator anna"));
}

TEST_P(Links, ARenamedCreatorIsNamedByAnyId) {
    books.command(CreatorRename{CreatorId("anna"), CreatorId("annika")});
    books.command(created("a", "annika"));
    EXPECT_EQ(books.command(created("a", "anna")).outcome, CommandOutcome::kNothing);
    EXPECT_THAT(stored_links(books), ElementsAre("a anna@spring https://shop.example/mug 1"));
}

// ---- Clicks of links ----------------------------------------------------------------------------

TEST_P(Links, AClickOfALinkIsItsCreators) {
    books.command(created("anna-mug"));
    EXPECT_EQ(link_clicks({link_click("d1", "2026-03-01T12:00:00.125Z", "anna-mug")}).input_class,
              InputClass::kClicks);
    OrderText order;
    order.ordered = "2026-03-01T12:05:00Z";
    books.create(order, "d1");
    EXPECT_EQ(books.creator_of(), "anna@spring LANDED");
    EXPECT_EQ(books.totals().clicks_stored, 1U);
}

TEST_P(Links, CR8_AClickOfALinkThatTheLedgerLacksIsCountedAndDropped) {
    books.command(created("anna-mug"));
    link_clicks({link_click("d1", "2026-03-01T12:00:00Z", "gone"),
                 link_click("d1", "2026-03-01T12:00:00Z", "anna-mug"),
                 link_click("d1", "2026-03-01T12:00:00Z", "anna-mug")});
    const Totals totals = books.totals();
    EXPECT_EQ(totals.clicks_without_link, 1U);
    EXPECT_EQ(totals.clicks_stored, 1U);
    EXPECT_EQ(totals.clicks_known, 1U);
    EXPECT_EQ(totals.dead, 0U);
}

TEST_P(Links, ARemovedLinkStillTellsTheCreatorOfAClick) {
    books.command(created("anna-mug"));
    books.command(moved(LinkVerb::kRemove, "anna-mug"));
    link_clicks({link_click("d1", "2026-03-01T12:00:00Z", "anna-mug")});
    EXPECT_EQ(books.totals().clicks_stored, 1U);
}

TEST_P(Links, ARecordOfAnotherAccountsLinkCountsNothing) {
    books.command(created("anna-mug"));
    books.from_shop("shop-9");
    link_clicks({link_click("d1", "2026-03-01T12:00:00Z", "anna-mug")});
    EXPECT_EQ(books.totals().clicks_without_link, 1U);
}

TEST_P(Links, ARecordOfLinksHasNoProgramAndNoCreator) {
    for (const char* const body :
         {R"({"source":"link","rows":[["x","2026-03-01T12:00:00Z","a"]]})",
          R"({"source":"link","rows":[["00","2026-03-01T12:00:00Z",null]]})"}) {
        EXPECT_EQ(books.raw(Topic::kClick, body).input_class, InputClass::kDead) << body;
    }
    const std::string digest(64, 'a');
    EXPECT_EQ(books
                  .raw(Topic::kClick, R"({"source":"link","rows":[[")" + digest +
                                          R"(","2026-03-01T12:00:00Z",null]]})")
                  .input_class,
              InputClass::kDead);
    EXPECT_EQ(books
                  .raw(Topic::kClick, R"({"source":"link","rows":[[")" + digest +
                                          R"(","2026-03-01T12:00:00Z","a","spring","anna"]]})")
                  .input_class,
              InputClass::kDead);
    EXPECT_EQ(
        encode_clicks(
            {ClickSource::kLink,
             {{Digest256{}, instant("2026-03-01T12:00:00.125Z"), LinkId("anna-mug"), {}, {}}}}),
        R"({"source":"link","rows":[[")" + std::string(64, '0') +
            R"(","2026-03-01T12:00:00.125Z","anna-mug"]]})");
}

TEST_P(Links, Example13_RepeatedClicksAreStoredAndCountedOnce) {
    books.command(created("a"));
    books.command(created("b", "ben"));
    link_clicks({link_click("d1", "2026-03-01T12:00:00Z", "a"),
                 link_click("d1", "2026-03-01T12:00:02Z", "b"),
                 link_click("d1", "2026-03-01T12:00:05Z", "a"),
                 link_click("d2", "2026-03-01T12:00:00Z", "a"),
                 link_click("d2", "2026-03-01T12:00:05Z", "a")});
    EXPECT_EQ(books.totals().clicks_stored, 5U);
    Decimal counted;
    books.read()->scan(ClickDay{}, {}, [&counted](const ClickDay& row) { counted += row.clicks; });
    EXPECT_EQ(counted.to_string(), "3");
    OrderText order;
    order.ordered = "2026-03-01T12:05:00Z";
    books.create(order, "d1");
    EXPECT_EQ(books.creator_of(), "anna@spring LANDED");
}

TEST_P(Links, TheLastThirtyDaysAreListed) {
    books.command(created("a"));
    books.command(created("b", "ben"));
    link_clicks({link_click("d1", "2026-01-30T12:00:00Z", "a"),
                 link_click("d1", "2026-01-31T12:00:00Z", "a"),
                 link_click("d2", "2026-03-01T12:00:00Z", "a")});
    const Result<Json> shown =
        lists::link_object(*books.read(), LinkId("a"), instant("2026-03-01T23:00:00Z"));
    ASSERT_TRUE(shown.ok());
    EXPECT_THAT(shown->compact(), HasSubstr(R"("clicks":2,"devices":2,"orders":0)"));
    EXPECT_FALSE(lists::link_object(*books.read(), LinkId("c"), {}).ok());
}

TEST_P(Links, ARebuildMakesTheSameLinks) {
    books.command(created("a"));
    books.command(created("b", "ben", "https://shop.example/us", true));
    link_clicks({link_click("d1", "2026-03-01T12:00:00Z", "a"),
                 link_click("d1", "2026-03-01T12:00:00Z", "gone")});
    books.command(moved(LinkVerb::kStop, "a"));
    books.command(moved(LinkVerb::kRemove, "b"));
    const std::unique_ptr<Ledger> other = make_ledger("Memory");
    Books again(*other);
    again.rebuild_from(books.archive());
    EXPECT_EQ(again.dump(), books.dump());
}

}  // namespace
}  // namespace sluice::test
