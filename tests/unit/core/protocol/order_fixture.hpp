// A valid order and ways to spoil it, for the tests of the order event.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/order_event.hpp"

namespace sluice::test {

inline constexpr std::string_view kOrder = R"({
  "platform_order_id": "o-1",
  "platform_customer_id": "c-1",
  "email": "a@example.com",
  "phone": "+1 555",
  "platform_ordered_at": "2024-01-31T12:00:00Z",
  "platform_updated_at": "2024-02-01T12:00:00.5+01:00",
  "platform_cancelled_at": null,
  "amount": "120.00",
  "tax": "20.00",
  "shipping": "5.00",
  "currency_code": "EUR",
  "discounts": [{"code": "SPRING", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}],
  "line_items": [
    {"line_item_id": "l-1", "sku": "s-1", "variant_sku": "v-1", "amount": "60.00", "tax": "10.00", "quantity": "2"},
    {"line_item_id": "l-2", "sku": "s-2", "amount": "60.00", "tax": "10.00", "quantity": "1"}],
  "refund_line_items": [
    {"refund_line_item_id": "r-1", "line_item_id": "l-1", "platform_refunded_at": "2024-02-01T00:00:00Z",
     "sku": "s-1", "amount": "30.00", "tax": "5.00", "quantity": "1"}],
  "svc_anon_id": "anon-1",
  "unknown": {"kept": [1, 2.5, null, true, "x"]}
})";

/// The order with the first `from` replaced by `to`. Fails the test if there is no `from`.
inline std::string edited(std::string_view from, std::string_view to,
                          std::string_view order = kOrder) {
    std::string body(order);
    const std::size_t at = body.find(from);
    EXPECT_NE(at, std::string::npos) << "not in the order: " << from;
    return at == std::string::npos ? body : body.replace(at, from.size(), to);
}

/// `field CODE` of each error; nothing if the body is valid.
inline std::vector<std::string> errors_of(std::string_view body, Topic topic = Topic::kOrderUpdate,
                                          std::string_view anon_field = "svc_anon_id") {
    static OrderEventParser parser;
    const OrderEvent* event = parser.parse(body, topic, anon_field);
    std::vector<std::string> errors;
    for (const FieldError& error : parser.errors()) {
        EXPECT_FALSE(error.message.empty());
        errors.push_back(error.field + ' ' + std::string(to_string(error.code)));
    }
    EXPECT_EQ(event != nullptr, errors.empty());
    return errors;
}

}  // namespace sluice::test
