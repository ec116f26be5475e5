// Rows of `sluice translate --explain` and `sluice explain --source`.
#include "core/shops/source_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/shops/translator.hpp"
#include "unit/core/shops/platform_orders.hpp"

namespace sluice {
namespace {

using test::edited_order;
using testing::IsEmpty;
using testing::StartsWith;

/// The rows of a translated order, as `field = value (rule)` by the platform's field.
struct ShownRows {
    std::map<std::string, std::string> by_field;

    ShownRows(Platform platform, std::string body) {
        SourceRequest request;
        request.platform = platform;
        request.topic = platform == Platform::kShopify ? "orders/updated" : "order.updated";
        request.body = body;
        request.anon_field = "svc_anon_id";
        Translator translator;
        for (const SourceRow& row : source_rows(translator.translate(request, {}).body)) {
            by_field[row.platform_field + "=" + row.platform_value] =
                row.field + "=" + row.value + (row.rule.empty() ? "" : " (" + row.rule + ")");
        }
    }
    [[nodiscard]] std::string of(const std::string& field) const {
        const auto found = by_field.find(field);
        return found == by_field.end() ? "no row" : found->second;
    }
};

ShownRows shown_refund(std::string_view adjustment, std::string_view status) {
    return {
        Platform::kShopify,
        edited_order(test::kShopifyOrder, R"("refunds":[])",
                     R"("refunds":[{"processed_at":"2026-03-02T10:00:00Z","refund_line_items":[)"
                     R"({"line_item_id":1466,"quantity":1,"subtotal":52.50,"total_tax":8.75},)"
                     R"({"line_item_id":99,"quantity":1,"subtotal":1.00}],"order_adjustments":[)"
                     R"({"kind":"refund_discrepancy","amount":")" +
                         std::string(adjustment) +
                         R"("},{"kind":"shipping_refund","amount":"-4.90"}],)"
                         R"("transactions":[{"kind":"refund","status":")" +
                         std::string(status) + R"("}]}])")};
}

TEST(SourceRows, EachValueOfShopifyNamesItsField) {
    const ShownRows rows(Platform::kShopify, std::string(test::kShopifyOrder));
    EXPECT_EQ(rows.of("id=450789469508"), "platform_order_id=450789469508");
    EXPECT_EQ(rows.of("total_price_set.shop_money.amount=109.90"),
              "amount=109.90 (at least lines and shipping)");
    EXPECT_EQ(rows.of("line_items[0].price_set.shop_money.amount=60.00"),
              "line_items[0].amount=105.00 (times quantity, less allocations, and tax if it is "
              "not included)");
    EXPECT_EQ(rows.of("line_items[0].tax_lines[0].price_set.shop_money.amount=17.50"),
              "line_items[0].tax=17.50 (their sum)");
    EXPECT_EQ(rows.of("line_items[0].sku=MUG-BLUE"), "line_items[0].variant_sku=MUG-BLUE");
    EXPECT_THAT(rows.of("discount_codes[0].code=ANNA15"), StartsWith("discounts[0].code=ANNA15 "));
    EXPECT_THAT(rows.of("updated_at=2026-03-01T11:00:01+01:00"),
                StartsWith("platform_updated_at=2026-03-01T10:00:01Z (VN2: "));
    EXPECT_EQ(rows.of("customer.id=207119551"), "platform_customer_id=207119551");
    EXPECT_EQ(rows.of("name=#1001"), "platform_order_numbers[0]=#1001");
    EXPECT_THAT(rows.of("note_attributes, landing_site=not kept"),
                StartsWith("svc_anon_id=dev-12345678 "));
}

TEST(SourceRows, NoValueIsWithoutAUse) {
    for (const auto& [field, use] : shown_refund("-10.00", "success").by_field) {
        EXPECT_NE(use, "=") << field;
    }
    const ShownRows woo(
        Platform::kWooCommerce,
        edited_order(test::kWooOrder, R"("refunds":[])",
                     R"("refunds":[{"total":"-40.00","line_items":[{"line_item_id":1,)"
                     R"("quantity":-1,"total":"-28.13","total_tax":"-5.62"}],)"
                     R"("shipping_lines":[{"total":"-1.00","total_tax":"-0.20"}],)"
                     R"("fee_lines":[{"total":"-1.00","total_tax":"0"}]}])"));
    for (const auto& [field, use] : woo.by_field) {
        EXPECT_NE(use, "=") << field;
    }
}

TEST(SourceRows, ARefundNamesTheRuleOfItsMoney) {
    const std::string discrepancy = "refunds[0].order_adjustments[0].amount=";
    EXPECT_THAT(shown_refund("10.00", "success").of(discrepancy + "10.00"),
                StartsWith("= (SF3: less"));
    EXPECT_THAT(shown_refund("10.00", "pending").of(discrepancy + "10.00"),
                StartsWith("= (SF3: ignored"));
    EXPECT_THAT(shown_refund("-10.00", "pending").of(discrepancy + "-10.00"),
                StartsWith("= (SF4: more"));
    EXPECT_THAT(shown_refund("-10.00", "failure").of(discrepancy + "-10.00"),
                StartsWith("= (SF4: ignored"));
    const ShownRows shrunk = shown_refund("10.00", "success");
    EXPECT_THAT(shrunk.of("refunds[0].order_adjustments[1].amount=-4.90"), StartsWith("= (SF5"));
    EXPECT_EQ(shrunk.of("refunds[0].refund_line_items[0].subtotal=52.50"),
              "refund_line_items[0].amount=42.69 (SF1, SF3)");
    EXPECT_EQ(shrunk.of("refunds[0].refund_line_items[1].subtotal=1.00"),
              "= (ignored: of a line that is left out or unknown)");
}

TEST(SourceRows, ALineThatIsLeftOutSaysSo) {
    const ShownRows rows(
        Platform::kShopify,
        edited_order(test::kShopifyOrder, R"("line_items":[)",
                     R"("line_items":[{"id":7,"quantity":1,"price":"5.00","gift_card":true},)"));
    EXPECT_EQ(rows.of("line_items[0].id=7"), "= (left out: gift cards, tips and quantity 0)");
    EXPECT_EQ(rows.of("line_items[1].id=1466"), "line_items[0].line_item_id=1466");
}

TEST(SourceRows, AGuestOfWooCommerceIsADigest) {
    const ShownRows rows(Platform::kWooCommerce, std::string(test::kWooOrder));
    EXPECT_EQ(rows.of("billing.email=not kept"),
              "platform_customer_id=mail:" + std::string(test::kGuestDigest) +
                  " (PD2: a digest, because the customer is a guest)");
    EXPECT_EQ(rows.of("coupon_lines[0].code=anna15"), "discounts[0].code=anna15");
    EXPECT_EQ(rows.of("line_items[1].total=27.05"), "line_items[1].amount=32.50 (with its tax)");
}

TEST(SourceRows, OtherBodiesHaveNone) {
    for (const char* body :
         {"{}", "7", R"({"source":7})", R"({"source":{"platform":"none","seen":{"id":1}}})",
          R"({"source":{"platform":"shopify","seen_bytes":70000}})",
          R"({"source":{"platform":"shopify","seen":[1]}})"}) {
        EXPECT_THAT(source_rows(body), IsEmpty()) << body;
    }
}

/// Any sender may write `seen`: names that look like paths must not be taken for them.
TEST(SourceRows, NamesThatLookLikePathsAreHarmless) {
    const auto rows = source_rows(
        R"({"source":{"platform":"shopify","seen":{"refunds[].transactions[].status":"x",)"
        R"("line_items[].id":1,"refunds":[[{"order_adjustments":[[7]]}]],"line_items":{"id":2}}}})");
    EXPECT_EQ(rows.size(), 4U);
}

}  // namespace
}  // namespace sluice
