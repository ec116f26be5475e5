// The rules of both bodies, written down a second time and from the protocol alone, on the tree of
// strict_reader.hpp. What the two writings say about a body must be the same.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"
#include "strict_reader.hpp"

namespace sluice::fuzz {

using Kind = Value::Kind;
/// (field, "REQUIRED" or "INVALID_FORMAT")
using RuleError = std::pair<std::string, std::string>;
using RuleErrors = std::vector<RuleError>;
using Check = std::function<void(const Value&, const std::string&, RuleErrors&)>;

inline constexpr const char* kRequired = "REQUIRED";
inline constexpr const char* kInvalid = "INVALID_FORMAT";

struct Rule {
    const char* name;
    Check check;
    bool required = false;
    bool nullable = false;
};
using Rules = std::vector<Rule>;

inline Check check_if(std::function<bool(const Value&)> good) {
    return [good](const Value& value, const std::string& path, RuleErrors& errors) {
        if (!good(value)) {
            errors.emplace_back(path, kInvalid);
        }
    };
}
inline Check text_if(std::function<bool(const std::string&)> good) {
    return check_if([good](const Value& value) {
        return value.is(Kind::kString) && value.text.find('\0') == std::string::npos &&
               good(value.text);
    });
}
inline Check text() {
    return text_if([](const std::string&) { return true; });
}
inline Check filled() {
    return text_if([](const std::string& text) { return !text.empty(); });
}
inline Check id() {
    return text_if([](const std::string& text) { return !text.empty() && text.size() <= 1024; });
}
inline Check one_of(std::set<std::string> values) {
    return text_if([values](const std::string& text) { return values.count(text) == 1; });
}
inline Check of_kind(std::set<Kind> kinds) {
    return check_if([kinds](const Value& value) { return kinds.count(value.kind) == 1; });
}
inline Check number() {
    return of_kind({Kind::kInteger, Kind::kReal});
}
inline Check integer() {
    return of_kind({Kind::kInteger});
}
inline Check boolean() {
    return of_kind({Kind::kBoolean});
}
inline Check timestamp() {
    return text_if([](const std::string& text) { return Timestamp::parse(text).has_value(); });
}
inline Check currency() {
    return text_if([](const std::string& text) { return Currency::parse(text).has_value(); });
}

inline std::size_t digits_at(const std::string& text, std::size_t at) {
    const std::size_t end = text.find_first_not_of("0123456789", at);
    return (end == std::string::npos ? text.size() : end) - at;
}
inline bool is_decimal(const std::string& text) {
    const std::size_t whole = digits_at(text, 0);
    if (whole < 1 || whole > 15 || whole == text.size()) {
        return whole >= 1 && whole <= 15;
    }
    const std::size_t fraction = digits_at(text, whole + 1);
    return text[whole] == '.' && fraction >= 1 && fraction <= 6 &&
           whole + 1 + fraction == text.size();
}
inline Check decimal() {
    return text_if(is_decimal);
}
inline Check quantity(long least) {
    return text_if([least](const std::string& text) {
        return !text.empty() && text.size() <= 9 && digits_at(text, 0) == text.size() &&
               std::stol(text) >= least;
    });
}

/// Checks an object's named members. `null_is_absent`: as on events, where null counts as absent.
inline Check record(Rules rules, bool null_is_absent = false) {
    return
        [rules, null_is_absent](const Value& value, const std::string& path, RuleErrors& errors) {
            if (!value.is(Kind::kObject)) {
                errors.emplace_back(path, kInvalid);
                return;
            }
            for (const Rule& rule : rules) {
                const std::string where = path.empty() ? rule.name : path + "." + rule.name;
                const std::vector<const Value*> found = value.all(rule.name);
                const bool null = found.size() == 1 && found[0]->is(Kind::kNull);
                if (found.size() > 1) {
                    errors.emplace_back(where, kInvalid);
                } else if (found.empty() || null) {
                    const bool fine = !rule.required && (!null || rule.nullable || null_is_absent);
                    if (!fine) {
                        errors.emplace_back(where, rule.required ? kRequired : kInvalid);
                    }
                } else {
                    rule.check(*found[0], where, errors);
                }
            }
        };
}

inline Check list(Check element, std::size_t least = 0, std::size_t most = SIZE_MAX) {
    return [element, least, most](const Value& value, const std::string& path, RuleErrors& errors) {
        if (!value.is(Kind::kArray) || value.items.size() < least) {
            errors.emplace_back(path, kInvalid);
            return;
        }
        if (value.items.size() > most) {
            errors.emplace_back(path, kInvalid);
        }
        for (std::size_t i = 0; i < value.items.size(); ++i) {
            element(value.items[i], path + "[" + std::to_string(i) + "]", errors);
        }
    };
}

inline Check product_rules() {
    const Check range = record({{"min", number()}, {"max", number()}});
    const Check discount = record({{"id", text()}});
    const Rules discounted{{"discount", discount}, {"price", number()}};
    const Rules discounted_range{{"discount", discount}, {"range", range}};
    const Check prices = record({{"price", number(), false, true},
                                 {"priceRange", range, false, true},
                                 {"salePrice", number(), false, true},
                                 {"salePriceRange", range, false, true},
                                 {"promotionalPrice", number(), false, true},
                                 {"promotionalPriceRange", range, false, true},
                                 {"discountedPrices", list(record(discounted), 0, 10)},
                                 {"discountedPriceRanges", list(record(discounted_range), 0, 10)}});
    const Check availability = one_of({"in stock", "out of stock"});
    const Check variant_price = record({{"list_price", number()},
                                        {"sale_price", number()},
                                        {"currency_code", currency()},
                                        {"allowed_region", text()}});
    const Check option = record({{"name", text(), false, true}, {"value", text(), false, true}});
    const Check variant = record({{"variant_sku", id(), true},
                                  {"parent_id", id()},
                                  {"position", integer()},
                                  {"title", text()},
                                  {"product_url", text(), false, true},
                                  {"image_src", text()},
                                  {"price", number(), false, true},
                                  {"list_price", number()},
                                  {"sale_price", number(), false, true},
                                  {"currency_code", currency()},
                                  {"availability", availability},
                                  {"allowed_regions", list(text())},
                                  {"option1_name", text()},
                                  {"option2_name", text()},
                                  {"option3_name", text()},
                                  {"option1_value", text()},
                                  {"option2_value", text()},
                                  {"option3_value", text()},
                                  {"option1_swatch_src", text()},
                                  {"option2_swatch_src", text()},
                                  {"option3_swatch_src", text()},
                                  {"prices", list(variant_price)},
                                  {"selected_options", list(option, 0, 100), false, true}});
    return record({{"platform_product_id", id(), true},
                   {"parent_id", id()},
                   {"position", integer()},
                   {"title", filled(), true},
                   {"handle", text()},
                   {"brand", text(), false, true},
                   {"active", boolean()},
                   {"in_stock", boolean(), false, true},
                   {"product_url", text(), false, true},
                   {"image_src", text(), false, true},
                   {"language", text_if([](const std::string& t) { return is_iso639_1(t); })},
                   {"country", text_if([](const std::string& t) { return is_iso3166_alpha2(t); })},
                   {"list_price", number()},
                   {"sale_price", number()},
                   {"currency_code", currency()},
                   {"price_currency_code", currency(), false, true},
                   {"availability", availability},
                   {"allowed_regions", list(text())},
                   {"prices", prices, false, true},
                   {"promotional_code", text(), false, true},
                   {"collections", list(text(), 0, 250), false, true},
                   {"tags", list(text(), 0, 250), false, true},
                   {"variants", list(variant, 0, 250), false, true}});
}

inline Check deleted_product_rules() {
    return record(
        {{"platform_product_id", id(), true},
         {"parent_id", id(), true},
         {"title", filled(), true},
         {"language", text_if([](const std::string& t) { return is_iso639_1(t); })},
         {"country", text_if([](const std::string& t) { return is_iso3166_alpha2(t); })}});
}

inline Check order_rules(bool update) {
    const Check discount = record({{"code", filled(), true},
                                   {"type", one_of({"DISCOUNT_CODE"}), true},
                                   {"value_type", one_of({"FIXED_AMOUNT", "PERCENTAGE"}), true},
                                   {"value", decimal(), true}},
                                  true);
    const Check line = record({{"line_item_id", id(), true},
                               {"sku", id(), true},
                               {"amount", decimal(), true},
                               {"tax", decimal(), true},
                               {"quantity", quantity(1), true},
                               {"variant_sku", id()}},
                              true);
    const Check refund = record({{"refund_line_item_id", id(), true},
                                 {"line_item_id", id(), true},
                                 {"platform_refunded_at", timestamp(), true},
                                 {"sku", id(), true},
                                 {"amount", decimal(), true},
                                 {"tax", decimal(), true},
                                 {"quantity", quantity(0), true},
                                 {"variant_sku", id()}},
                                true);
    return record({{"platform_order_id", id(), true},
                   {"platform_customer_id", text()},
                   {"email", text()},
                   {"phone", text()},
                   {"platform_ordered_at", timestamp(), true},
                   {"platform_updated_at", timestamp(), update},
                   {"platform_cancelled_at", timestamp()},
                   {"amount", decimal(), true},
                   {"tax", decimal(), true},
                   {"shipping", decimal(), true},
                   {"currency_code", currency(), true},
                   {"discounts", list(discount)},
                   {"line_items", list(line, 1), true},
                   {"refund_line_items", list(refund)},
                   {"svc_anon_id", text()}},
                  true);
}

}  // namespace sluice::fuzz
