#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/intake/intake.hpp"
#include "unit/core/intake/intake_fixture.hpp"

namespace sluice {
namespace {

using test::kNow;
using test::Outcomes;
using test::Request;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kBatch =
    R"({"products":[{"platform_product_id":"p","title":"T","parent_id":"p"}]})";

Request batch_request(std::string body = std::string(kBatch)) {
    Request request;
    request.set("Authorization", {std::string("Bearer ") + World::kSecret})
        .set("X-SVC-SHOP-ID", {"shop-1"})
        .set("X-SVC-TOPIC", {"PRODUCT_UPSERT"})
        .set("X-Signature", {to_hex(sha256(body))})
        .set("Content-Type", {"application/json"})
        .set("Idempotency-Key", {"key-1"});
    request.body = std::move(body);
    return request;
}

Outcomes send_catalog(World& world, const Request& request) {
    const RequestHead head = request.head();
    return Outcomes::of(open_catalog(head, world.names, world.registry, kNow),
                        [&](const Sender& sender) {
                            WholeBody body(request.body);
                            return accept_catalog(head, sender, body, world.gate, world.scratch);
                        });
}

/// Status and, where there is one, that the body is `{"code":status,"message":"..."`.
int status(World& world, const Request& request) {
    const Outcomes got = send_catalog(world, request);
    if (!got.answer) {
        return 0;
    }
    EXPECT_EQ(got.answer->content_type, "application/json");
    const std::string start = "{\"code\":" + std::to_string(got.answer->status) + ",\"message\":\"";
    EXPECT_EQ(std::string(got.answer->text()).substr(0, start.size()), start);
    return got.answer->status;
}

int status(const Request& request) {
    World world;
    return status(world, request);
}

TEST(CatalogIntakeRules, AValidBatchIsAccepted) {
    World world;
    const Request request = batch_request();
    const Outcomes got = send_catalog(world, request);
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.accepted.meta.topic, Topic::kProductUpsert);
    EXPECT_EQ(got.accepted.meta.account_id, "acme");
    EXPECT_EQ(got.accepted.meta.shop_id, "shop-1");
    EXPECT_EQ(got.accepted.meta.shop_number, ShopNumber{1});
    EXPECT_EQ(got.accepted.meta.idempotency_key, "key-1");
    EXPECT_EQ(got.accepted.meta.records_count, 1U);
    EXPECT_EQ(got.accepted.body_sha256, sha256(kBatch));
    EXPECT_THAT(world.gate.counted, ElementsAre("acme"));
    EXPECT_EQ(got.token, TokenId("tok_0000000000000001"));
}

TEST(CatalogIntakeRules, Check1MethodIsPost) {
    Request request = batch_request();
    request.is_post = false;
    EXPECT_EQ(status(request), 405);
    EXPECT_TRUE(send_catalog(*std::make_unique<World>(), request).answer->allow_post);
}

TEST(CatalogIntakeRules, Check1HeadersAre400) {
    for (const char* name : {"Content-Type", "X-SVC-TOPIC", "X-SVC-SHOP-ID", "Idempotency-Key"}) {
        EXPECT_EQ(status(batch_request().set(name, {})), 400) << name;
        EXPECT_EQ(status(batch_request().set(name, {""})), 400) << name;
        const std::string value = batch_request().headers[name].front();
        EXPECT_EQ(status(batch_request().set(name, {value, value})), 400) << name;
    }
    EXPECT_EQ(status(batch_request().set("Content-Type", {"text/csv"})), 400);
    EXPECT_EQ(status(batch_request().set("Content-Type", {"Application/Json; charset=utf-8"})), 0);
    EXPECT_EQ(status(batch_request().set("Content-Encoding", {"gzip"})), 400);
    EXPECT_EQ(status(batch_request().set("Content-Encoding", {"Identity"})), 0);
    for (const char* topic : {"ORDER_CREATE", "product_upsert", "FORGET", "x"}) {
        EXPECT_EQ(status(batch_request().set("X-SVC-TOPIC", {topic})), 400) << topic;
    }
}

TEST(CatalogIntakeRules, Check1IdempotencyKeyIs1To255Bytes) {
    EXPECT_EQ(status(batch_request().set("Idempotency-Key", {std::string(255, 'k')})), 0);
    EXPECT_EQ(status(batch_request().set("Idempotency-Key", {std::string(256, 'k')})), 400);
}

TEST(CatalogIntakeRules, Check2AuthorizationIsBearer) {
    const std::string secret = World::kSecret;
    for (const std::string& bad : {std::string(), secret, "Basic " + secret, std::string("Bearer"),
                                   "Bearer" + secret, std::string("Bearer  ")}) {
        EXPECT_EQ(status(batch_request().set("Authorization", {bad})), 401) << bad;
    }
    EXPECT_EQ(status(batch_request().set("Authorization", {})), 401);
    EXPECT_EQ(status(batch_request().set("Authorization", {"Bearer a", "Bearer a"})), 401);
    for (const std::string& good :
         {"bearer " + secret, "BEARER " + secret, "Bearer   " + secret, "Bearer " + secret + " "}) {
        EXPECT_EQ(status(batch_request().set("Authorization", {good})), 0) << good;
    }
}

TEST(CatalogIntakeRules, Check2AnUnknownRevokedOrExpiredTokenIs403) {
    EXPECT_EQ(status(batch_request().set("Authorization", {"Bearer unknown"})), 403);
    World revoked;
    revoked.registry.add_token(revoked.acme, "a revoked secret", kWriteProducts, true);
    EXPECT_EQ(status(revoked, batch_request().set("Authorization", {"Bearer a revoked secret"})),
              403);
    World expired;
    expired.registry.add_token(expired.acme, "an expired secret", kWriteProducts)->expires_at =
        kNow;
    EXPECT_EQ(status(expired, batch_request().set("Authorization", {"Bearer an expired secret"})),
              403);
    World suspended;
    suspended.acme->suspended = true;
    EXPECT_EQ(status(suspended, batch_request()), 403);
}

TEST(CatalogIntakeRules, Check2ATokenWithoutWriteProductsIs401) {
    World world;
    world.registry.add_token(world.acme, "an orders secret", kWriteOrders | kReadOrders);
    EXPECT_EQ(status(world, batch_request().set("Authorization", {"Bearer an orders secret"})),
              401);
}

TEST(CatalogIntakeRules, Check2AShopOutsideTheTokensAccountIs404) {
    EXPECT_EQ(status(batch_request().set("X-SVC-SHOP-ID", {"nowhere"})), 404);
    EXPECT_EQ(status(batch_request().set("X-SVC-SHOP-ID", {"shop-2"})), 404);
    EXPECT_EQ(status(batch_request().set("X-SVC-SHOP-ID", {"no id / at all"})), 404);
    World suspended;
    suspended.registry.shops["shop-1"]->suspended = true;
    EXPECT_EQ(status(suspended, batch_request()), 404);
}

TEST(CatalogIntakeRules, Check3TheSignatureIsTheDigestOfTheBody) {
    for (const std::string& bad : {std::string(64, '0'), "sha256=" + to_hex(sha256(kBatch)),
                                   std::string(), test::signature_of(kBatch)}) {
        EXPECT_EQ(status(batch_request().set("X-Signature", {bad})), 401) << bad;
    }
    EXPECT_EQ(status(batch_request().set("X-Signature", {})), 401);
    const std::string right = to_hex(sha256(kBatch));
    EXPECT_EQ(status(batch_request().set("X-Signature", {right, right})), 401);
    std::string upper = right;
    for (char& c : upper) {
        c = static_cast<char>(std::toupper(c));
    }
    EXPECT_EQ(status(batch_request().set("X-Signature", {upper})), 0);
}

TEST(CatalogIntakeRules, Check4AUsedUpWindowIs429) {
    World world;
    world.gate.verdict = RateVerdict{false, 600, 0, kNow.seconds + 5, 5};
    EXPECT_EQ(status(world, batch_request("not json")), 429);
    const Outcomes got = send_catalog(world, batch_request());
    EXPECT_EQ(got.answer->retry_after, got.answer->rate->retry_after);
    EXPECT_TRUE(got.answer->rate);
}

TEST(CatalogIntakeRules, Check5TheBodyIsABatch) {
    for (const char* body : {"not json", "{}", "[]", R"({"products":[]})", ""}) {
        EXPECT_EQ(status(batch_request(body)), 400) << body;
    }
}

TEST(CatalogIntakeRules, Check6RecordErrorsAre422) {
    World world;
    const Outcomes got = send_catalog(world, batch_request(R"({"products":[{"title":"T"},7]})"));
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 422);
    EXPECT_EQ(got.answer->outcome, Outcome::kInvalid);
    EXPECT_TRUE(got.answer->rate);
    EXPECT_EQ(got.answer->text(),
              R"({"code":422,"message":"Some records are invalid; nothing of the request was )"
              R"(stored","recordErrors":[{"index":0,"field":"products[0].platform_product_id",)"
              R"("code":"REQUIRED","message":"is required"},{"index":1,"field":"products[1]",)"
              R"("code":"INVALID_FORMAT","message":"must be an object"}]})");
}

TEST(CatalogIntakeRules, TheFirstFailureAnswers) {
    World world;
    world.gate.verdict = RateVerdict{false, 600, 0, kNow.seconds + 5, 5};
    Request request = batch_request("not json");
    request.is_post = false;
    request.set("Content-Type", {}).set("Authorization", {}).set("X-SVC-SHOP-ID", {"nowhere"});
    request.set("X-Signature", {});
    EXPECT_EQ(status(world, request), 405);
    request.is_post = true;
    EXPECT_EQ(status(world, request), 400);
    request.set("Content-Type", {"application/json"});
    EXPECT_EQ(status(world, request), 401);
    request.set("Authorization", {"Bearer unknown"});
    EXPECT_EQ(status(world, request), 403);
    request.set("Authorization", {std::string("Bearer ") + World::kSecret});
    EXPECT_EQ(status(world, request), 404);
    request.set("X-SVC-SHOP-ID", {"shop-1"});
    EXPECT_EQ(status(world, request), 401);
    EXPECT_THAT(world.gate.counted, IsEmpty()) << "not authenticated so far";
    request.set("X-Signature", {to_hex(sha256("not json"))});
    EXPECT_EQ(status(world, request), 429);
    world.gate.verdict->allowed = true;
    EXPECT_EQ(status(world, request), 400);
}

TEST(CatalogIntakeRules, AnInvalidHeadIsAnsweredBeforeTheBody) {
    World world;
    EXPECT_TRUE(send_catalog(world, batch_request().set("Authorization", {})).before_body);
    EXPECT_TRUE(send_catalog(world, batch_request().set("X-Signature", {"x"})).before_body);
    EXPECT_FALSE(send_catalog(world, batch_request().set("X-Signature", {std::string(64, '0')}))
                     .before_body);
}

TEST(CatalogAnswerRules, SuccessSaysHowManyWereAccepted) {
    const Answer first = catalog_success(17, false, std::nullopt);
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.text(),
              R"({"success":true,"message":"Accepted for processing","processedCount":17})");
    const Answer replay = catalog_success(17, true, std::nullopt);
    EXPECT_EQ(replay.text(), first.text());
    EXPECT_EQ(replay.outcome, Outcome::kReplayed);
}

TEST(CatalogAnswerRules, AConflictingKeyIs400) {
    const Answer conflict = catalog_conflict(std::nullopt);
    EXPECT_EQ(conflict.status, 400);
    EXPECT_EQ(
        conflict.text(),
        R"({"code":400,"message":"Idempotency-Key was already used with a different request"})");
}

TEST(CatalogAnswerRules, MessagesAreEscaped) {
    const Answer answer = catalog_error(500, Outcome::kError, Reason::kNone, "a \"b\"\n\\", {});
    EXPECT_THAT(std::string(answer.text()), HasSubstr(R"("message":"a \"b\"\u000a\\"})"));
}

}  // namespace
}  // namespace sluice
