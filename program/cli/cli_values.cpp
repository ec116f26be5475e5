#include "program/cli/cli_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/intake/registry_view.hpp"
#include "core/values/texts.hpp"
#include "core/values/unicode.hpp"
#include "os/clock/clock.hpp"

namespace sluice::cli {
namespace {

constexpr std::uint64_t kSpanSecondsMax = std::uint64_t{kSecondsPerDay} * 366 * 1000;

struct Unit {
    char name;
    std::uint64_t seconds;
};
constexpr std::array<Unit, 4> kUnits{
    {{'d', kSecondsPerDay}, {'h', kSecondsPerHour}, {'m', 60}, {'s', 1}}};

/// 90d -> 7,776,000
std::optional<std::uint64_t> span_seconds(std::string_view text) {
    if (text.size() < 2) {
        return std::nullopt;
    }
    const auto* const unit = std::ranges::find(kUnits, text.back(), &Unit::name);
    const auto count = parse_digits(text.substr(0, text.size() - 1));
    if (unit == kUnits.end() || !count || *count > kSpanSecondsMax / unit->seconds) {
        return std::nullopt;
    }
    return *count * unit->seconds;
}

}  // namespace

std::optional<std::uint64_t> parse_digits(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);  // takes no sign
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

Result<std::string> parse_admin_id(std::string_view text) {
    return is_admin_id(text) ? Result<std::string>(std::string(text))
                             : invalid("expected " + std::string(kAdminIdForm));
}

Result<LinkId> parse_link_id(std::string_view text) {
    return fitting<LinkId>(text, is_link_id(text), "expected 1 to 64 of A-Z a-z 0-9 . _ ~ -");
}

Result<std::string> parse_wire_id(std::string_view text) {
    return fitting(text, !text.empty() && text.size() <= kWireIdBytesMax,
                   "expected an id of 1 to 1024 bytes");
}

Result<std::string> parse_typed(std::string_view text) {
    text = trim_text(text);
    return fitting(text, text.size() <= kWireIdBytesMax, "expected at most 1024 bytes");
}

Result<OrderId> parse_order_id(std::string_view text) {
    return parse_wire_id(text).and_then([](const std::string& id) { return Result(OrderId(id)); });
}

Result<Timestamp> parse_time(std::string_view text) {
    return parsed(Timestamp::parse(text), "expected a time such as 2025-01-31T00:00:00Z");
}

Result<Timestamp> parse_expiry(std::string_view text) {
    if (const auto span = span_seconds(text)) {
        return now_ms().plus_seconds(static_cast<std::int64_t>(*span));
    }
    return parsed(
        Timestamp::parse(text),
        "expected a time such as 2025-01-31T00:00:00Z, or a span such as 90d, 12h, 30m, 45s");
}

Result<std::uint64_t> parse_span(std::string_view text) {
    return parsed(span_seconds(text), "expected a span such as 90d, 12h, 10m, 45s");
}

Result<RateLimit> parse_rate_limit(std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::uint64_t requests = parse_digits(text.substr(0, slash)).value_or(0);
    const std::uint64_t seconds =
        slash == text.size() ? 0 : parse_digits(text.substr(slash + 1)).value_or(0);
    if (requests < 1 || requests > kRateRequestsMax || seconds < 1 ||
        seconds > kRateWindowSecondsMax) {
        return invalid("expected REQUESTS/SECONDS such as 600/60 (at most " +
                       to_string(RateLimit{kRateRequestsMax, kRateWindowSecondsMax}) + ")");
    }
    return RateLimit{static_cast<std::uint32_t>(requests), static_cast<std::uint32_t>(seconds)};
}

Result<std::optional<RateLimit>> parse_rate_limit_or_default(std::string_view text) {
    if (text == "default") {
        return std::optional<RateLimit>();
    }
    const auto limit = parse_rate_limit(text);
    return limit.ok() ? limit : invalid(limit.error().message + ", or default");
}

std::string to_string(const RateLimit& limit) {
    return std::to_string(limit.requests) + "/" + std::to_string(limit.window_seconds);
}

Result<std::uint8_t> parse_scopes(std::string_view text) {
    unsigned scopes = 0;
    for (const std::string_view name : split(text, ',')) {
        const auto scope = parse_name<Scope>(name);
        if (!scope) {
            return invalid(
                "expected a comma-separated list of write_orders, write_products, read_orders, "
                "read_ledger, write_clicks, shopify_webhooks, woocommerce_webhooks, creator_pages");
        }
        scopes |= *scope;
    }
    return static_cast<std::uint8_t>(scopes);
}

std::vector<std::string> scope_names(unsigned scopes) {
    std::vector<std::string> names;
    for (const auto& [scope, name] : kNamesOf<Scope>) {
        if ((scopes & scope) != 0) {
            names.emplace_back(name);
        }
    }
    return names;
}

Result<store::Role> parse_role(std::string_view text) {
    return parsed(value_in(store::kRoleNames, text), "expected viewer, support or manager");
}

Result<Currency> parse_currency(std::string_view text) {
    return parsed(Currency::parse(text), "expected an ISO 4217 code, such as EUR");
}

Result<Decimal> parse_amount(std::string_view text) {
    return parsed(
        Decimal::parse_signed(text),
        "expected an amount such as -12.50 (at most 15 digits before the point and 6 after it)");
}

Result<lists::Month> parse_month(std::string_view text) {
    const std::string first(text);
    const auto from = text.size() == 7 ? Timestamp::parse(first + "-01T00:00:00Z") : std::nullopt;
    if (!from) {
        return invalid("expected a month such as 2025-01");
    }
    // 31 days after the first of a month is one of the first days of the next.
    const std::string next = from->plus_days(31).to_string().substr(0, 7);
    const auto to = Timestamp::parse(next + "-01T00:00:00Z");
    if (!to) {
        return invalid("expected a month before 9999-12");
    }
    return lists::Month{*from, *to, first};
}

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t min, std::uint64_t max) {
    const auto value = parse_digits(text);
    if (!value || *value < min || *value > max) {
        return invalid("expected a number from " + std::to_string(min) + " to " +
                       std::to_string(max));
    }
    return *value;
}

Result<std::uint64_t> parse_size(std::string_view text) {
    const bool giga = text.ends_with('g') || text.ends_with('G');
    const bool mega = text.ends_with('m') || text.ends_with('M');
    const auto count = giga || mega ? parse_digits(text.substr(0, text.size() - 1)) : std::nullopt;
    if (!count || *count < 1 || *count > (1u << 20)) {
        return invalid("expected a size such as 500m or 20g");
    }
    return *count << (giga ? 30u : 20u);
}

}  // namespace sluice::cli
