#include "core/commands/program.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace sluice {
namespace {

constexpr std::array<std::pair<AttributionType, std::string_view>, 2> kTypes{{
    {AttributionType::kAffiliateCode, "AFFILIATE_CODE"},
    {AttributionType::kLanded, "LANDED"},
}};
constexpr std::array<std::pair<BaseKind, std::string_view>, 2> kBases{{
    {BaseKind::kNet, "net"},
    {BaseKind::kGross, "gross"},
}};
constexpr std::array<std::pair<RuleMatch, std::string_view>, 7> kMatches{{
    {RuleMatch::kVariantSku, "variant_sku"},
    {RuleMatch::kSku, "sku"},
    {RuleMatch::kProduct, "product"},
    {RuleMatch::kCollection, "collection"},
    {RuleMatch::kBrand, "brand"},
    {RuleMatch::kTag, "tag"},
    {RuleMatch::kDefault, "default"},
}};

constexpr unsigned kPercentDecimalsMax = 4;
constexpr std::int64_t kSecondsPerDay = 86'400;

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) noexcept {
    for (const auto& [known, name] : table) {
        if (known == value) {
            return name;
        }
    }
    return "unknown";
}

template <class Table>
auto value_in(const Table& table, std::string_view text) noexcept
    -> std::optional<typename Table::value_type::first_type> {
    for (const auto& [value, name] : table) {
        if (name == text) {
            return value;
        }
    }
    return std::nullopt;
}

Error rate_error() {
    return {ErrorCode::kInvalid,
            "a rate is a percentage with up to 4 decimals (\"12.5%\") or an amount for each unit "
            "(\"1.50 USD\")"};
}

Error invalid(std::string message) {
    return {ErrorCode::kInvalid, std::move(message)};
}

Result<Rate> parse_percent(std::string_view number) {
    const std::optional<Decimal> value = Decimal::parse(number);
    if (!value || value->scale() > kPercentDecimalsMax) {
        return rate_error();
    }
    return Rate{RateKind::kPercent, *value, {}};
}

Result<Rate> parse_fixed(std::string_view number, std::string_view code) {
    const std::optional<Decimal> value = Decimal::parse(number);
    if (!value) {
        return rate_error();
    }
    const std::optional<Currency> currency = Currency::parse(code);
    if (!currency) {
        return invalid("a fixed rate names an ISO 4217 currency in capitals (\"1.50 USD\")");
    }
    return Rate{RateKind::kFixed, *value, *currency};
}

Status validate_ids(const Program& program) {
    if (!is_admin_id(program.id.view())) {
        return invalid("id: expected 1 to 128 of A-Z a-z 0-9 . _ - : @ + / =");
    }
    if (!is_admin_id(program.account_id.view())) {
        return invalid("account: expected an account id");
    }
    std::set<std::string_view> shops;
    for (const std::string& shop : program.shops) {
        if (!is_admin_id(shop)) {
            return invalid("shops: expected a list of shop ids");
        }
        if (!shops.insert(shop).second) {
            return invalid("shops: \"" + shop + "\" is named twice");
        }
    }
    return {};
}

Status validate_precedence(const std::vector<AttributionType>& precedence) {
    if (precedence.empty()) {
        return invalid("precedence: expected AFFILIATE_CODE, LANDED or both");
    }
    std::set<AttributionType> seen;
    for (const AttributionType type : precedence) {
        if (!seen.insert(type).second) {
            return invalid("precedence: " + std::string(to_string(type)) + " is named twice");
        }
    }
    return {};
}

Status validate_rules(const std::vector<Rule>& rules) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const std::string where = "rule " + std::to_string(i + 1) + ": ";
        if (rules[i].match == RuleMatch::kDefault) {
            return invalid(where +
                           "match: expected variant_sku, sku, product, collection, brand "
                           "or tag");
        }
        if (rules[i].value.empty()) {
            return invalid(where + "value: expected a text that is not empty");
        }
        if (rules[i].rate.kind == RateKind::kNone) {
            return invalid(where + "rate: missing");
        }
    }
    return {};
}

}  // namespace

std::string_view to_string(AttributionType type) noexcept {
    return name_in(kTypes, type);
}

std::optional<AttributionType> parse_attribution_type(std::string_view text) noexcept {
    return value_in(kTypes, text);
}

std::string_view to_string(BaseKind base) noexcept {
    return name_in(kBases, base);
}

std::optional<BaseKind> parse_base_kind(std::string_view text) noexcept {
    return value_in(kBases, text);
}

std::string_view to_string(RuleMatch match) noexcept {
    return name_in(kMatches, match);
}

std::optional<RuleMatch> parse_rule_match(std::string_view text) noexcept {
    const std::optional<RuleMatch> match = value_in(kMatches, text);
    return match == RuleMatch::kDefault ? std::nullopt : match;
}

Result<Rate> parse_rate(std::string_view text) {
    if (!text.empty() && text.back() == '%') {
        return parse_percent(text.substr(0, text.size() - 1));
    }
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) {
        return rate_error();
    }
    return parse_fixed(text.substr(0, space), text.substr(space + 1));
}

std::string to_string(const Rate& rate) {
    switch (rate.kind) {
        case RateKind::kPercent:
            return rate.value.to_string() + "%";
        case RateKind::kFixed:
            return rate.value.to_string() + " " + std::string(rate.currency.code());
        case RateKind::kNone:
            break;
    }
    return "none";
}

bool Program::covers(std::string_view shop_id) const noexcept {
    return shops.empty() || std::find(shops.begin(), shops.end(), shop_id) != shops.end();
}

bool Program::uses(AttributionType type) const noexcept {
    return std::find(precedence.begin(), precedence.end(), type) != precedence.end();
}

Timestamp Program::hold_end(Timestamp ordered_at) const noexcept {
    return ordered_at.plus_seconds(hold_days * kSecondsPerDay);
}

Timestamp Program::held_since(Timestamp at) const noexcept {
    return at.plus_seconds(-(hold_days * kSecondsPerDay));
}

Timestamp Program::window_start(Timestamp ordered_at) const noexcept {
    return ordered_at.plus_seconds(-(window_days * kSecondsPerDay));
}

Status validate(const Program& program) {
    if (Status ids = validate_ids(program); !ids) {
        return ids;
    }
    if (program.window_days > kProgramDaysMax || program.hold_days > kProgramDaysMax) {
        return invalid("window_days, hold_days: expected 0 to " + std::to_string(kProgramDaysMax));
    }
    if (Status precedence = validate_precedence(program.precedence); !precedence) {
        return precedence;
    }
    if (program.default_rate.kind == RateKind::kNone) {
        return invalid("default_rate: missing");
    }
    return validate_rules(program.rules);
}

}  // namespace sluice
