// Signed clicks: checks, answers, and what is stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/intake/diagnosis.hpp"
#include "core/intake/intake.hpp"
#include "core/protocol/click_record.hpp"
#include "core/protocol/personal_ids.hpp"
#include "unit/core/intake/intake_fixture.hpp"

namespace sluice {
namespace {

using test::kNow;
using test::Outcomes;
using test::Request;
using test::signature_of;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kClickSecret = "the secret that signs clicks";

std::string click_json(std::string_view change = {}) {
    return R"({"svc_anon_id":"d1","program_id":"spring","creator_id":"anna",)"
           R"("occurred_at":"2023-11-14T22:00:00Z")" +
           std::string(change) + "}";
}

Request click_request(std::string body = click_json(), std::string_view secret = kClickSecret) {
    Request request;
    request.set("X-SVC-SHOP-ID", {"shop-1"})
        .set("X-SVC-TOPIC", {"CLICK"})
        .set("X-Signature", {signature_of(body, std::string(secret))})
        .set("Content-Type", {"application/json"});
    request.body = std::move(body);
    return request;
}

class ClickIntake : public testing::Test {
protected:
    ClickIntake() { world.registry.add_token(world.acme, kClickSecret, kWriteClicks); }

    Outcomes send(const Request& request) {
        const RequestHead head = request.head();
        return Outcomes::of(open_event(head, world.registry), [&](const Sender& sender) {
            WholeBody body(request.body);
            return accept_clicks(head, world.names, sender, body, world.gate, kNow, world.scratch);
        });
    }
    /// Returns the text of a 400 for the body, or `accepted`.
    std::string answer_to(const std::string& body) {
        const Outcomes got = send(click_request(body));
        if (!got.answer) {
            return "accepted";
        }
        EXPECT_EQ(got.answer->status, 400);
        return std::string(got.answer->text());
    }
    static std::string detail(std::string_view field, std::string_view code) {
        return R"({"field":")" + std::string(field) + R"(","code":")" + std::string(code) + "\"";
    }

    World world;
};

TEST_F(ClickIntake, AClickIsAcceptedForTheAccountAndStoredWithoutTheDevicesId) {
    const Outcomes got = send(click_request(click_json(R"(,"link_id":"anna-mug","more":1)")));
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.accepted.meta.topic, Topic::kClick);
    EXPECT_EQ(got.accepted.meta.account_id, "acme");
    EXPECT_EQ(got.accepted.meta.shop_number, ShopNumber{0});
    EXPECT_EQ(got.accepted.meta.shop_id, "");
    EXPECT_EQ(got.accepted.meta.anon_id, "");
    EXPECT_EQ(got.accepted.translated,
              R"({"source":"post","rows":[[")" + to_hex(anon_digest("d1")) +
                  R"(","2023-11-14T22:00:00Z","anna-mug","spring","anna"]]})");
    EXPECT_THAT(world.gate.counted, ElementsAre("acme"));
    const auto record = decode_clicks(*got.accepted.translated);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->rows.at(0).link.view(), "anna-mug");
}

TEST_F(ClickIntake, ABatchIsOneRecordAndCountsOnceInTheWindow) {
    const Outcomes got =
        send(click_request(R"({"clicks":[)" + click_json() + "," + click_json() + "]}"));
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.accepted.meta.records_count, 2U);
    EXPECT_EQ(decode_clicks(*got.accepted.translated)->rows.size(), 2U);
    EXPECT_THAT(world.gate.counted, ElementsAre("acme"));
}

TEST_F(ClickIntake, ATokenForOrdersSignsNoClicksNorTheReverse) {
    for (const bool of_clicks : {true, false}) {
        const std::string body = click_json();
        const Request request =
            click_request(body, of_clicks ? std::string_view(World::kSecret) : kClickSecret);
        const RequestHead head = request.head();
        const Outcomes got =
            Outcomes::of(open_event(head, world.registry), [&](const Sender& sender) {
                WholeBody whole(request.body);
                return of_clicks ? accept_clicks(head, world.names, sender, whole, world.gate, kNow,
                                                 world.scratch)
                                 : accept_event(head, world.names, sender, whole, world.gate, kNow,
                                                world.scratch);
            });
        ASSERT_TRUE(got.answer);
        EXPECT_EQ(got.answer->status, 401);
        EXPECT_EQ(got.answer->text(), "");
        const auto shop = world.registry.find_shop("shop-1");
        EXPECT_EQ(diagnose_signature(head.signature, body, shop.get(), {},
                                     of_clicks ? kWriteClicks : kWriteOrders, kNow),
                  "token_scope");
    }
}

TEST_F(ClickIntake, AnotherTopicIs400) {
    for (const char* topic : {"ORDER_CREATE", "PRODUCT_UPSERT", "CLICK_IMPORT", "click"}) {
        const Outcomes got = send(click_request().set("X-SVC-TOPIC", {topic}));
        ASSERT_TRUE(got.answer) << topic;
        EXPECT_THAT(std::string(got.answer->text()),
                    HasSubstr(detail("X-SVC-TOPIC", "INVALID_FORMAT")));
        EXPECT_EQ(got.answer->reason, Reason::kHeader);
    }
}

TEST_F(ClickIntake, EveryFieldIsRequiredButTheLink) {
    const std::string answer = answer_to("{}");
    for (const char* field : {"svc_anon_id", "program_id", "creator_id", "occurred_at"}) {
        EXPECT_THAT(answer, HasSubstr(detail(field, "REQUIRED")));
    }
    EXPECT_THAT(answer, Not(HasSubstr("link_id")));
    EXPECT_EQ(answer_to(click_json(R"(,"link_id":null)")), "accepted");
}

TEST_F(ClickIntake, AMalformedFieldIsNamed) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {R"({"svc_anon_id":"","program_id":"p","creator_id":"c","occurred_at":"2023-11-14T22:00:00Z"})",
         "svc_anon_id"},
        {R"({"svc_anon_id":"d","program_id":"a b","creator_id":"c","occurred_at":"2023-11-14T22:00:00Z"})",
         "program_id"},
        {R"({"svc_anon_id":"d","program_id":"p","creator_id":7,"occurred_at":"2023-11-14T22:00:00Z"})",
         "creator_id"},
        {R"({"svc_anon_id":"d","program_id":"p","creator_id":"c","occurred_at":"yesterday"})",
         "occurred_at"},
        {click_json(R"(,"link_id":"")"), "link_id"},
        {click_json(R"(,"link_id":"..")"), "link_id"},
        {click_json(R"(,"link_id":"a/b")"), "link_id"},
        {click_json(R"(,"link_id":")" + std::string(65, 'a') + "\""), "link_id"},
        {click_json(R"(,"creator_id":"ben")"), "creator_id"}};
    for (const auto& [body, field] : wrong) {
        EXPECT_THAT(answer_to(body), HasSubstr(detail(field, "INVALID_FORMAT"))) << body;
    }
}

TEST_F(ClickIntake, AClickMayBeADayAheadAndNoMore) {
    const auto at = [](Timestamp time) {
        return R"({"svc_anon_id":"d","program_id":"p","creator_id":"c","occurred_at":")" +
               time.to_string() + "\"}";
    };
    EXPECT_EQ(answer_to(at(kNow.plus_days(1))), "accepted");
    EXPECT_THAT(answer_to(at(kNow.plus_days(1).plus_seconds(1))),
                HasSubstr(detail("occurred_at", "INVALID_FORMAT")));
}

TEST_F(ClickIntake, AWrongListIsNamed) {
    const auto batch = [](std::size_t count) {
        std::string body = R"({"clicks":[)";
        for (std::size_t i = 0; i < count; ++i) {
            body += (i == 0 ? "" : ",") + click_json();
        }
        return body + "]}";
    };
    EXPECT_EQ(answer_to(batch(kClicksMax)), "accepted");
    for (const std::string& body :
         {batch(0), batch(kClicksMax + 1), std::string(R"({"clicks":{}})"),
          std::string(R"({"clicks":[],"svc_anon_id":"d"})"),
          R"({"clicks":[)" + click_json() + R"(],"link_id":"a"})"}) {
        EXPECT_THAT(answer_to(body), HasSubstr(detail("clicks", "INVALID_FORMAT")));
    }
    EXPECT_THAT(answer_to(R"({"clicks":[7]})"), HasSubstr(detail("clicks[0]", "INVALID_FORMAT")));
}

TEST_F(ClickIntake, AWrongClickOfABatchIsNamedAndNothingIsStored) {
    const std::string body = R"({"clicks":[)" + click_json() +
                             R"(,{"svc_anon_id":"d","program_id":"p","occurred_at":)"
                             R"("2023-11-14T22:00:00Z"},)" +
                             click_json() + "]}";
    const Outcomes got = send(click_request(body));
    ASSERT_TRUE(got.answer);
    EXPECT_THAT(std::string(got.answer->text()),
                HasSubstr(detail("clicks[1].creator_id", "REQUIRED")));
    EXPECT_FALSE(got.accepted.translated);
}

TEST_F(ClickIntake, ABodyThatIsNoObjectIs400) {
    for (const char* body : {"", "[]", "{", "7", R"({"a":"\ud800"})"}) {
        EXPECT_THAT(answer_to(body), HasSubstr("Invalid request data")) << body;
    }
}

TEST_F(ClickIntake, TheDevicesFieldFollowsThePrefix) {
    const HeaderNames names("X-LC-");
    const std::string body =
        R"({"lc_anon_id":"d","program_id":"p","creator_id":"c","occurred_at":"2023-11-14T22:00:00Z"})";
    ClickBatchParser parser;
    EXPECT_NE(parser.parse(body, names.anon_field, kNow), nullptr);
    EXPECT_EQ(parser.parse(body, "svc_anon_id", kNow), nullptr);
}

}  // namespace
}  // namespace sluice
