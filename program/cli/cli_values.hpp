// Values of the command line. Every parser returns an error that says what it expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/intake/rate_window.hpp"
#include "core/lists/statement.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "program/cli/cli.hpp"

namespace sluice::cli {

/// Returns the value, or kInvalid with what was expected.
template <class Value>
[[nodiscard]] Result<Value> parsed(std::optional<Value> value, const char* expected) {
    return value ? Result<Value>(*std::move(value)) : invalid(expected);
}

/// Returns the text as a value if it fits, or kInvalid with what was expected.
template <class Value = std::string>
[[nodiscard]] Result<Value> fitting(std::string_view text, bool fits, const char* expected) {
    return fits ? Result<Value>(Value(text)) : invalid(expected);
}

/// Returns nothing unless the text is one decimal number without a sign.
[[nodiscard]] std::optional<std::uint64_t> parse_digits(std::string_view text);
/// Parses the id of an account, shop, program or creator.
[[nodiscard]] Result<std::string> parse_admin_id(std::string_view text);
[[nodiscard]] Result<LinkId> parse_link_id(std::string_view text);
/// Parses an id from outside (an order, a customer): 1 to 1024 bytes.
[[nodiscard]] Result<std::string> parse_wire_id(std::string_view text);
/// Trims a text: a name, a code, a reason. It may be empty, and has at most 1024 bytes.
[[nodiscard]] Result<std::string> parse_typed(std::string_view text);
[[nodiscard]] Result<OrderId> parse_order_id(std::string_view text);
[[nodiscard]] Result<Timestamp> parse_time(std::string_view text);
/// Parses RFC 3339, or a span from now on: 90d, 12h, 30m, 45s.
[[nodiscard]] Result<Timestamp> parse_expiry(std::string_view text);
/// Parses a span in seconds: 90d, 12h, 30m, 45s.
[[nodiscard]] Result<std::uint64_t> parse_span(std::string_view text);
/// Parses `N/SECONDS`.
[[nodiscard]] Result<RateLimit> parse_rate_limit(std::string_view text);
/// Parses `N/SECONDS`. Returns nullopt for `default`.
[[nodiscard]] Result<std::optional<RateLimit>> parse_rate_limit_or_default(std::string_view text);
[[nodiscard]] std::string to_string(const RateLimit& limit);
/// Parses `write_orders,write_products` into bits of Scope.
[[nodiscard]] Result<std::uint8_t> parse_scopes(std::string_view text);
[[nodiscard]] std::vector<std::string> scope_names(unsigned scopes);
/// Parses `viewer`, `support` or `manager`.
[[nodiscard]] Result<store::Role> parse_role(std::string_view text);
/// Parses a signed amount with a point: -12.50.
[[nodiscard]] Result<Decimal> parse_amount(std::string_view text);
/// Parses an ISO 4217 code.
[[nodiscard]] Result<Currency> parse_currency(std::string_view text);

[[nodiscard]] Result<lists::Month> parse_month(std::string_view text);
/// Parses decimal digits, `min` to `max`.
[[nodiscard]] Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t min,
                                                std::uint64_t max);
/// Parses a size in bytes, at least 1 MB: 500m, 20g.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

/// Adds the option or positional `name` for a number from `min` to `max`.
template <class Number>
Option add_count(Subcommand app, const std::string& name, const std::string& type, Number& target,
                 std::uint64_t min, std::uint64_t max, const std::string& help) {
    return app.add(
        name, type,
        [&target, min, max](const std::string& text) {
            return parse_count(text, min, max).and_then([&target](std::uint64_t count) {
                target = static_cast<Number>(count);
                return Status::success();
            });
        },
        help);
}

/// Adds the option or positional `name` for an id that people choose.
template <class Id>
Option add_id(Subcommand app, const std::string& name, const std::string& type, Id& target,
              const std::string& description) {
    return add_value(
        app, name, type, target,
        [](std::string_view text) {
            return parse_admin_id(text).and_then(
                [](const std::string& id) { return Result<Id>(Id(id)); });
        },
        description);
}

/// Adds the option or positional `name` for the id of a link.
inline Option add_link_id(Subcommand app, const std::string& name, const std::string& type,
                          LinkId& target, const std::string& description) {
    return add_value(app, name, type, target, parse_link_id, description);
}

}  // namespace sluice::cli
