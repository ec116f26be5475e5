// Samples: orders and product batches as merchants send them, the same in every run.
#pragma once

#include <string>

namespace sluice::bench {

/// One line item of about 150 bytes.
inline std::string line_item(int number) {
    const std::string n = std::to_string(number);
    return R"({"line_item_id":"14372849)" + n + R"(","sku":"TSHIRT-BLUE-)" + n +
           R"(","variant_sku":"TSHIRT-BLUE-M-)" + n +
           R"(","amount":"24.95","tax":"3.98","quantity":"2"})";
}

/// An order of `lines` line items: 1.1 KB for 5.
inline std::string order(int lines) {
    std::string items;
    for (int i = 0; i < lines; ++i) {
        items += (i == 0 ? "" : ",") + line_item(1000 + i);
    }
    return R"({"platform_order_id":"5123456789012","platform_customer_id":"6987654321098",)"
           R"("email":"customer@example.com","phone":"+15555550123",)"
           R"("platform_ordered_at":"2024-05-17T09:30:00Z",)"
           R"("platform_updated_at":"2024-05-17T09:31:12.482Z","platform_cancelled_at":null,)"
           R"("amount":"129.70","tax":"20.71","shipping":"4.95","currency_code":"EUR",)"
           R"("discounts":[{"code":"SPRING10","type":"DISCOUNT_CODE",)"
           R"("value_type":"PERCENTAGE","value":"10"}],"line_items":[)" +
           items +
           R"(],"refund_line_items":[],"svc_anon_id":"0b9c6ef2-7f65-4c2c-8f3b-1f7c8a4f9d10"})";
}

inline std::string variant(int product, int number) {
    const std::string id = std::to_string(product) + "-" + std::to_string(number);
    return R"({"variant_sku":"TSHIRT-)" + id + R"(","parent_id":"prod-)" + std::to_string(product) +
           R"(","position":)" + std::to_string(number) +
           R"(,"title":"Organic cotton T-shirt / Blue / M",)"
           R"("product_url":"https://shop.example.com/products/t-shirt?variant=)" +
           id + R"(","image_src":"https://cdn.example.com/images/t-shirt-)" + id +
           R"(.jpg","price":24.95,"list_price":29.95,"sale_price":24.95,"currency_code":"EUR",)"
           R"("availability":"in stock","allowed_regions":["DE","FR","AT"],"option1_name":"Color",)"
           R"("option1_value":"Blue","option2_name":"Size","option2_value":"M",)"
           R"("prices":[{"list_price":29.95,"sale_price":24.95,"currency_code":"EUR",)"
           R"("allowed_region":"DE"},{"list_price":34.5,"currency_code":"CHF",)"
           R"("allowed_region":"CH"}],)"
           R"("selected_options":[{"name":"Color","value":"Blue"},{"name":"Size","value":"M"}]})";
}

/// A product with `variants` variants: 3 KB for 3.
inline std::string product(int number, int variants) {
    const std::string id = std::to_string(number);
    std::string list;
    for (int i = 0; i < variants; ++i) {
        list += (i == 0 ? "" : ",") + variant(number, i + 1);
    }
    return R"({"platform_product_id":"prod-)" + id + R"(","parent_id":"prod-)" + id +
           R"(","position":0,"title":"Organic cotton T-shirt )" + id +
           R"(","handle":"organic-cotton-t-shirt-)" + id +
           R"(","brand":"Example & Söhne","active":true,"in_stock":true,)"
           R"("product_url":"https://shop.example.com/products/organic-cotton-t-shirt-)" +
           id + R"(","image_src":"https://cdn.example.com/images/t-shirt-)" + id +
           R"(.jpg","language":"de","country":"DE","list_price":29.95,"sale_price":24.95,)"
           R"("currency_code":"EUR","price_currency_code":"EUR","availability":"in stock",)"
           R"("allowed_regions":["DE","FR","AT"],"prices":{"price":29.95,)"
           R"("priceRange":{"min":24.95,"max":34.95},"salePrice":24.95,"discountedPrices":)"
           R"([{"discount":{"id":"spring"},"price":22.45}]},"promotional_code":null,)"
           R"("collections":["summer","basics","sale"],"tags":["cotton","organic","unisex","blue"],)"
           R"("variants":[)" +
           list + "]}";
}

inline std::string batch(int products, int variants) {
    std::string body = R"({"products":[)";
    for (int i = 0; i < products; ++i) {
        body += (i == 0 ? "" : ",") + product(i, variants);
    }
    return body + "]}";
}

}  // namespace sluice::bench
