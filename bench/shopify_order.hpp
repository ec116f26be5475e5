// An order as Shopify's webhook sends it: about 11 KB with five lines, and with a note up to any
// size.
#pragma once

#include <cstdint>
#include <string>

#include "core/values/timestamp.hpp"

namespace sluice::bench {

/// `"price":"9.90","price_set":{...}`
inline std::string shopify_money(const std::string& name, const std::string& amount) {
    const std::string in_shop = R"({"amount":")" + amount + R"(","currency_code":"USD"})";
    return "\"" + name + R"(":")" + amount + R"(",")" + name + R"(_set":{"shop_money":)" + in_shop +
           R"(,"presentment_money":)" + in_shop + "}";
}

inline std::string shopify_line(std::uint64_t order, int line) {
    const std::string number = std::to_string(line);
    const std::string id =
        std::to_string(10'000'000'000 + order * 100 + static_cast<unsigned>(line));
    const std::string sku =
        std::to_string(7'000'000'000 + (order * 7 + static_cast<unsigned>(line)) % 5000);
    return R"({"id":)" + id + R"(,"admin_graphql_api_id":"gid:\/\/shopify\/LineItem\/)" + id +
           R"(","attributed_staffs":[],"current_quantity":1,"fulfillable_quantity":1,)"
           R"("fulfillment_service":"manual","fulfillment_status":null,"gift_card":false,)"
           R"("grams":567,"name":"Stoneware mug with a handle - Blue",)" +
           shopify_money("price", number + "9.90") + R"(,"product_exists":true,"product_id":)" +
           sku +
           R"(,"properties":[{"name":"Engraving","value":"For Robin"}],"quantity":1,)"
           R"("requires_shipping":true,"sales_line_item_group_id":null,"sku":"VAR-)" +
           number + R"(-BLUE","taxable":true,"title":"Stoneware mug with a handle",)" +
           shopify_money("total_discount", "0.00") + R"(,"variant_id":)" + id +
           R"(,"variant_inventory_management":"shopify","variant_title":"Blue",)"
           R"("vendor":"Example Pottery","tax_lines":[{"channel_liable":false,)" +
           shopify_money("price", number + ".58") +
           R"(,"rate":0.086,"title":"State tax"}],"duties":[],"discount_allocations":[{)" +
           shopify_money("amount", "1.00") + R"(,"discount_application_index":0}]})";
}

inline std::string shopify_address() {
    return R"({"first_name":"Robin","last_name":"Example","company":null,)"
           R"("address1":"123 Pottery Street","address2":"Apartment 4","city":"Springfield",)"
           R"("province":"Kentucky","province_code":"KY","zip":"40202","country":"United States",)"
           R"("country_code":"US","country_name":"United States","phone":"+1 555 0100",)"
           R"("name":"Robin Example","latitude":45.41634,"longitude":-75.6868,"default":true})";
}

inline std::string shopify_sums() {
    std::string sums;
    for (const char* name : {"current_total_price", "subtotal_price", "total_price", "total_tax"}) {
        sums += shopify_money(name, "199.50") + ",";
    }
    return sums;
}

/// @param bytes  The least size of the body.
inline std::string shopify_order(std::uint64_t order, int lines, std::size_t bytes = 0) {
    const std::string id = std::to_string(4'000'000'000'000 + order);
    const std::int64_t ordered = 1'764'633'600 + static_cast<std::int64_t>(order / 100);
    const std::string address = shopify_address();
    const std::string at = Timestamp{ordered, 0}.to_string();
    const std::string code = "SPRING" + std::to_string(order % 50);
    std::string body =
        R"({"id":)" + id + R"(,"admin_graphql_api_id":"gid:\/\/shopify\/Order\/)" + id +
        R"(","app_id":580111,"browser_ip":"192.0.2.7","buyer_accepts_marketing":false,)"
        R"("cancel_reason":null,"cancelled_at":null,"cart_token":"c1-7a6f01d2","checkout_id":77,)"
        R"("checkout_token":"b1946ac92492d2347c6235b4d2611184","client_details":{)"
        R"("accept_language":"en-US","browser_height":null,"browser_ip":"192.0.2.7",)"
        R"("browser_width":null,"session_hash":null,"user_agent":"Mozilla\/5.0 Linux"},)"
        R"("closed_at":null,"confirmation_number":"XK4J2PQ9V","confirmed":true,)"
        R"("contact_email":"robin@example.com","created_at":")" +
        at + R"(","currency":"USD","customer_locale":"en","device_id":null,)" +
        R"("discount_codes":[{"code":")" + code +
        R"(","amount":"5.00","type":"fixed_amount"}],"duties_included":false,)"
        R"("email":"robin@example.com","estimated_taxes":false,"financial_status":"paid",)"
        R"("fulfillment_status":null,"landing_site":"\/products\/mug?ref=7",)"
        R"("landing_site_ref":null,"location_id":null,"merchant_business_entity_id":"MTU0OD",)"
        R"("merchant_of_record_app_id":null,"name":"#1001","note_attributes":[],"number":1,)"
        R"("order_number":1001,"order_status_url":"https:\/\/mugs.example\/548380009\/orders\/)"
        R"(b1946ac92492d2347c6235b4d2611184\/authenticate?key=9ad3f1","payment_gateway_names":[)"
        R"("shopify_payments"],"phone":null,"po_number":null,"presentment_currency":"USD",)"
        R"("processed_at":")" +
        at + R"(","reference":null,"referring_site":"","source_identifier":null,)" +
        R"("source_name":"web","source_url":null,"tags":"","tax_exempt":false,"tax_lines":[],)"
        R"("taxes_included":true,"test":false,"token":"b1946ac92492d2347c6235b4d2611184",)" +
        shopify_sums() + R"("updated_at":")" + Timestamp{ordered + 1, 0}.to_string() +
        R"(","user_id":null,"billing_address":)" + address + R"(,"customer":{"id":)" +
        std::to_string(6'000'000'000 + order % 100'000) +
        R"(,"email":"robin@example.com","first_name":"Robin","last_name":"Example",)"
        R"("state":"enabled","tags":"","default_address":)" +
        address + R"(},"discount_applications":[{"target_type":"line_item","type":)" +
        R"("discount_code","value":"5.0","value_type":"fixed_amount","allocation_method":"across",)"
        R"("target_selection":"all","code":")" +
        code + R"("}],"fulfillments":[],"line_items":[)";
    for (int line = 1; line <= lines; ++line) {
        body += (line == 1 ? "" : ",") + shopify_line(order, line);
    }
    body += R"(],"payment_terms":null,"refunds":[],"shipping_address":)" + address +
            R"(,"shipping_lines":[{"id":1,"code":"standard",)" + shopify_money("price", "4.90") +
            "," + shopify_money("discounted_price", "4.90") +
            R"(,"is_removed":false,"title":"Standard","tax_lines":[],"discount_allocations":[]}],)"
            R"("returns":[],"note":")";
    if (body.size() + 2 < bytes) {
        body.append(bytes - body.size() - 2, 'x');
    }
    return body + "\"}";
}

}  // namespace sluice::bench
