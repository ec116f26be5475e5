// Webhooks of platforms: which senders are authenticated, and what each body leads to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/intake/intake.hpp"
#include "core/protocol/order_event.hpp"
#include "unit/core/intake/intake_fixture.hpp"
#include "unit/core/shops/platform_orders.hpp"

namespace sluice {
namespace {

using test::base64;
using test::edited_order;
using test::kNow;
using test::kShopifyOrder;
using test::kWooOrder;
using test::Outcomes;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAppSecret = "0123456789abcdef0123456789abcdef";
constexpr const char* kDomain = "mugs.myshopify.com";

/// A shop on Shopify and one on WooCommerce, of one account with a token for each.
struct Hooks : World {
    Hooks() {
        mugs->source = {Platform::kShopify, kDomain, {}};
        tea->source = {Platform::kWooCommerce, "tea.example", {}};
        registry.add_token(acme, kAppSecret, kShopifyWebhooks);
        woo_token = registry.add_token(acme, "secret of a webhook", kWooCommerceWebhooks);
    }

    std::shared_ptr<ShopView> mugs = registry.add_shop("mugs", 3, acme);
    std::shared_ptr<ShopView> tea = registry.add_shop("tea", 4, acme);
    std::shared_ptr<TokenView> woo_token;
};

struct Webhook {
    Platform platform = Platform::kShopify;
    std::string body{kShopifyOrder};
    std::string secret = kAppSecret;
    std::string topic = "orders/updated";
    std::string shop = kDomain;
    std::string address{};
    std::string content_type = "application/json";
    std::optional<std::vector<std::string>> signatures{};
    bool is_post = true;
    std::string delivery = "545ebdd4";
    std::string triggered_at = "2026-03-01T10:00:01.516267807Z";

    Outcomes send(Hooks& world) const {
        const std::vector<std::string> signed_as =
            signatures.value_or(std::vector{base64(SigningKey(secret).sign(body))});
        RequestHead head;
        head.is_post = is_post;
        head.shop = {shop, shop.empty() ? 0U : 1U};
        head.topic = {topic, 1};
        head.content_type = {content_type, 1};
        head.shop_of_address = address;
        head.delivery = {delivery, 1};
        head.triggered_at = {triggered_at, 1};
        head.signature.count = static_cast<std::uint32_t>(signed_as.size());
        head.signature.value = signed_as.empty() ? std::string_view() : signed_as.front();
        return Outcomes::of(open_webhook(head, platform, world.registry),
                            [&](const Sender& sender) {
                                WholeBody whole(body);
                                return accept_webhook(head, platform, "svc_anon_id", sender, whole,
                                                      world.gate, kNow, world.scratch);
                            });
    }
};

Webhook woo() {
    return {.platform = Platform::kWooCommerce,
            .body = std::string(kWooOrder),
            .secret = "secret of a webhook",
            .topic = "order.updated",
            .shop = "https://tea.example/"};
}

void expect_refused(const Outcomes& got, Reason reason, std::uint16_t status = 401) {
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, status);
    EXPECT_EQ(got.answer->reason, reason);
    EXPECT_TRUE(status != 401 || got.answer->text().empty());
}

void expect_success(const Outcomes& got, Outcome outcome) {
    ASSERT_TRUE(got.answer);
    EXPECT_EQ(got.answer->status, 200);
    EXPECT_EQ(got.answer->text(), "success");
    EXPECT_EQ(got.answer->outcome, outcome);
}

TEST(Webhooks, ASignedOrderIsStoredInOurFormat) {
    Hooks world;
    const Outcomes got = Webhook().send(world);
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.accepted.meta.topic, Topic::kOrderUpdate);
    EXPECT_EQ(got.accepted.meta.shop_id, "mugs");
    EXPECT_EQ(got.accepted.meta.anon_id, "dev-12345678");
    EXPECT_EQ(got.accepted.outcome, Outcome::kAccepted);
    OrderEventParser parser;
    ASSERT_TRUE(got.accepted.translated);
    EXPECT_NE(parser.parse(*got.accepted.translated, Topic::kOrderUpdate, "svc_anon_id"), nullptr);
    EXPECT_TRUE(world.gate.counted.empty()) << "it takes no place in the rate window";
    EXPECT_THAT(world.gate.recognized, ElementsAre("acme"));
}

TEST(Webhooks, TheRecordHasTheHeadersAndTheSignatureThatWasChecked) {
    Hooks world;
    Webhook hook;
    const Outcomes got = hook.send(world);
    ASSERT_TRUE(got.accepted.meta.source);
    const RecordSource& source = *got.accepted.meta.source;
    EXPECT_EQ(source.platform, Platform::kShopify);
    EXPECT_EQ(source.topic, "orders/updated");
    EXPECT_EQ(source.delivery, hook.delivery);
    EXPECT_EQ(source.triggered_at, hook.triggered_at);
    EXPECT_EQ(source.api_version, "");
    EXPECT_EQ(source.signature, SigningKey(kAppSecret).sign(kShopifyOrder));
    hook.delivery = std::string(600, 'd');
    EXPECT_EQ(hook.send(world).accepted.meta.source->delivery, std::string(500, 'd'));
    for (const char* odd : {"\xc3\x28", "a\x01", "\x7f"}) {
        hook.delivery = odd;
        EXPECT_EQ(hook.send(world).accepted.meta.source->delivery, "") << odd;
    }
}

TEST(Webhooks, ADeletionIsStoredWithItsVersion) {
    Hooks world;
    Webhook hook;
    hook.topic = "orders/delete";
    hook.body = R"({"id":820982911946154508})";
    const Outcomes got = hook.send(world);
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.accepted.meta.topic, Topic::kOrderDelete);
    ASSERT_TRUE(got.accepted.translated);
    EXPECT_THAT(std::string(*got.accepted.translated),
                HasSubstr(R"("platform_order_id":"820982911946154508",)"
                          R"("platform_updated_at":"2026-03-01T10:00:01.999999999Z")"));
}

TEST(Webhooks, AnOrderUnderTheTopicOfADeletionBecomesADeadLetter) {
    Hooks world;
    for (Webhook hook : {Webhook(), woo()}) {
        hook.topic = hook.platform == Platform::kShopify ? "orders/delete" : "order.deleted";
        const Outcomes got = hook.send(world);
        ASSERT_FALSE(got.answer);
        EXPECT_EQ(got.accepted.outcome, Outcome::kUntranslated);
        EXPECT_EQ(got.accepted.meta.topic, Topic::kOrderUpdate);
    }
}

TEST(Webhooks, ALargeNumberDoesNotRefuseAnOrder) {
    Hooks world;
    Webhook hook;
    hook.body = edited_order(kShopifyOrder, R"("test":false)",
                             R"("test":false,"app_data":18446744073709551616)");
    const Outcomes got = hook.send(world);
    ASSERT_FALSE(got.answer) << got.answer->text();
    EXPECT_EQ(got.accepted.outcome, Outcome::kAccepted);
}

TEST(Webhooks, ARequestAboutAPersonIsStoredWithoutTheAddress) {
    Hooks world;
    Webhook hook;
    hook.topic = "customers/redact";
    hook.body =
        R"({"shop_id":1,"shop_domain":"mugs.myshopify.com","customer":{"id":7,"email":"jane@x.org","phone":"+1 555"},)"
        R"("orders_to_redact":[11,12]})";
    const Outcomes got = hook.send(world);
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.accepted.meta.topic, Topic::kPrivacyRequest);
    ASSERT_TRUE(got.accepted.translated);
    const std::string body(*got.accepted.translated);
    EXPECT_THAT(body, HasSubstr(R"("platform_order_ids":["11","12"])"));
    EXPECT_EQ(body.find("jane"), std::string::npos);
    EXPECT_EQ(body.find("555"), std::string::npos);
}

TEST(Webhooks, TheSignatureIsTheOneOfTheExampleInBase64) {
    EXPECT_EQ(base64(SigningKey(kAppSecret).sign(R"({"hello":"shop"})")),
              "oEmXloP8cUaPhDQ1bgofx6gycNNszzHJ7vrlcjsf34o=");
    EXPECT_TRUE(parse_base64_digest("oEmXloP8cUaPhDQ1bgofx6gycNNszzHJ7vrlcjsf34o="));
}

TEST(Webhooks, OtherFormsOfASignatureAreRefused) {
    Hooks world;
    const std::string right = base64(SigningKey(kAppSecret).sign(kShopifyOrder));
    for (const std::string& wrong :
         {"sha256=" + to_hex(SigningKey(kAppSecret).sign(kShopifyOrder)), "sha256=" + right,
          right.substr(0, 43), right + "=", "-" + right.substr(1), std::string("=")}) {
        Webhook hook;
        hook.signatures = {{wrong}};
        expect_refused(hook.send(world), Reason::kSignatureMalformed);
    }
    Webhook hook;
    hook.signatures = {{to_hex(SigningKey(kAppSecret).sign(kShopifyOrder))}};
    expect_refused(hook.send(world), Reason::kSignatureHex);
    hook.signatures = {{right, right}};
    expect_refused(hook.send(world), Reason::kSignatureMalformed);
    hook.signatures = std::vector<std::string>();
    expect_refused(hook.send(world), Reason::kSignatureMissing);
    hook = {};
    hook.secret = "of another app";
    expect_refused(hook.send(world), Reason::kSignatureMismatch);
    hook.is_post = false;
    expect_refused(hook.send(world), Reason::kMethod, 405);
}

TEST(Webhooks, BitsBeyondTheDigestMakeABase64Invalid) {
    std::string text = base64(Digest256{});
    EXPECT_TRUE(parse_base64_digest(text));
    text[42] = 'B';
    EXPECT_FALSE(parse_base64_digest(text));
}

TEST(Webhooks, TokensOfOtherScopesAndShopsDoNotCount) {
    Hooks world;
    Webhook hook;
    hook.secret = World::kSecret;  // write_orders
    expect_refused(hook.send(world), Reason::kSignatureMismatch);
    hook.secret = "secret of a webhook";
    expect_refused(hook.send(world), Reason::kSignatureMismatch);
    EXPECT_FALSE(woo().send(world).answer);
    world.woo_token->shop_id = ShopId("another");
    expect_refused(woo().send(world), Reason::kNoUsableToken);
    world.woo_token->shop_id = ShopId("tea");
    EXPECT_FALSE(woo().send(world).answer);
}

TEST(Webhooks, AddressAndHeaderMustAgree) {
    Hooks world;
    Webhook hook;
    hook.address = "mugs";
    EXPECT_FALSE(hook.send(world).answer);
    hook.shop = "Mugs.myshopify.com";
    EXPECT_FALSE(hook.send(world).answer);
    hook.shop = "tea.myshopify.com";
    expect_refused(hook.send(world), Reason::kShopDiffers);
    hook.shop.clear();
    EXPECT_FALSE(hook.send(world).answer);
    hook.address.clear();
    expect_refused(hook.send(world), Reason::kShopMissing);
    hook.address = "tea";  // of the other platform
    expect_refused(hook.send(world), Reason::kShopUnknown);
    hook.address = "shop-1";  // without a platform
    expect_refused(hook.send(world), Reason::kShopUnknown);
}

TEST(Webhooks, IgnoredBodiesAreAnsweredWithSuccess) {
    Hooks world;
    Webhook hook;
    hook.topic = "orders/edited";
    Outcomes got = hook.send(world);
    expect_success(got, Outcome::kIgnored);
    EXPECT_EQ(got.answer->reason, Reason::kOtherTopic);
    hook = {};
    hook.body = edited_order(kShopifyOrder, R"("test":false)", R"("test":true)");
    got = hook.send(world);
    expect_success(got, Outcome::kIgnored);
    EXPECT_EQ(got.answer->reason, Reason::kTestOrder);
}

TEST(Webhooks, AnOrderWithFaultsIsStoredAsUntranslated) {
    Hooks world;
    Webhook hook;
    hook.body = edited_order(kShopifyOrder, "EUR", "TMN");
    const Outcomes got = hook.send(world);
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.accepted.outcome, Outcome::kUntranslated);
    EXPECT_THAT(std::string(*got.accepted.translated), HasSubstr(R"("field":"currency")"));
}

TEST(Webhooks, AWrongSetUpIsABadRequest) {
    Hooks world;
    Webhook hook;
    hook.content_type = "application/xml";
    expect_refused(hook.send(world), Reason::kHeader, 400);
    hook = {};
    hook.body = "[]";
    expect_refused(hook.send(world), Reason::kBodyNotJson, 400);
    hook.secret = "of another app";
    expect_refused(hook.send(world), Reason::kSignatureMismatch);
}

TEST(Webhooks, OnlyTheFormOfWooCommerceIsAPing) {
    Hooks world;
    Webhook hook = woo();
    hook.signatures = std::vector<std::string>();
    hook.content_type = "application/x-www-form-urlencoded; charset=utf-8";
    hook.body = "webhook_id=7";
    expect_success(hook.send(world), Outcome::kPing);
    EXPECT_EQ(world.registry.lookups, 0) << "it says nothing about a shop";
    for (const char* body : {"webhook_id=", "webhook_id=7&x=1", "webhook_id=x", "webhook_id",
                             "webhook_id=123456789012345678901", ""}) {
        hook.body = body;
        expect_refused(hook.send(world), Reason::kSignatureMissing);
    }
    hook.body = "webhook_id=7";
    hook.signatures = std::vector<std::string>{""};
    expect_refused(hook.send(world), Reason::kSignatureMissing);
    hook.signatures = std::vector<std::string>();
    hook.platform = Platform::kShopify;
    expect_refused(hook.send(world), Reason::kSignatureMissing);
}

TEST(Webhooks, AShopWithAPlatformTakesOnlyItsOrdersAsEvents) {
    Hooks world;
    const std::string plain =
        R"({"platform_order_id":"1","platform_ordered_at":"2026-03-01T10:00:00Z",)"
        R"("platform_updated_at":"2026-03-01T10:00:00Z","amount":"1","tax":"0","shipping":"0",)"
        R"("currency_code":"EUR","line_items":[{"line_item_id":"1","sku":"1","amount":"1",)"
        R"("tax":"0","quantity":"1"}])";
    const auto send = [&](const std::string& body) {
        RequestHead head;
        const std::string signature = test::signature_of(body);
        head.shop = {"mugs", 1};
        head.topic = {"ORDER_UPDATE", 1};
        head.signature = {signature, 1};
        head.content_type = {"application/json", 1};
        return Outcomes::of(open_event(head, world.registry), [&](const Sender& sender) {
            WholeBody whole(body);
            return accept_event(head, world.names, sender, whole, world.gate, kNow, world.scratch);
        });
    };
    const Outcomes refused = send(plain + "}");
    expect_refused(refused, Reason::kFields, 400);
    EXPECT_THAT(std::string(refused.answer->text()), HasSubstr(R"("field":"source")"));
    expect_refused(send(plain + R"(,"source":{"platform":"woocommerce"}})"), Reason::kFields, 400);
    const Outcomes taken = send(plain + R"(,"source":{"platform":"shopify"}})");
    EXPECT_FALSE(taken.answer);
    ASSERT_TRUE(taken.accepted.meta.source);
    EXPECT_EQ(taken.accepted.meta.source->platform, Platform::kShopify);
    EXPECT_FALSE(taken.accepted.meta.source->signature);
}

}  // namespace
}  // namespace sluice
