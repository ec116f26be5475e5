#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/intake/intake.hpp"
#include "unit/core/intake/intake_fixture.hpp"
#include "unit/core/protocol/order_fixture.hpp"

namespace sluice {
namespace {

using test::kNow;
using test::Outcomes;
using test::Request;
using test::signature_of;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Request order_request(std::string body = std::string(test::kOrder)) {
    Request request;
    request.set("X-SVC-SHOP-ID", {"shop-1"})
        .set("X-SVC-TOPIC", {"ORDER_UPDATE"})
        .set("X-Signature", {signature_of(body)})
        .set("Content-Type", {"application/json"});
    request.body = std::move(body);
    return request;
}

Outcomes send(World& world, const Request& request) {
    const RequestHead head = request.head();
    return Outcomes::of(open_event(head, world.registry), [&](const Sender& sender) {
        WholeBody body(request.body);
        return accept_event(head, world.names, sender, body, world.gate, kNow, world.scratch);
    });
}

Outcomes send(const Request& request) {
    World world;
    return send(world, request);
}

void expect_unauthorized(const Outcomes& got, Reason reason) {
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 401);
    EXPECT_EQ(got.answer->text(), "");
    EXPECT_EQ(got.answer->content_type, "");
    EXPECT_FALSE(got.answer->rate) << "an unauthenticated sender learns nothing";
    EXPECT_EQ(got.answer->outcome, Outcome::kUnauthorized);
    EXPECT_EQ(got.answer->reason, reason);
}

TEST(EventIntakeRules, AValidEventIsAcceptedWithItsSender) {
    World world;
    const Request request = order_request();
    const Outcomes got = send(world, request);
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.accepted.meta.topic, Topic::kOrderUpdate);
    EXPECT_EQ(got.accepted.meta.account_id, "acme");
    EXPECT_EQ(got.accepted.meta.account_number, AccountNumber{1});
    EXPECT_EQ(got.accepted.meta.shop_id, "shop-1");
    EXPECT_EQ(got.accepted.meta.shop_number, ShopNumber{1});
    EXPECT_EQ(got.accepted.meta.anon_id, "anon-1");
    EXPECT_EQ(got.accepted.meta.idempotency_key, "");
    EXPECT_THAT(world.gate.counted, ElementsAre("acme"));
    EXPECT_EQ(got.token, TokenId("tok_0000000000000001"));
}

TEST(EventIntakeRules, TheTokenThatSignedIsNamedAndNoOther) {
    World world;
    world.registry.add_token(world.acme, "second secret of acme, sixteen", kWriteOrders);
    Request request = order_request();
    request.set("X-Signature", {signature_of(request.body, "second secret of acme, sixteen")});
    EXPECT_EQ(send(world, request).token, TokenId("tok_0000000000000003"));
    request.set("X-Signature", {signature_of(request.body, World::kOtherSecret)});
    EXPECT_TRUE(send(world, request).token.empty());
}

TEST(EventIntakeRules, OtherMethodsGet405WithAllowPost) {
    Request request = order_request();
    request.is_post = false;
    const Outcomes got = send(request);
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 405);
    EXPECT_TRUE(got.answer->allow_post);
    EXPECT_EQ(got.answer->text(), "");
    EXPECT_TRUE(got.before_body);
}

TEST(EventIntakeRules, ASecretThatDoesNotOpenNowIs503AndNot401) {
    World world;
    const auto token =
        world.registry.add_token(world.acme, "sealed under another key", kWriteOrders);
    token->signing_key.reset();
    token->unreadable = true;
    Request request = order_request();
    EXPECT_FALSE(send(world, request).answer) << "another token of the account signed it";
    request.set("X-Signature", {signature_of(request.body, "sealed under another key")});
    const Outcomes got = send(world, request);
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 503) << "nobody can say that it is wrong";
    EXPECT_EQ(got.answer->reason, Reason::kStoreUnavailable);
    EXPECT_THAT(world.gate.counted, ElementsAre("acme")) << "of the first";
    token->expires_at = kNow;
    expect_unauthorized(send(world, request), Reason::kSignatureMismatch);
}

/// Else the answer would tell which shops there are, or an honest sender that it is wrong.
TEST(EventIntakeRules, WithoutTheMasterKeyEveryWrongSignatureIs503) {
    World world;
    world.registry.key_outdated = true;
    EXPECT_FALSE(send(world, order_request()).answer) << "a token that was used before";
    for (const char* shop : {"shop-1", "nobody"}) {
        Request request = order_request().set("X-SVC-SHOP-ID", {shop});
        request.set("X-Signature", {signature_of(request.body, "not a secret of ours")});
        const Outcomes got = send(world, request);
        ASSERT_TRUE(got.answer) << shop;
        EXPECT_EQ(got.answer->status, 503) << shop;
        EXPECT_EQ(got.answer->reason, Reason::kStoreUnavailable) << shop;
    }
}

TEST(EventIntakeRules, AnyOfTheTokensThatCannotBeReadMayHaveSigned) {
    World world;
    for (const char* secret : {"one sealed secret", "another sealed secret"}) {
        const auto token = world.registry.add_token(world.acme, secret, kWriteOrders);
        token->signing_key.reset();
        token->unreadable = true;
    }
    Request request = order_request();
    request.set("X-Signature", {signature_of(request.body, "another sealed secret")});
    EXPECT_EQ(send(world, request).answer->status, 503);
}

TEST(EventIntakeRules, AMissingOrRepeatedShopIs401) {
    expect_unauthorized(send(order_request().set("X-SVC-SHOP-ID", {})), Reason::kShopMissing);
    expect_unauthorized(send(order_request().set("X-SVC-SHOP-ID", {""})), Reason::kShopMissing);
    expect_unauthorized(send(order_request().set("X-SVC-SHOP-ID", {"shop-1", "shop-1"})),
                        Reason::kShopMalformed);
}

TEST(EventIntakeRules, AMissingOrMalformedSignatureIs401) {
    const std::string right = signature_of(test::kOrder);
    std::string upper = right;
    for (char& c : upper) {
        c = static_cast<char>(std::toupper(c));
    }
    expect_unauthorized(send(order_request().set("X-Signature", {})), Reason::kSignatureMissing);
    expect_unauthorized(send(order_request().set("X-Signature", {""})), Reason::kSignatureMissing);
    for (const std::string& bad :
         {"sha256=" + right, upper, right + "0", right.substr(1), std::string("x")}) {
        expect_unauthorized(send(order_request().set("X-Signature", {bad})),
                            Reason::kSignatureMalformed);
    }
    expect_unauthorized(send(order_request().set("X-Signature", {right, right})),
                        Reason::kSignatureMalformed);
}

TEST(EventIntakeRules, AWrongSignatureIs401) {
    expect_unauthorized(
        send(order_request().set("X-Signature", {signature_of(test::kOrder, "another secret")})),
        Reason::kSignatureMismatch);
    Request changed = order_request();
    changed.body += ' ';
    expect_unauthorized(send(changed), Reason::kSignatureMismatch);
    Request empty = order_request();
    empty.body.clear();
    expect_unauthorized(send(empty), Reason::kSignatureMismatch);
}

TEST(EventIntakeRules, AnUnknownShopIs401AfterTheBodyAsAWrongSignatureIs) {
    for (const char* shop : {"nowhere", "shop 1", "\xff", "SHOP-1"}) {
        const Outcomes got = send(order_request().set("X-SVC-SHOP-ID", {shop}));
        expect_unauthorized(got, Reason::kShopUnknown);
        EXPECT_FALSE(got.before_body) << "it must cost one signature check";
    }
}

TEST(EventIntakeRules, AShopOfAnotherAccountNeedsThatAccountsToken) {
    expect_unauthorized(send(order_request().set("X-SVC-SHOP-ID", {"shop-2"})),
                        Reason::kSignatureMismatch);
}

TEST(EventIntakeRules, TheDummyKeyOpensNothing) {
    const std::string forged = signature_of(test::kOrder, "stands for the keys of unknown shops");
    expect_unauthorized(
        send(order_request().set("X-SVC-SHOP-ID", {"nowhere"}).set("X-Signature", {forged})),
        Reason::kShopUnknown);
}

TEST(EventIntakeRules, ASuspendedShopOrAccountAnswersLikeAnUnknownOne) {
    World shop_suspended;
    shop_suspended.registry.shops["shop-1"]->suspended = true;
    expect_unauthorized(send(shop_suspended, order_request()), Reason::kShopSuspended);
    World account_suspended;
    account_suspended.acme->suspended = true;
    expect_unauthorized(send(account_suspended, order_request()), Reason::kShopSuspended);
}

TEST(EventIntakeRules, AnyActiveTokenWithWriteOrdersMaySign) {
    World world;
    world.registry.add_token(world.acme, "second secret of acme", kWriteOrders);
    const std::string body(test::kOrder);
    EXPECT_FALSE(send(world, order_request()).answer);
    EXPECT_FALSE(send(world, order_request().set("X-Signature",
                                                 {signature_of(body, "second secret of acme")}))
                     .answer);
}

TEST(EventIntakeRules, RevokedExpiredAndOtherwiseScopedTokensDoNot) {
    World expired;
    expired.acme->tokens.clear();
    expired.registry.add_token(expired.acme, World::kSecret, kWriteOrders)->expires_at = kNow;
    expect_unauthorized(send(expired, order_request()), Reason::kNoUsableToken);

    World not_yet_expired;
    not_yet_expired.acme->tokens.clear();
    not_yet_expired.registry.add_token(not_yet_expired.acme, World::kSecret, kWriteOrders)
        ->expires_at = Timestamp{kNow.seconds, 1};
    EXPECT_FALSE(send(not_yet_expired, order_request()).answer);

    World revoked;
    revoked.acme->tokens.clear();
    revoked.registry.add_token(revoked.acme, World::kSecret, kWriteOrders)->revoked = true;
    expect_unauthorized(send(revoked, order_request()), Reason::kNoUsableToken);

    World scoped;
    scoped.acme->tokens.clear();
    scoped.registry.add_token(scoped.acme, World::kSecret, kWriteProducts | kReadOrders);
    expect_unauthorized(send(scoped, order_request()), Reason::kNoUsableToken);
    // The store gives such a token no key at all; intake does not count on it.
    scoped.registry.add_token(scoped.acme, World::kSecret, kWriteOrders)->scopes = kReadOrders;
    expect_unauthorized(send(scoped, order_request()), Reason::kNoUsableToken);
}

TEST(EventIntakeRules, OnlyAuthenticatedRequestsCount) {
    World world;
    send(world, order_request().set("X-Signature", {std::string(64, '0')}));
    send(world, order_request().set("X-SVC-SHOP-ID", {"nowhere"}));
    EXPECT_THAT(world.gate.counted, IsEmpty());
    send(world, order_request("{"));
    EXPECT_EQ(world.gate.counted.size(), 1U) << "whatever its answer then is";
}

TEST(EventIntakeRules, AUsedUpWindowIs429BeforeAnythingElseIsSaid) {
    World world;
    world.gate.verdict = RateVerdict{false, 600, 0, kNow.seconds + 5, 5};
    const Outcomes got = send(world, order_request("{").set("X-SVC-TOPIC", {}));
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 429);
    EXPECT_EQ(got.answer->text(), R"({"error":"Rate limit exceeded"})");
    EXPECT_EQ(got.answer->content_type, "application/json");
    EXPECT_EQ(got.answer->retry_after, got.answer->rate->retry_after);
    ASSERT_TRUE(got.answer->rate);
    EXPECT_EQ(got.answer->rate->retry_after, 5U);
}

TEST(EventIntakeRules, EveryAuthenticatedAnswerCarriesTheRate) {
    EXPECT_TRUE(send(order_request("{")).answer->rate);
    EXPECT_TRUE(send(order_request().set("X-SVC-TOPIC", {})).answer->rate);
    World unlimited;
    unlimited.gate.verdict.reset();
    EXPECT_FALSE(send(unlimited, order_request("{")).answer->rate);
}

TEST(EventIntakeRules, HeaderErrorsComeFirstAndTheBodyIsNotExamined) {
    const Outcomes got = send(order_request("not json")
                                  .set("X-SVC-TOPIC", {"PRODUCT_UPSERT"})
                                  .set("Content-Type", {})
                                  .set("Content-Encoding", {"gzip"}));
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 400);
    EXPECT_EQ(got.answer->text(),
              R"({"error":"Invalid request data","details":[)"
              R"({"field":"X-SVC-TOPIC","code":"INVALID_FORMAT",)"
              R"("message":"must be ORDER_CREATE, ORDER_UPDATE or ORDER_CANCEL"},)"
              R"({"field":"Content-Type","code":"REQUIRED","message":"is required"},)"
              R"({"field":"Content-Encoding","code":"INVALID_FORMAT",)"
              R"("message":"must be absent or identity: the body is signed as it is sent"}]})");
    EXPECT_EQ(got.answer->reason, Reason::kHeader);
}

TEST(EventIntakeRules, TheTopicIsOneOfTheOrderTopics) {
    const auto answer = [](std::vector<std::string> values) {
        return send(order_request().set("X-SVC-TOPIC", std::move(values))).answer;
    };
    EXPECT_THAT(std::string(answer({})->text()), HasSubstr("\"REQUIRED\""));
    EXPECT_THAT(std::string(answer({""})->text()), HasSubstr("\"REQUIRED\""));
    for (const char* bad : {"order_create", "ORDER_DELETE", "PRODUCT_UPSERT", "PROGRAM_APPLY",
                            "UNKNOWN", "ORDER_CREATE,ORDER_CREATE"}) {
        EXPECT_THAT(std::string(answer({bad})->text()), HasSubstr("INVALID_FORMAT")) << bad;
    }
    EXPECT_THAT(std::string(answer({"ORDER_CREATE", "ORDER_CREATE"})->text()),
                HasSubstr("INVALID_FORMAT"));
    for (const char* good : {"ORDER_CREATE", "ORDER_UPDATE", "ORDER_CANCEL"}) {
        EXPECT_FALSE(answer({good})) << good;
    }
}

TEST(EventIntakeRules, ContentTypeParametersAndCaseDoNotMatter) {
    for (const char* good : {"application/json", "Application/JSON", "application/json;charset=x",
                             "application/json ; charset=utf-8", "application/json;"}) {
        EXPECT_FALSE(send(order_request().set("Content-Type", {good})).answer) << good;
    }
    for (const char* bad : {"text/json", "application/jsonx", "application/json, text/plain",
                            "application", ";application/json", "application/x-json", "json"}) {
        EXPECT_TRUE(send(order_request().set("Content-Type", {bad})).answer) << bad;
    }
    EXPECT_TRUE(
        send(order_request().set("Content-Type", {"application/json", "application/json"})).answer);
}

TEST(EventIntakeRules, ContentEncodingIsIdentityOrNone) {
    for (const char* good : {"identity", "Identity", "IDENTITY", ""}) {
        EXPECT_FALSE(send(order_request().set("Content-Encoding", {good})).answer) << good;
    }
    for (const char* bad : {"gzip", "br", "identity, gzip", "x"}) {
        const Outcomes got = send(order_request().set("Content-Encoding", {bad}));
        ASSERT_TRUE(got.answer) << bad;
        EXPECT_EQ(got.answer->status, 400);
    }
    EXPECT_TRUE(send(order_request().set("Content-Encoding", {"identity", "identity"})).answer);
}

TEST(EventIntakeRules, AuthorizationAndIdempotencyKeyAreIgnored) {
    EXPECT_FALSE(send(order_request()
                          .set("Authorization", {"Bearer nonsense", "Basic x"})
                          .set("Idempotency-Key", {std::string(1000, 'k')}))
                     .answer);
}

TEST(EventIntakeRules, FieldErrorsAreListedWithFieldCodeAndMessage) {
    const Outcomes got =
        send(order_request(test::edited("\"120.00\"", "1", test::edited("\"EUR\"", "null"))));
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 400);
    EXPECT_EQ(got.answer->content_type, "application/json");
    EXPECT_THAT(std::string(got.answer->text()),
                StartsWith(R"({"error":"Invalid request data","details":[)"
                           R"({"field":"amount","code":"INVALID_FORMAT","message":"must be)"));
    EXPECT_THAT(
        std::string(got.answer->text()),
        HasSubstr(R"({"field":"currency_code","code":"REQUIRED","message":"is required"})"));
    EXPECT_EQ(got.answer->reason, Reason::kFields);
}

TEST(EventIntakeRules, AnErrorOfTheWholeBodyHasNoField) {
    const Outcomes got = send(order_request("[1"));
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->text(),
              R"({"error":"Invalid request data","details":[)"
              R"({"code":"INVALID_FORMAT","message":"the body is not valid JSON, line 1, )"
              R"(column 3: expected , or ], but after [1 the body ends"}]})");
    EXPECT_EQ(got.answer->reason, Reason::kBodyNotJson);
}

TEST(EventIntakeRules, TheHeaderPrefixNamesHeadersAndField) {
    const HeaderNames names("X-LC-");
    EXPECT_EQ(names.shop, "X-LC-SHOP-ID");
    EXPECT_EQ(names.topic, "X-LC-TOPIC");
    EXPECT_EQ(names.anon_field, "lc_anon_id");
}

TEST(EventAnswerRules, SuccessIsPlainTextAndFailuresAreEmpty) {
    const RateVerdict rate{true, 600, 1, kNow.seconds, 1};
    const Answer success = event_success(rate);
    EXPECT_EQ(success.status, 200);
    EXPECT_EQ(success.text(), "success");
    EXPECT_EQ(success.content_type, "text/plain");
    EXPECT_TRUE(success.rate);
    const Answer unavailable = failed(Endpoint::kEvents, 503, Reason::kQueueFull, rate);
    EXPECT_EQ(unavailable.status, 503);
    EXPECT_EQ(unavailable.outcome, Outcome::kUnavailable);
    EXPECT_EQ(unavailable.text(), "");
    EXPECT_EQ(unavailable.reason, Reason::kQueueFull);
    const Answer error = failed(Endpoint::kEvents, 500, Reason::kNone, rate);
    EXPECT_EQ(error.status, 500);
    EXPECT_EQ(error.outcome, Outcome::kError);
    EXPECT_EQ(error.text(), "");
    EXPECT_TRUE(failed(Endpoint::kEvents, 413, Reason::kTooLarge, rate).nginx_page);
}

}  // namespace
}  // namespace sluice
