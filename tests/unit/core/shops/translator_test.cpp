// The worked examples of docs/shops.md, and the answers to bodies that are no orders.
#include "core/shops/translator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/protocol/order_event.hpp"
#include "unit/core/shops/platform_orders.hpp"

namespace sluice {
namespace {

using test::edited_order;
using test::kShopifyOrder;
using test::kWooOrder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A translation, and the order that the ledger would read from it.
struct Translated {
    Translation result;
    const OrderEvent* order = nullptr;

    Translated(Platform platform, std::string_view topic, std::string body,
               const SourceSettings& settings = {}, std::string_view triggered_at = {})
        : body_(std::move(body)) {
        SourceRequest request;
        request.platform = platform;
        request.topic = topic;
        request.body = body_;
        request.anon_field = "svc_anon_id";
        request.triggered_at = Timestamp::parse(triggered_at);
        result = translator_.translate(request, settings);
        if (result.kind == TranslationKind::kOrder) {
            order = parser_.parse(result.body, Topic::kOrderUpdate, "svc_anon_id");
            EXPECT_NE(order, nullptr) << result.body;
        }
    }

    /// `105.00/17.50 x2` for each line.
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> found;
        for (const LineItem& line : order->line_items) {
            found.push_back(std::string(line.amount.text) + "/" + std::string(line.tax.text) +
                            " x" + std::to_string(line.quantity));
        }
        return found;
    }
    [[nodiscard]] std::vector<std::string> refunds() const {
        std::vector<std::string> found;
        for (const RefundLineItem& row : order->refund_line_items) {
            found.push_back(std::string(row.amount.text) + "/" + std::string(row.tax.text) + " x" +
                            std::to_string(row.quantity));
        }
        return found;
    }
    [[nodiscard]] std::vector<std::string> notes() const {
        std::vector<std::string> found;
        for (const SourceNote note : kSourceNotes) {
            if (result.notes.has(note)) {
                found.emplace_back(to_string(note));
            }
        }
        return found;
    }
    [[nodiscard]] std::vector<std::string> faults() const {
        std::vector<std::string> found;
        for (const FieldError& fault : result.faults) {
            found.push_back(fault.field + " " + std::string(to_string(fault.code)));
        }
        return found;
    }

private:
    Translator translator_;
    OrderEventParser parser_;
    std::string body_;
};

Translated shopify(std::string body, const SourceSettings& settings = {},
                   std::string_view triggered_at = "2026-03-01T10:00:01.516267807Z") {
    return {Platform::kShopify, "orders/updated", std::move(body), settings, triggered_at};
}
Translated woocommerce(std::string body) {
    return {Platform::kWooCommerce, "order.updated", std::move(body)};
}

std::string order_with_refunds(std::string_view refunds) {
    return edited_order(kShopifyOrder, R"("refunds":[])",
                        "\"refunds\":[" + std::string(refunds) + "]");
}

TEST(ShopifyExamples, Example1AnOrderWithTaxIncluded) {
    const Translated order = shopify(std::string(kShopifyOrder));
    EXPECT_THAT(order.lines(), ElementsAre("105.00/17.50 x2"));
    EXPECT_EQ(order.order->order_id, "450789469508");
    EXPECT_EQ(order.order->updated_at.to_string(), "2026-03-01T10:00:01.000516267Z");
    EXPECT_EQ(order.order->ordered_at.to_string(), "2026-03-01T10:00:00Z");
    EXPECT_EQ(order.order->amount.text, "109.90");
    EXPECT_EQ(order.order->tax.text, "18.28");
    EXPECT_EQ(order.order->shipping.text, "4.90");
    ASSERT_EQ(order.order->discounts.size(), 1U);
    EXPECT_EQ(order.order->discounts[0].code, "ANNA15");
    EXPECT_EQ(order.order->discounts[0].value.text, "15.00");
    EXPECT_EQ(order.order->line_items[0].sku, "7001");
    EXPECT_EQ(order.order->line_items[0].variant_sku, "MUG-BLUE");
    EXPECT_EQ(order.order->anon_id, "dev-12345678");
    EXPECT_EQ(order.order->customer_id, "207119551");
    EXPECT_TRUE(order.result.notes.empty());
}

TEST(ShopifyExamples, Example2TaxIsAddedIfPricesDoNotIncludeIt) {
    std::string body =
        edited_order(kShopifyOrder, R"("taxes_included":true)", R"("taxes_included":false)");
    body = edited_order(body, R"("amount":"60.00")", R"("amount":"50.00")");
    body = edited_order(body, R"("price":"17.50")", R"("price":"17.00")");
    body = edited_order(body, R"("amount":"17.50")", R"("amount":"17.00")");
    EXPECT_THAT(shopify(body).lines(), ElementsAre("102.00/17.00 x2"));
}

TEST(ShopifyExamples, Example3OneOfTwoIsReturned) {
    const Translated order = shopify(order_with_refunds(
        R"({"id":1,"processed_at":"2026-03-02T10:00:00Z","refund_line_items":[)"
        R"({"line_item_id":1466,"quantity":1,"subtotal":52.50,"total_tax":8.75}],)"
        R"("transactions":[{"kind":"refund","status":"success"}],"order_adjustments":[]})"));
    EXPECT_THAT(order.refunds(), ElementsAre("52.50/8.75 x1"));
    EXPECT_EQ(order.order->refund_line_items[0].refund_line_item_id, "1466");
    EXPECT_EQ(order.order->refund_line_items[0].refunded_at.to_string(), "2026-03-02T10:00:00Z");
    EXPECT_EQ(order.order->updated_at.to_string(), "2026-03-01T10:00:01.001516267Z");
    EXPECT_TRUE(order.result.notes.empty());
}

constexpr std::string_view kTwoLines =
    R"({"id":1,"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z",)"
    R"("currency":"EUR","taxes_included":true,"total_price":"100.00","total_tax":"16.66",)"
    R"("line_items":[{"id":11,"quantity":1,"price":"80.00","product_id":1,)"
    R"("tax_lines":[{"price":"13.33"}]},{"id":12,"quantity":1,"price":"20.00",)"
    R"("product_id":2,"tax_lines":[{"price":"3.33"}]}],"refunds":[]})";

std::string two_lines_with(std::string_view refund) {
    return edited_order(kTwoLines, R"("refunds":[])", "\"refunds\":[" + std::string(refund) + "]");
}

TEST(ShopifyExamples, Example4AMoneyOnlyRefundIsSharedByAmount) {
    const Translated order = shopify(
        two_lines_with(R"({"processed_at":"2026-03-02T10:00:00Z","refund_line_items":[],)"
                       R"("order_adjustments":[{"amount":"-10.00","kind":"refund_discrepancy"}],)"
                       R"("transactions":[{"kind":"refund","status":"success"}]})"));
    EXPECT_THAT(order.refunds(), ElementsAre("8.00/1.33 x0", "2.00/0.33 x0"));
    EXPECT_THAT(order.notes(), ElementsAre("REFUND_NOT_BY_LINE"));
}

std::string one_line_refund(std::string_view adjustment, std::string_view status) {
    return R"({"id":1,"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z",)"
           R"("currency":"EUR","taxes_included":true,"total_price":"50.00","total_tax":"8.33",)"
           R"("line_items":[{"id":11,"quantity":1,"price":"50.00","product_id":1,)"
           R"("tax_lines":[{"price":"8.33"}]}],"refunds":[{"processed_at":)"
           R"("2026-03-02T10:00:00Z","refund_line_items":[{"line_item_id":11,"quantity":1,)"
           R"("subtotal":50.0,"total_tax":8.33}],"order_adjustments":[{"kind":)"
           R"("refund_discrepancy","amount":")" +
           std::string(adjustment) + R"("}],"transactions":[{"kind":"refund","status":")" +
           std::string(status) + R"("}]}]})";
}

TEST(ShopifyExamples, Example5ASuccessfulSmallerRefundShrinksTheRows) {
    const Translated order = shopify(one_line_refund("30.00", "success"));
    EXPECT_THAT(order.refunds(), ElementsAre("20.00/3.33 x1"));
    EXPECT_THAT(order.notes(), ElementsAre("REFUND_NOT_BY_LINE"));
}

TEST(ShopifyExamples, Example6AnAdjustmentWhileThePaymentIsPendingIsIgnored) {
    const Translated order = shopify(one_line_refund("50.00", "pending"));
    EXPECT_THAT(order.refunds(), ElementsAre("50.00/8.33 x1"));
    EXPECT_TRUE(order.result.notes.empty());
}

TEST(ShopifyExamples, Example7AShippingRefundTouchesNoLine) {
    const Translated order = shopify(
        order_with_refunds(R"({"processed_at":"2026-03-02T10:00:00Z","refund_line_items":[],)"
                           R"("order_adjustments":[{"kind":"shipping_refund","amount":"-4.90"}],)"
                           R"("refund_shipping_lines":[{"subtotal":"4.90"}],)"
                           R"("transactions":[{"kind":"refund","status":"success"}]})"));
    EXPECT_THAT(order.refunds(), ElementsAre("0.00/0.00 x0"));
    EXPECT_TRUE(order.result.notes.empty());
}

TEST(ShopifyExamples, Example8AnEditRefundsTheRemovedLine) {
    const Translated order = shopify(
        R"({"id":1,"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z",)"
        R"("currency":"EUR","taxes_included":true,"total_price":"65.00","total_tax":"10.84",)"
        R"("line_items":[{"id":11,"quantity":1,"price":"40.00","product_id":1,)"
        R"("tax_lines":[{"price":"6.67"}]},{"id":12,"quantity":1,"price":"25.00",)"
        R"("product_id":2,"tax_lines":[{"price":"4.17"}]}],"refunds":[{"processed_at":)"
        R"("2026-03-02T10:00:00Z","refund_line_items":[{"line_item_id":11,"quantity":1,)"
        R"("subtotal":40.00,"total_tax":6.67}],"order_adjustments":[],"transactions":[]}]})");
    EXPECT_THAT(order.lines(), ElementsAre("40.00/6.67 x1", "25.00/4.17 x1"));
    EXPECT_THAT(order.refunds(), ElementsAre("40.00/6.67 x1", "0.00/0.00 x0"));
}

TEST(ShopifyExamples, Example9GiftCardsAndTipsAreLeftOut) {
    const std::string body =
        R"({"id":1,"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z",)"
        R"("currency":"EUR","taxes_included":true,"total_price":"84.00","total_tax":"5.00",)"
        R"("line_items":[{"id":11,"quantity":1,"price":"30.00","product_id":1,)"
        R"("tax_lines":[{"price":"5.00"}]},{"id":12,"quantity":1,"price":"50.00",)"
        R"("gift_card":true,"product_id":2},{"id":13,"quantity":1,"price":"4.00",)"
        R"("product_id":null,"tip_payment_gateway":null}],"refunds":[]})";
    const Translated order = shopify(body);
    EXPECT_THAT(order.lines(), ElementsAre("30.00/5.00 x1"));
    EXPECT_EQ(order.order->amount.text, "84.00");
    SourceSettings counting;
    counting.counts_gift_cards = true;
    EXPECT_THAT(shopify(body, counting).lines(), ElementsAre("30.00/5.00 x1", "50.00/0.00 x1"));
}

TEST(ShopifyExamples, Example10TheShopChoosesOneOfTwoCurrencies) {
    const std::string body =
        R"({"id":1,"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z",)"
        R"("currency":"EUR","presentment_currency":"USD","taxes_included":true,)"
        R"("total_price_set":{"shop_money":{"amount":"90.00"},)"
        R"("presentment_money":{"amount":"97.43"}},"line_items":[{"id":11,"quantity":1,)"
        R"("price_set":{"shop_money":{"amount":"90.00"},"presentment_money":)"
        R"({"amount":"97.43"}},"product_id":1,"tax_lines":[{"price_set":{"shop_money":)"
        R"({"amount":"15.00"},"presentment_money":{"amount":"16.24"}}}]}],"refunds":[]})";
    EXPECT_THAT(shopify(body).lines(), ElementsAre("90.00/15.00 x1"));
    SourceSettings presentment;
    presentment.presentment_money = true;
    const Translated order = shopify(body, presentment);
    EXPECT_THAT(order.lines(), ElementsAre("97.43/16.24 x1"));
    EXPECT_EQ(order.order->currency.code(), "USD");
}

TEST(ShopifyExamples, Example11ATitleIsNoCode) {
    const Translated order = shopify(edited_order(kShopifyOrder, R"("type":"discount_code","code")",
                                                  R"("type":"automatic","title")"));
    EXPECT_TRUE(order.order->discounts.empty());
    EXPECT_THAT(order.result.body, Not(HasSubstr("ANNA15")));
}

TEST(ShopifyExamples, Example12ACancelledStateIsNewerThanTheStateBeforeIt) {
    const Translated before = shopify(std::string(kShopifyOrder), {}, "");
    const Translated after = shopify(edited_order(kShopifyOrder, R"("cancelled_at":null)",
                                                  R"("cancelled_at":"2026-03-01T10:00:01Z")"),
                                     {}, "");
    EXPECT_EQ(before.order->updated_at.nanos, 0U);
    EXPECT_EQ(after.order->updated_at.nanos, 500'000'000U);
    EXPECT_EQ(after.order->cancelled_at->to_string(), "2026-03-01T10:00:01Z");
}

TEST(WooCommerceExamples, Example13AnOrderWithTaxOutsideItsTotals) {
    const Translated order = woocommerce(std::string(kWooOrder));
    EXPECT_THAT(order.lines(), ElementsAre("67.50/11.25 x2", "32.50/5.45 x1"));
    EXPECT_THAT(order.refunds(), ElementsAre("0.00/0.00 x0", "0.00/0.00 x0"));
    EXPECT_EQ(order.order->amount.text, "104.90");
    EXPECT_EQ(order.order->shipping.text, "4.90");
    EXPECT_EQ(order.order->discounts[0].code, "anna15");
    EXPECT_EQ(order.order->anon_id, "dev-12345678");
    EXPECT_EQ(order.order->customer_id, "mail:" + std::string(test::kGuestDigest));
    EXPECT_EQ(order.order->ordered_at.to_string(), "2026-03-01T09:00:00Z");
    EXPECT_TRUE(order.result.notes.empty());
}

TEST(WooCommerceExamples, Example14ARefundWithoutLinesIsShared) {
    const Translated order = woocommerce(edited_order(
        kWooOrder, R"("refunds":[])", R"("refunds":[{"id":9,"reason":"","total":"-10.00"}])"));
    EXPECT_THAT(order.refunds(), ElementsAre("6.75/1.12 x0", "3.25/0.54 x0"));
    EXPECT_THAT(order.notes(), ElementsAre("REFUND_NOT_BY_LINE"));
}

TEST(WooCommerceExamples, Example15ThePluginNamesTheLine) {
    const Translated order = woocommerce(edited_order(
        kWooOrder, R"("refunds":[])",
        R"("refunds":[{"id":9,"total":"-33.75","line_items":[{"line_item_id":1,"quantity":-1,)"
        R"("total":"-28.13","total_tax":"-5.62"}]}])"));
    EXPECT_THAT(order.refunds(), ElementsAre("33.75/5.62 x1", "0.00/0.00 x0"));
    EXPECT_TRUE(order.result.notes.empty());
}

TEST(Translator, ADeletionHasTheIdAlone) {
    const Translated deletion(Platform::kShopify, "orders/delete", R"({"id":820982911946154508})",
                              {}, "2026-03-01T10:00:01.5Z");
    EXPECT_EQ(deletion.result.kind, TranslationKind::kDeletion);
    EXPECT_EQ(deletion.result.body,
              R"({"platform_order_id":"820982911946154508",)"
              R"("platform_updated_at":"2026-03-01T10:00:01.999999999Z",)"
              R"("source":{"platform":"shopify","mapping":1,"seen":{"id":820982911946154508}}})");
}

TEST(Translator, ABodyWithAnythingOfAnOrderIsNoDeletion) {
    const Translated order(Platform::kShopify, "orders/delete", std::string(kShopifyOrder));
    EXPECT_EQ(order.result.kind, TranslationKind::kFaults);
    EXPECT_THAT(order.faults(), ElementsAre(HasSubstr("INVALID_FORMAT")));
    const Translated part(Platform::kShopify, "orders/delete",
                          R"({"id":1,"updated_at":"2026-03-01T10:00:01Z"})");
    EXPECT_THAT(part.faults(), ElementsAre("updated_at INVALID_FORMAT"));
    const Translated woo(Platform::kWooCommerce, "order.deleted", std::string(kWooOrder));
    EXPECT_THAT(woo.faults(), ElementsAre("status INVALID_FORMAT"));
    const Translated deleted(Platform::kWooCommerce, "order.deleted", R"({"id":727,"x":[1]})");
    EXPECT_EQ(deleted.result.kind, TranslationKind::kDeletion) << "a field that no rule knows";
}

TEST(Translator, AnOrderWithoutALineLeftIsADeletion) {
    const Translated order =
        shopify(edited_order(kShopifyOrder, R"("quantity":2)", R"("quantity":0)"));
    EXPECT_EQ(order.result.kind, TranslationKind::kDeletion);
    EXPECT_THAT(order.result.body, HasSubstr("2026-03-01T10:00:01.000516267Z"));
}

TEST(Translator, OtherTopicsTestsAndEarlierOrdersAreIgnored) {
    const Translated refund(Platform::kShopify, "refunds/create", std::string(kShopifyOrder));
    EXPECT_EQ(refund.result.kind, TranslationKind::kIgnored);
    EXPECT_EQ(refund.result.ignored, IgnoredReason::kTopic);
    const std::string test_order = edited_order(kShopifyOrder, R"("test":false)", R"("test":true)");
    EXPECT_EQ(shopify(test_order).result.ignored, IgnoredReason::kTestOrder);
    SourceSettings settings;
    settings.counts_test_orders = true;
    EXPECT_EQ(shopify(test_order, settings).result.kind, TranslationKind::kOrder);
    settings.from = *Timestamp::parse("2026-03-01T10:00:00.1Z");
    EXPECT_EQ(shopify(test_order, settings).result.ignored, IgnoredReason::kBeforeStart);
    const Translated draft =
        woocommerce(edited_order(kWooOrder, R"("status":"processing")", R"("status":"pending")"));
    EXPECT_EQ(draft.result.ignored, IgnoredReason::kNotPlaced);
}

TEST(Translator, EachFaultNamesItsField) {
    EXPECT_THAT(shopify("{}").faults(),
                ElementsAre("id REQUIRED", "created_at REQUIRED", "updated_at REQUIRED",
                            "currency REQUIRED", "taxes_included REQUIRED", "total_price REQUIRED",
                            "line_items REQUIRED", "refunds REQUIRED"));
    EXPECT_THAT(shopify(edited_order(kShopifyOrder, "EUR", "TMN")).faults(),
                ElementsAre("currency INVALID_FORMAT"));
    EXPECT_THAT(shopify(edited_order(kShopifyOrder, R"("taxes_included":true)",
                                     R"("taxes_included":"true")"))
                    .faults(),
                ElementsAre("taxes_included INVALID_FORMAT"));
    EXPECT_THAT(
        shopify(edited_order(kShopifyOrder, R"("amount":"60.00")", R"("amount":"1.2.3")")).faults(),
        ElementsAre("line_items[0].price_set.shop_money.amount INVALID_FORMAT"));
    EXPECT_THAT(shopify(edited_order(kShopifyOrder, R"("refunds":[])", R"("x":[])")).faults(),
                ElementsAre("refunds REQUIRED"));
    EXPECT_THAT(woocommerce("{}").faults(),
                ElementsAre("id REQUIRED", "date_created_gmt REQUIRED",
                            "date_modified_gmt REQUIRED", "currency REQUIRED", "total REQUIRED",
                            "line_items REQUIRED", "refunds REQUIRED"));
}

TEST(Translator, ABodyWithFaultsKeepsTheOrdersIdAndNoLine) {
    const Translated order = shopify(edited_order(kShopifyOrder, "EUR", "TMN"));
    EXPECT_EQ(order.result.kind, TranslationKind::kFaults);
    EXPECT_THAT(std::string(order.result.body),
                HasSubstr(R"("faults":[{"field":"currency","code":"INVALID_FORMAT")"));
    OrderEventParser parser;
    EXPECT_EQ(parser.parse(order.result.body, Topic::kOrderUpdate, "svc_anon_id"), nullptr);
}

TEST(Translator, ABodyWithoutACurrencyKeepsItsRefunds) {
    const Translated order = shopify(edited_order(
        order_with_refunds(R"({"processed_at":"2026-03-02T10:00:00Z","refund_line_items":[]})"),
        "EUR", "TMN"));
    EXPECT_THAT(std::string(order.result.body),
                HasSubstr(R"("refunds":[{"processed_at":"2026-03-02T10:00:00Z")"));
}

TEST(Translator, ARefundOfALineThatIsLeftOutOrUnknownIsNoted) {
    for (const char* line : {"13", "99"}) {
        const Translated order = shopify(edited_order(
            two_lines_with(
                R"({"processed_at":"2026-03-02T10:00:00Z","refund_line_items":[{"line_item_id":)" +
                std::string(line) + R"(,"quantity":1,"subtotal":5.00}],"transactions":[]})"),
            R"("line_items":[)",
            R"("line_items":[{"id":13,"quantity":1,"price":"5.00","gift_card":true},)"));
        EXPECT_THAT(order.refunds(), ElementsAre("0.00/0.00 x0", "0.00/0.00 x0"));
        EXPECT_THAT(order.notes(), ElementsAre("REFUND_NOT_BY_LINE"));
    }
}

TEST(Translator, OnlyTheDiscrepancyOfTwoAdjustmentsIsShared) {
    const Translated order = shopify(two_lines_with(
        R"({"processed_at":"2026-03-02T10:00:00Z","refund_line_items":[],"order_adjustments":[)"
        R"({"amount":"-4.90","kind":"shipping_refund"},)"
        R"({"amount":"-10.00","kind":"refund_discrepancy"}],)"
        R"("transactions":[{"kind":"refund","status":"success"}]})"));
    EXPECT_THAT(order.refunds(), ElementsAre("8.00/1.33 x0", "2.00/0.33 x0"));
}

TEST(Translator, TheBodyNamesItsShop) {
    SourceSettings settings;
    settings.platform_shop = 548380009;
    EXPECT_EQ(shopify(std::string(kShopifyOrder), settings).result.kind, TranslationKind::kOrder);
    settings.platform_shop = 4838000;
    EXPECT_EQ(shopify(std::string(kShopifyOrder), settings).result.kind,
              TranslationKind::kOtherShop);
}

TEST(Translator, ATestIsRecognizedBeforeItsShop) {
    const std::string test_order = edited_order(kShopifyOrder, R"("test":false)", R"("test":true)");
    SourceSettings settings;
    settings.platform_shop = 4838000;
    EXPECT_EQ(shopify(test_order, settings).result.kind, TranslationKind::kIgnored);
    settings.counts_test_orders = true;
    EXPECT_EQ(shopify(test_order, settings).result.kind, TranslationKind::kOtherShop);
}

TEST(Translator, TM4_NumbersMayHaveAnySize) {
    const std::string wide = "123456789012345678901234567890";
    const Translated unread = shopify(
        edited_order(kShopifyOrder, R"("test":false)",
                     R"("test":false,"x\"1":[-)" + wide + R"( ,1e999],"y":"1e999 \\","z":0.5)"));
    ASSERT_EQ(unread.result.kind, TranslationKind::kOrder);
    EXPECT_EQ(unread.lines(), shopify(std::string(kShopifyOrder)).lines());
    const Translated read =
        shopify(edited_order(kShopifyOrder, R"("id":450789469508)", R"("id":)" + wide));
    ASSERT_NE(read.order, nullptr);
    EXPECT_EQ(read.order->order_id, wide);
    EXPECT_THAT(std::string(read.result.body), HasSubstr(R"("seen":{"test":false,"id":")" + wide));
    const Translated amount = shopify(
        edited_order(kShopifyOrder, R"("taxes_included":true)", R"("taxes_included":1e999)"));
    EXPECT_THAT(amount.faults(), ElementsAre("taxes_included INVALID_FORMAT"));
    for (const char* number : {"01", "1.", "-", "+1", "1e", ".5", "1a", "1-1", "0x10"}) {
        EXPECT_EQ(
            shopify(std::string(R"({"x":)") + number + "," + R"("y":)" + wide + "}").result.kind,
            TranslationKind::kUnreadable)
            << number;
    }
}

TEST(Translator, ARequestForPrivacyNamesThePersonByIds) {
    const Translated request(
        Platform::kShopify, "customers/redact",
        R"({"shop_id":954889,"shop_domain":"a.myshopify.com","customer":{"id":191167,)"
        R"("email":"John@Example.com","phone":"555-625-1199"},"orders_to_redact":[299938,280263]})");
    EXPECT_EQ(request.result.kind, TranslationKind::kPrivacy);
    EXPECT_THAT(
        std::string(request.result.body),
        testing::StartsWith(R"({"topic":"customers/redact","platform_customer_id":"191167",)"
                            R"("mail_id":"mail:)"));
    EXPECT_THAT(std::string(request.result.body),
                HasSubstr(R"("platform_order_ids":["299938","280263"])"));
}

TEST(Translator, ABodyOfAnotherTopicErasesNobody) {
    const Translated order(Platform::kShopify, "customers/redact", std::string(kShopifyOrder));
    EXPECT_EQ(order.result.kind, TranslationKind::kFaults);
    EXPECT_THAT(order.faults(), ElementsAre("line_items INVALID_FORMAT"));
    EXPECT_THAT(std::string(order.result.body), testing::StartsWith(R"({"source":{)"));
    const std::string asked =
        R"({"shop_id":954889,"shop_domain":"a.myshopify.com","customer":{"id":191167},)"
        R"("orders_requested":[299938],"data_request":{"id":9999}})";
    EXPECT_EQ(Translated(Platform::kShopify, "customers/data_request", asked).result.kind,
              TranslationKind::kPrivacy);
    EXPECT_THAT(Translated(Platform::kShopify, "customers/redact", asked).faults(),
                ElementsAre("orders_requested INVALID_FORMAT", "data_request INVALID_FORMAT"));
    const std::string without_shop = R"({"shop_id":{},"customer":{"id":191167}})";
    EXPECT_EQ(Translated(Platform::kShopify, "customers/redact", without_shop).result.kind,
              TranslationKind::kPrivacy)
        << "the shop is read only to be compared";
    const std::string of_shop = R"({"shop_id":954889,"shop_domain":"a.myshopify.com"})";
    EXPECT_EQ(Translated(Platform::kShopify, "shop/redact", of_shop).result.kind,
              TranslationKind::kPrivacy);
}

TEST(Translator, ABodyThatIsNoObjectIsUnreadable) {
    for (const char* body : {"", "[]", "1", "<order/>", "{\"a\":}"}) {
        EXPECT_EQ(shopify(body).result.kind, TranslationKind::kUnreadable) << body;
    }
}

TEST(Translator, SeenHasNothingOfAPerson) {
    const Translated order = shopify(std::string(kShopifyOrder));
    EXPECT_THAT(std::string(order.result.body), Not(HasSubstr("Norman")));
    EXPECT_THAT(std::string(order.result.body), Not(HasSubstr("@example")));
    EXPECT_THAT(std::string(order.result.body), HasSubstr(R"("source_name":"web")"));
}

TEST(Translator, ALargeSeenIsLeftOut) {
    const std::string name(70'000, 'n');
    const Translated order = shopify(
        edited_order(kShopifyOrder, R"("source_name":"web")", R"("source_name":")" + name + '"'));
    EXPECT_EQ(order.result.kind, TranslationKind::kOrder);
    EXPECT_THAT(std::string(order.result.body), Not(HasSubstr("nnnn")));
    EXPECT_THAT(std::string(order.result.body), HasSubstr(R"("seen_bytes":7)"));
}

}  // namespace
}  // namespace sluice
