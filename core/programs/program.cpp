#include "core/programs/program.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sluice {
namespace {

constexpr std::string_view kPerOrder = " per order";

constexpr unsigned kPercentDecimalsMax = 4;
constexpr unsigned kFactorDecimalsMax = 2;
constexpr Int128 kFactorMax = 100;

Error rate_error() {
    return {ErrorCode::kInvalid,
            "a rate is a percentage with up to 4 decimals (\"12.5%\"), an amount for each unit "
            "(\"1.50 USD\"), an amount for each order (\"5.00 USD per order\") or, in a rule, a "
            "factor above 0 and up to 100 with up to 2 decimals (\"x2\")"};
}

Result<Rate> parse_percent(std::string_view number) {
    const std::optional<Decimal> value = Decimal::parse(number);
    if (!value || value->scale() > kPercentDecimalsMax) {
        return rate_error();
    }
    return Rate{RateKind::kPercent, *value, {}};
}

Result<Rate> parse_factor(std::string_view number) {
    const std::optional<Decimal> value = Decimal::parse(number);
    if (!value || value->is_zero() || value->scale() > kFactorDecimalsMax ||
        *value > Decimal(kFactorMax, 0)) {
        return rate_error();
    }
    return Rate{RateKind::kMultiplier, *value, {}};
}

Result<Rate> parse_fixed(RateKind kind, std::string_view number, std::string_view code) {
    const std::optional<Decimal> value = Decimal::parse(number);
    if (!value) {
        return rate_error();
    }
    const std::optional<Currency> currency = Currency::parse(code);
    if (!currency) {
        return invalid("a fixed rate names an ISO 4217 currency in capitals (\"1.50 USD\")");
    }
    return Rate{kind, *value, *currency};
}

Status validate_ids(const Program& program) {
    if (!is_admin_id(program.id.view())) {
        return invalid("id: expected " + std::string(kAdminIdForm));
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

Status validate_tiers(const std::string& where, const std::vector<Tier>& tiers) {
    std::map<Currency, Decimal> last;
    for (const Tier& tier : tiers) {
        if (tier.from.amount.is_negative()) {
            return invalid(where + "from: expected an amount of 0 or more");
        }
        if (tier.rate.kind == RateKind::kNone) {
            return invalid(where + "rate: missing");
        }
        if (tier.rate.kind == RateKind::kMultiplier) {
            return invalid(where + "rate: expected a rate; only a rule may multiply");
        }
        const auto [known, first] = last.try_emplace(tier.from.currency, tier.from.amount);
        if (!first && tier.from.amount <= known->second) {
            return invalid(where + "expected tiers of " + std::string(tier.from.currency.code()) +
                           " that rise; " + to_string(tier.from) + " does not");
        }
        known->second = tier.from.amount;
    }
    return {};
}

Status validate_rule(const std::string& where, const Rule& rule) {
    if (rule.match == RuleMatch::kDefault) {
        return invalid(where +
                       "match: expected variant_sku, sku, sku_pattern, product, collection, brand "
                       "or tag");
    }
    if (rule.match == RuleMatch::kNoItem) {
        if (rule.qualifiers() == 0) {
            return invalid(where + "expected an item (match, value), a qualifier, or both");
        }
    } else if (rule.value.empty()) {
        return invalid(where + "value: expected a text that is not empty");
    } else if (rule.match == RuleMatch::kSkuPattern &&
               (rule.value.find('*') == std::string::npos ||
                rule.value.find_first_not_of('*') == std::string::npos)) {
        return invalid(where +
                       "value: expected a pattern with * for any characters, such as MUG-*");
    }
    if (rule.rate.kind == RateKind::kMultiplier && !rule.tiers.empty()) {
        return invalid(where + "tiers: expected none beside a factor, which multiplies tiers too");
    }
    if (rule.rate.kind == RateKind::kNone) {
        return invalid(where + "rate: missing");
    }
    if (rule.from && rule.until && *rule.until <= *rule.from) {
        return invalid(where + "until: expected an instant after from");
    }
    if ((!rule.creator.empty() && !is_admin_id(rule.creator)) ||
        (!rule.group.empty() && !is_admin_id(rule.group))) {
        return invalid(where + "creator, group: expected " + std::string(kAdminIdForm));
    }
    return validate_tiers(where + "tiers: ", rule.tiers);
}

/// Another tier changes the number of a rate, and nothing else, so that a rule that matched an
/// order matches it still.
Status validate_kinds(const std::string& where, const Rate& rate, const std::vector<Tier>& tiers) {
    for (const Tier& tier : tiers) {
        if (tier.rate.kind != rate.kind || tier.rate.currency != rate.currency) {
            return invalid(where +
                           "expected rates of one kind and currency, because tiers_apply is " +
                           R"("month"; )" + to_string(tier.rate) + " follows " + to_string(rate));
        }
        if (rate.kind != RateKind::kPercent && tier.from.currency != rate.currency) {
            return invalid(where + "expected from in " + std::string(rate.currency.code()) +
                           R"(, the currency of its rate, because tiers_apply is "month")");
        }
    }
    return {};
}

Status validate_months(const Program& program) {
    if (!program.rates_by_month()) {
        return {};
    }
    if (!program.has_tiers()) {
        return invalid(R"(tiers_apply: the program has no tiers for "month")");
    }
    if (Status fits =
            validate_kinds("default_tiers: ", program.default_rate, program.default_tiers);
        !fits) {
        return fits;
    }
    for (std::size_t i = 0; i < program.rules.size(); ++i) {
        const Rule& rule = program.rules[i];
        if (Status fits = validate_kinds("rule " + std::to_string(i + 1) + ": tiers: ", rule.rate,
                                         rule.tiers);
            !fits) {
            return fits;
        }
    }
    return {};
}

/// Calls `visit` for each rate that a multiplier may multiply.
template <class Visit>
void visit_rates(const Program& program, const Visit& visit) {
    const auto visit_tiers = [&visit](const std::vector<Tier>& tiers) {
        for (const Tier& tier : tiers) {
            visit(tier.rate);
        }
    };
    visit(program.default_rate);
    visit_tiers(program.default_tiers);
    for (const Rule& rule : program.rules) {
        if (rule.rate.kind != RateKind::kMultiplier) {
            visit(rule.rate);
            visit_tiers(rule.tiers);
        }
    }
}

/// A multiplied rate has the digits of a stated one.
Status validate_multiplied(const Program& program) {
    Status fits;
    for (const Rule& rule : program.rules) {
        if (rule.rate.kind != RateKind::kMultiplier) {
            continue;
        }
        visit_rates(program, [&](const Rate& rate) {
            const Rate product = multiplied(rate, rule.rate);
            if (product.value.scale() > Decimal::kFractionDigitsMax ||
                product.value >= kAmountEnd) {
                fits = invalid("rate: " + to_string(rule.rate) + " of " + to_string(rate) +
                               " has more than 15 digits before the point or 6 after it");
            }
        });
    }
    return fits;
}

Status validate_rules(const std::vector<Rule>& rules) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (Status fits = validate_rule("rule " + std::to_string(i + 1) + ": ", rules[i]); !fits) {
            return fits;
        }
    }
    return {};
}

Status validate_caps(const std::vector<Money>& caps) {
    std::set<Currency> seen;
    for (const Money& cap : caps) {
        if (!seen.insert(cap.currency).second) {
            return invalid("max_per_order: expected one amount of " +
                           std::string(cap.currency.code()));
        }
        if (cap.amount.is_negative()) {
            return invalid("max_per_order: expected an amount of 0 or more");
        }
    }
    return {};
}

}  // namespace

std::vector<std::string> attribution_type_names(unsigned types) {
    std::vector<std::string> names;
    for (const auto type :
         {AttributionType::kAffiliateCode, AttributionType::kLanded, AttributionType::kManual}) {
        if ((types & static_cast<unsigned>(type)) != 0) {
            names.emplace_back(to_string(type));
        }
    }
    return names;
}

Parsed<RuleMatch> parse_rule_match(std::string_view text) noexcept {
    const std::optional<RuleMatch> match = parse_name<RuleMatch>(text);
    return match == RuleMatch::kDefault || match == RuleMatch::kNoItem ? std::nullopt : match;
}

Result<Rate> parse_rate(std::string_view text) {
    if (!text.empty() && text.back() == '%') {
        return parse_percent(text.substr(0, text.size() - 1));
    }
    if (text.starts_with('x')) {
        return parse_factor(text.substr(1));
    }
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) {
        return rate_error();
    }
    const std::string_view code = text.substr(space + 1);
    if (code.ends_with(kPerOrder)) {
        return parse_fixed(RateKind::kPerOrder, text.substr(0, space),
                           code.substr(0, code.size() - kPerOrder.size()));
    }
    return parse_fixed(RateKind::kFixed, text.substr(0, space), code);
}

std::string to_string(const Rate& rate) {
    switch (rate.kind) {
        case RateKind::kPercent:
            return rate.value.to_string() + "%";
        case RateKind::kFixed:
            return rate.value.to_string() + " " + std::string(rate.currency.code());
        case RateKind::kPerOrder:
            return rate.value.to_string() + " " + std::string(rate.currency.code()) +
                   std::string(kPerOrder);
        case RateKind::kMultiplier:
            return "x" + rate.value.to_string();
        case RateKind::kNone:
            break;
    }
    return "none";
}

Rate multiplied(const Rate& rate, const Rate& multiplier) {
    Int128 units = rate.value.unscaled() * multiplier.value.unscaled();
    unsigned scale = rate.value.scale() + multiplier.value.scale();
    for (; scale > rate.value.scale() && units % 10 == 0; --scale) {
        units /= 10;
    }
    return {rate.kind, Decimal(units, static_cast<std::uint8_t>(scale)), rate.currency};
}

bool fits_pattern(std::string_view pattern, std::string_view text) noexcept {
    std::size_t at = 0, in_text = 0, star = std::string_view::npos, after_star = 0;
    while (in_text < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            after_star = in_text;
        } else if (at < pattern.size() && pattern[at] == text[in_text]) {
            ++at;
            ++in_text;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            in_text = ++after_star;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool Program::covers(std::string_view shop_id) const noexcept {
    return shops.empty() || std::ranges::find(shops, shop_id) != shops.end();
}

bool Program::uses(AttributionType type) const noexcept {
    return std::ranges::find(precedence, type) != precedence.end();
}

Timestamp Program::clears_at(Timestamp ordered_at) const noexcept {
    return ordered_at.plus_days(clearing_days);
}

Timestamp Program::cleared_until(Timestamp at) const noexcept {
    return at.plus_days(-std::int64_t{clearing_days});
}

Timestamp Program::default_effective_from(Timestamp received_at) const noexcept {
    return std::max(kFirstInstant, received_at.plus_days(-std::int64_t{late_days}));
}

Timestamp Program::window_start(Timestamp ordered_at) const noexcept {
    return ordered_at.plus_days(-std::int64_t{window_days});
}

bool Program::has_tiers() const noexcept {
    return !default_tiers.empty() ||
           std::ranges::any_of(rules, [](const Rule& rule) { return !rule.tiers.empty(); });
}

bool Program::asks_for_customer() const noexcept {
    return std::ranges::any_of(
        rules, [](const Rule& rule) { return rule.customer != CustomerKind::kUnknown; });
}

unsigned Rule::qualifiers() const noexcept {
    return unsigned{!creator.empty()} + unsigned{!group.empty()} +
           unsigned{customer != CustomerKind::kUnknown} + unsigned{from || until} +
           unsigned{min_order_amount.has_value()};
}

bool Rule::same_as(const Rule& other) const noexcept {
    return match == other.match && value == other.value && creator == other.creator &&
           group == other.group && customer == other.customer && from == other.from &&
           until == other.until && min_order_amount == other.min_order_amount;
}

Status validate(const Program& program) {
    if (Status ids = validate_ids(program); !ids) {
        return ids;
    }
    if (program.window_days > kProgramDaysMax || program.clearing_days > kProgramDaysMax) {
        return invalid("window_days, clearing_days: expected 0 to " +
                       std::to_string(kProgramDaysMax));
    }
    if (Status precedence = validate_precedence(program.precedence); !precedence) {
        return precedence;
    }
    if (program.default_rate.kind == RateKind::kNone) {
        return invalid("default_rate: missing");
    }
    if (program.default_rate.kind == RateKind::kMultiplier) {
        return invalid("default_rate: expected a rate; only a rule may multiply");
    }
    if (program.starts_at && program.ends_at && *program.ends_at <= *program.starts_at) {
        return invalid("ends_at: expected an instant after starts_at");
    }
    if (Status caps = validate_caps(program.max_per_order); !caps) {
        return caps;
    }
    if (Status tiers = validate_tiers("default_tiers: ", program.default_tiers); !tiers) {
        return tiers;
    }
    if (Status rules = validate_rules(program.rules); !rules) {
        return rules;
    }
    if (Status months = validate_months(program); !months) {
        return months;
    }
    return validate_multiplied(program);
}

}  // namespace sluice
