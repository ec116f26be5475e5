// Order event: bounded and named errors, values within their rules, the same answer twice, and the
// same idea of JSON as an independent reader.
#include <algorithm>
#include <set>
#include <string>

#include "check.hpp"
#include "core/order_event.hpp"
#include "strict_json.hpp"

namespace {

using sluice::FieldError;
using sluice::OrderEvent;
using sluice::SentDecimal;

bool is_id(std::string_view id) {
    return !id.empty() && id.size() <= 1024 && id.find('\0') == std::string_view::npos;
}

void check_decimal(const SentDecimal& decimal) {
    const auto parsed = sluice::Decimal::parse(decimal.text);
    FUZZ_CHECK(parsed && *parsed == decimal.value && !decimal.value.is_negative());
}

void check_event(const OrderEvent& event) {
    FUZZ_CHECK(is_id(event.order_id));
    check_decimal(event.amount);
    check_decimal(event.tax);
    check_decimal(event.shipping);
    FUZZ_CHECK(sluice::Currency::parse(event.currency.code()));
    FUZZ_CHECK(sluice::Timestamp::parse(event.updated_at.to_string()) == event.updated_at);
    FUZZ_CHECK(!event.line_items.empty());
    std::set<std::string_view> lines;
    for (const sluice::LineItem& line : event.line_items) {
        FUZZ_CHECK(is_id(line.line_item_id) && is_id(line.sku));
        FUZZ_CHECK(lines.insert(line.line_item_id).second);
        FUZZ_CHECK(line.quantity >= 1 && line.quantity <= 999'999'999);
        check_decimal(line.amount);
        check_decimal(line.tax);
    }
    std::set<std::string_view> refunds;
    std::set<std::string_view> refunded;
    for (const sluice::RefundLineItem& refund : event.refund_line_items) {
        FUZZ_CHECK(is_id(refund.refund_line_item_id) && is_id(refund.sku));
        FUZZ_CHECK(refunds.insert(refund.refund_line_item_id).second);
        FUZZ_CHECK(refunded.insert(refund.line_item_id).second);
        FUZZ_CHECK(lines.count(refund.line_item_id) == 1);
        check_decimal(refund.amount);
    }
    for (const sluice::Discount& discount : event.discounts) {
        FUZZ_CHECK(!discount.code.empty());
        check_decimal(discount.value);
    }
}

void check_errors(std::span<const FieldError> errors) {
    FUZZ_CHECK(!errors.empty() && errors.size() <= sluice::OrderEventParser::kErrorsMax);
    std::set<std::string> fields;
    for (const FieldError& error : errors) {
        FUZZ_CHECK(!error.message.empty() && error.field.size() < 100);
        FUZZ_CHECK(fields.insert(error.field).second);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static sluice::OrderEventParser reused;
    std::string_view body = sluice::fuzz::text_of(data, size);
    const auto topic = static_cast<sluice::Topic>(1 + sluice::fuzz::take_choice(body) % 3);

    const OrderEvent* event = reused.parse(body, topic, "svc_anon_id");
    if (event != nullptr) {
        check_event(*event);
    } else {
        check_errors(reused.errors());
    }
    const auto errors = reused.errors();
    const bool body_error = std::any_of(
        errors.begin(), errors.end(), [](const FieldError& error) { return error.field.empty(); });
    const bool object = body.find('{') == body.find_first_not_of(" \t\r\n");
    const bool strict = sluice::test::is_strict_json(body);
    FUZZ_CHECK(strict || event == nullptr);
    FUZZ_CHECK(!(strict && object && body_error));
    FUZZ_CHECK(strict || body_error || body.find("\\u0000") != std::string_view::npos);

    sluice::OrderEventParser fresh;
    FUZZ_CHECK((fresh.parse(body, topic, "svc_anon_id") != nullptr) == (event != nullptr));
    FUZZ_CHECK(fresh.errors().size() == errors.size());
    return 0;
}
