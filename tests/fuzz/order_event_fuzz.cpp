// Order event: bounded and named errors, values within their rules, the same answer twice, and the
// same idea of JSON, of each rule and of each value as an independent reader.
#include <algorithm>
#include <set>
#include <string>

#include "check.hpp"
#include "compare.hpp"
#include "core/protocol/order_event.hpp"
#include "payload_rules.hpp"
#include "unit/core/json/strict_json.hpp"

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

using sluice::fuzz::Kind;
using sluice::fuzz::RuleErrors;
using sluice::fuzz::Value;

const std::vector<Value>& items_of(const Value& document, const char* name) {
    static const std::vector<Value> kNone;
    const auto found = document.all(name);
    return found.size() == 1 && found[0]->is(Kind::kArray) ? found[0]->items : kNone;
}

/// The one string of an element that keeps the rule `check`; nullptr otherwise.
const std::string* good_text(const Value& element, const char* name,
                             const sluice::fuzz::Check& check) {
    const auto found = element.all(name);
    RuleErrors errors;
    if (found.size() != 1 || found[0]->is(Kind::kNull)) {
        return nullptr;
    }
    check(*found[0], "", errors);
    return errors.empty() ? &found[0]->text : nullptr;
}

/// Ids are unique; a refund names a line. Where the lines cannot be read, the latter is open.
void check_ids(const Value& order, RuleErrors& errors, RuleErrors& open) {
    const sluice::fuzz::Check id = sluice::fuzz::id();
    bool readable = !items_of(order, "line_items").empty();
    std::set<std::string> lines;
    const auto repeated = [&](std::set<std::string>& seen, const Value& element,
                              const std::string& path, const char* name) {
        const std::string* text = good_text(element, name, id);
        if (text != nullptr && !seen.insert(*text).second) {
            errors.emplace_back(path + "." + name, sluice::fuzz::kInvalid);
        }
        return text;
    };
    std::size_t index = 0;
    for (const Value& line : items_of(order, "line_items")) {
        const std::string path = "line_items[" + std::to_string(index++) + "]";
        readable = repeated(lines, line, path, "line_item_id") != nullptr && readable;
    }
    std::set<std::string> refunds;
    std::set<std::string> refunded;
    index = 0;
    for (const Value& refund : items_of(order, "refund_line_items")) {
        const std::string path = "refund_line_items[" + std::to_string(index++) + "]";
        repeated(refunds, refund, path, "refund_line_item_id");
        const std::string* line = repeated(refunded, refund, path, "line_item_id");
        if (line != nullptr && lines.count(*line) == 0) {
            (readable ? errors : open).emplace_back(path + ".line_item_id", sluice::fuzz::kInvalid);
        }
    }
}

std::string text_at(const Value& object, const char* name) {
    const auto found = object.all(name);
    return found.empty() ? std::string() : found[0]->text;
}

void compare_values(const OrderEvent& event, const Value& order) {
    FUZZ_CHECK(event.order_id == text_at(order, "platform_order_id"));
    FUZZ_CHECK(event.amount.text == text_at(order, "amount"));
    FUZZ_CHECK(event.tax.text == text_at(order, "tax"));
    FUZZ_CHECK(event.shipping.text == text_at(order, "shipping"));
    FUZZ_CHECK(event.currency.code() == text_at(order, "currency_code"));
    FUZZ_CHECK(event.ordered_at == sluice::Timestamp::parse(text_at(order, "platform_ordered_at")));
    const auto& lines = items_of(order, "line_items");
    const auto& refunds = items_of(order, "refund_line_items");
    const auto& discounts = items_of(order, "discounts");
    FUZZ_CHECK(event.line_items.size() == lines.size());
    FUZZ_CHECK(event.refund_line_items.size() == refunds.size());
    FUZZ_CHECK(event.discounts.size() == discounts.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        FUZZ_CHECK(event.line_items[i].line_item_id == text_at(lines[i], "line_item_id"));
        FUZZ_CHECK(event.line_items[i].sku == text_at(lines[i], "sku"));
        FUZZ_CHECK(event.line_items[i].amount.text == text_at(lines[i], "amount"));
        FUZZ_CHECK(event.line_items[i].quantity == std::stol(text_at(lines[i], "quantity")));
    }
    for (std::size_t i = 0; i < refunds.size(); ++i) {
        FUZZ_CHECK(event.refund_line_items[i].amount.text == text_at(refunds[i], "amount"));
        FUZZ_CHECK(event.refund_line_items[i].line_item_id == text_at(refunds[i], "line_item_id"));
    }
    for (std::size_t i = 0; i < discounts.size(); ++i) {
        FUZZ_CHECK(event.discounts[i].code == text_at(discounts[i], "code"));
    }
}

/// Every rule, written down a second time, says the same.
void compare_with_rules(const OrderEvent* event, std::span<const FieldError> told,
                        std::string_view body, sluice::Topic topic) {
    static const sluice::fuzz::Check kRules[] = {sluice::fuzz::order_rules(false),
                                                 sluice::fuzz::order_rules(true)};
    const std::optional<Value> order = sluice::fuzz::StrictReader(body).read();
    // U+0000 in an unknown field is an error of the body.
    if (body.find("\\u0000") != std::string_view::npos) {
        FUZZ_CHECK(order || event == nullptr);
        return;
    }
    if (!order || !order->is(Kind::kObject)) {
        FUZZ_CHECK(event == nullptr && told.size() == 1 && told.front().field.empty());
        return;
    }
    RuleErrors errors;
    RuleErrors open;
    kRules[topic == sluice::Topic::kOrderCreate ? 0 : 1](*order, "", errors);
    check_ids(*order, errors, open);
    if (event != nullptr) {
        FUZZ_CHECK(errors.empty());
        compare_values(*event, *order);
    } else {
        sluice::fuzz::compare(told, errors, open, sluice::OrderEventParser::kErrorsMax);
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

    compare_with_rules(event, errors, body, topic);

    sluice::OrderEventParser fresh;
    FUZZ_CHECK((fresh.parse(body, topic, "svc_anon_id") != nullptr) == (event != nullptr));
    FUZZ_CHECK(fresh.errors().size() == errors.size());
    return 0;
}
