// Orders as the platforms send them: made up, with the members of the real ones.
#pragma once

#include <string>
#include <string_view>

namespace sluice::test {

/// Replaces the first `from`. An order without it would make the test say nothing.
inline std::string edited_order(std::string_view order, std::string_view from,
                                std::string_view to) {
    std::string text(order);
    const std::size_t at = text.find(from);
    return at == std::string::npos ? std::string() : text.replace(at, from.size(), to);
}

inline constexpr std::string_view kShopifyOrder =
    R"({"id":450789469508,"admin_graphql_api_id":"gid:\/\/shopify\/Order\/450789469508",)"
    R"("cancelled_at":null,"created_at":"2026-03-01T11:00:00+01:00","currency":"EUR",)"
    R"("email":"bob.norman@example.com","financial_status":"paid",)"
    R"("landing_site":"\/?ref=1","name":"#1001","note":"For Norman",)"
    R"("note_attributes":[{"name":"gift","value":"x"},{"name":"_svc_anon_id","value":"dev-12345678"}],)"
    R"("order_status_url":"https:\/\/shop.example\/548380009\/orders\/b1946ac9\/authenticate?key=1",)"
    R"("presentment_currency":"EUR","processed_at":"2026-03-01T11:00:00+01:00",)"
    R"("source_name":"web","taxes_included":true,"test":false,)"
    R"("total_price":"109.90","total_price_set":{"shop_money":{"amount":"109.90",)"
    R"("currency_code":"EUR"},"presentment_money":{"amount":"109.90","currency_code":"EUR"}},)"
    R"("total_tax":"18.28","updated_at":"2026-03-01T11:00:01+01:00",)"
    R"("customer":{"id":207119551,"first_name":"Bob","last_name":"Norman"},)"
    R"("discount_applications":[{"target_type":"line_item","type":"discount_code","code":"anna15"}],)"
    R"("discount_codes":[{"code":"ANNA15","amount":"15.00","type":"fixed_amount"}],)"
    R"("line_items":[{"id":1466,"gift_card":false,"price":"60.00",)"
    R"("price_set":{"shop_money":{"amount":"60.00","currency_code":"EUR"}},)"
    R"("product_id":7001,"properties":[{"name":"to","value":"Norman"}],"quantity":2,)"
    R"("current_quantity":1,"sku":"MUG-BLUE","variant_id":39072856,)"
    R"("tax_lines":[{"price":"17.50","price_set":{"shop_money":{"amount":"17.50"}},)"
    R"("rate":0.2,"title":"VAT"}],)"
    R"("discount_allocations":[{"amount":"15.00","amount_set":{"shop_money":)"
    R"({"amount":"15.00"}},"discount_application_index":0}]}],)"
    R"("shipping_lines":[{"id":3,"price":"4.90","discounted_price":"4.90","title":"Post",)"
    R"("tax_lines":[{"price":"0.78"}],"discount_allocations":[]}],"refunds":[]})";

/// SHA-256 of `email:guest@example.com`.
inline constexpr std::string_view kGuestDigest =
    "86f61e3fd26d1bc85a3cf3ddbdc03c95fe1f93acc3ecd5a35a1281a56276b0b0";

inline constexpr std::string_view kWooOrder =
    R"({"id":727,"status":"processing","currency":"EUR","version":"9.0.0",)"
    R"("prices_include_tax":true,"date_created":"2026-03-01T10:00:00",)"
    R"("date_modified":"2026-03-01T10:00:05","date_created_gmt":"2026-03-01T09:00:00",)"
    R"("date_modified_gmt":"2026-03-01T09:00:05","discount_total":"12.50","discount_tax":"2.50",)"
    R"("shipping_total":"4.12","shipping_tax":"0.78","total":"104.90","total_tax":"17.48",)"
    R"("customer_id":0,"billing":{"first_name":"Bob","email":"Guest@Example.com"},)"
    R"("meta_data":[{"id":1,"key":"_svc_anon_id","value":"dev-12345678"}],)"
    R"("line_items":[{"id":1,"name":"Mug","product_id":93,"variation_id":0,"quantity":2,)"
    R"("subtotal":"62.50","total":"56.25","total_tax":"11.25","sku":"MUG","price":28.125},)"
    R"({"id":2,"name":"Cap","product_id":22,"variation_id":23,"quantity":1,)"
    R"("total":"27.05","total_tax":"5.45","sku":"","price":27.05}],)"
    R"("shipping_lines":[],"fee_lines":[],)"
    R"("coupon_lines":[{"id":5,"code":"anna15","discount":"12.50","discount_tax":"2.50"}],)"
    R"("refunds":[]})";

}  // namespace sluice::test
