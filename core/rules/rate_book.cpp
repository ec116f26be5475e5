#include "core/rules/rate_book.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "core/rules/account.hpp"
#include "core/values/assert.hpp"

namespace sluice {
namespace {

constexpr std::array kLevels{RuleMatch::kVariantSku, RuleMatch::kSku,        RuleMatch::kSkuPattern,
                             RuleMatch::kProduct,    RuleMatch::kCollection, RuleMatch::kBrand,
                             RuleMatch::kTag,        RuleMatch::kNoItem};

bool applies(const Rate& rate, Currency currency) noexcept {
    return rate.kind == RateKind::kPercent || rate.kind == RateKind::kMultiplier ||
           (rate.kind != RateKind::kNone && rate.currency == currency);
}

const Rate& rate_of(const Rate& rate, const std::vector<Tier>& tiers,
                    std::optional<std::uint8_t> tier) noexcept {
    return tier ? tiers[*tier].rate : rate;
}

/// Returns the values that a line can match at one level.
std::vector<std::string_view> values_at(RuleMatch level, const OrderLine& line,
                                        const CatalogRecord* product) {
    if (level == RuleMatch::kSku) {
        return {line.sku.view()};
    }
    if (level == RuleMatch::kVariantSku) {
        return line.variant_sku ? std::vector{line.variant_sku->view()}
                                : std::vector<std::string_view>{};
    }
    if (level == RuleMatch::kNoItem) {
        return {std::string_view()};
    }
    if (product == nullptr) {
        return {};
    }
    switch (level) {
        case RuleMatch::kProduct:
            return {product->key.product_id.view()};
        case RuleMatch::kCollection:
            return {product->collections.begin(), product->collections.end()};
        case RuleMatch::kBrand:
            return product->brand ? std::vector<std::string_view>{*product->brand}
                                  : std::vector<std::string_view>{};
        case RuleMatch::kTag:
            return {product->tags.begin(), product->tags.end()};
        default:
            return {};
    }
}

/// Earlier versions of a program, to compare rules over versions; each is read once.
class EarlierRules {
public:
    EarlierRules(const RateBook& rates, const ProgramId& program, LedgerReader& ledger)
        : rates_(rates), id_(program), ledger_(ledger) {}

    /// Returns nullptr for the default rate, and if the version is not stored.
    const Rule* rule_of(const FrozenRate& frozen, std::uint32_t current_version) {
        const Program* program = &rates_.program();
        if (frozen.program_version != current_version) {
            const auto [found, added] = versions_.try_emplace(frozen.program_version);
            if (added) {
                found->second = ledger_.program_version(id_, frozen.program_version);
            }
            program = found->second ? &found->second->program : nullptr;
        }
        return program == nullptr || frozen.match == RuleMatch::kDefault ||
                       frozen.rule >= program->rules.size()
                   ? nullptr
                   : &program->rules[frozen.rule];
    }

private:
    const RateBook& rates_;
    const ProgramId& id_;
    LedgerReader& ledger_;
    std::map<std::uint32_t, std::optional<ProgramRow>> versions_;
};

/// Returns the first line with an amount per order of the same rule and currency, or the line
/// itself.
std::uint32_t shared_with(const Position& position, const FrozenRate& rate, EarlierRules& rules) {
    const auto same = [&](const FrozenRate& other) {
        if (other.rate.kind != RateKind::kPerOrder || other.rate.currency != rate.rate.currency ||
            (other.match == RuleMatch::kDefault) != (rate.match == RuleMatch::kDefault)) {
            return false;
        }
        const Rule* a = rules.rule_of(other, rate.program_version);
        const Rule* b = rules.rule_of(rate, rate.program_version);
        return rate.match == RuleMatch::kDefault ||
               (a != nullptr && b != nullptr && a->same_as(*b));
    };
    for (std::size_t i = 0; i < position.frozen.size(); ++i) {
        if (same(position.frozen[i].rate)) {
            return static_cast<std::uint32_t>(i);
        }
    }
    return static_cast<std::uint32_t>(position.frozen.size());
}

}  // namespace

std::optional<CatalogRecord> find_product(AccountNumber account, ShopNumber shop,
                                          const OrderLine& line, LedgerReader& ledger) {
    std::optional<CatalogKey> key;
    if (line.variant_sku) {
        key = ledger.find_variant(account, shop, line.variant_sku->view());
    }
    if (!key) {
        key = ledger.find_variant(account, shop, line.sku.view());
    }
    if (!key) {
        const std::vector<CatalogKey> copies =
            ledger.product_copies(account, shop, ProductId(line.sku.view()));
        if (copies.empty()) {
            return std::nullopt;
        }
        key = copies.front();
    }
    return ledger.catalog(*key);
}

RateBook::RateBook(const ProgramRow& program, LedgerReader& ledger)
    : program_(program.program), version_(program.version), bounds_(tier_bounds(program, ledger)) {
    for (std::size_t i = 0; i < program_.rules.size(); ++i) {
        const Rule& rule = program_.rules[i];
        creators_.push_back(rule.creator.empty()
                                ? CreatorId()
                                : first_id(ledger, program_.account, CreatorId(rule.creator)));
        Levels& levels = rule.rate.kind == RateKind::kMultiplier ? multipliers_ : rules_;
        levels[rule.match][rule.value].push_back(static_cast<std::uint32_t>(i));
        needs_product_ |= sluice::needs_product(rule.match);
    }
    for (Levels* const levels : {&rules_, &multipliers_}) {
        for (auto& [level, index] : *levels) {
            for (auto& [value, rules] : index) {
                std::ranges::stable_sort(rules, [this](std::uint32_t a, std::uint32_t b) {
                    return program_.rules[a].qualifiers() > program_.rules[b].qualifiers();
                });
            }
        }
    }
}

bool RateBook::matches(std::uint32_t number, const RateQuestion& question) const {
    const Rule& rule = program_.rules[number];
    const FrozenFacts& facts = question.facts;
    if ((!rule.creator.empty() && creators_[number].view() != question.creator) ||
        (!rule.group.empty() && rule.group != facts.group) ||
        (rule.customer != CustomerKind::kUnknown && rule.customer != facts.customer) ||
        (rule.from && question.ordered_at < *rule.from) ||
        (rule.until && question.ordered_at >= *rule.until)) {
        return false;
    }
    if (rule.min_order_amount && (rule.min_order_amount->currency != question.currency ||
                                  question.order_amount < rule.min_order_amount->amount)) {
        return false;
    }
    return applies(
        rate_of(rule.rate, rule.tiers, tier_for(rule.tiers, facts.volume, question.currency)),
        question.currency);
}

std::optional<std::uint32_t> RateBook::best_rule(const Levels& levels, RuleMatch level,
                                                 const OrderLine& line,
                                                 const CatalogRecord* product,
                                                 const RateQuestion& question) const {
    const auto index = levels.find(level);
    std::optional<std::uint32_t> best;
    if (index == levels.end()) {
        return best;
    }
    const auto compare = [&](const std::vector<std::uint32_t>& rules) {
        const auto rule = std::ranges::find_if(
            rules, [&](std::uint32_t number) { return matches(number, question); });
        if (rule == rules.end()) {
            return;
        }
        const unsigned more = program_.rules[*rule].qualifiers();
        const unsigned most = best ? program_.rules[*best].qualifiers() : 0;
        if (!best || more > most || (more == most && *rule < *best)) {
            best = *rule;
        }
    };
    if (level == RuleMatch::kSkuPattern) {
        for (const auto& [pattern, rules] : index->second) {
            if (fits_pattern(pattern, line.sku.view()) ||
                (line.variant_sku && fits_pattern(pattern, line.variant_sku->view()))) {
                compare(rules);
            }
        }
        return best;
    }
    for (const std::string_view value : values_at(level, line, product)) {
        if (const auto found = index->second.find(value); found != index->second.end()) {
            compare(found->second);
        }
    }
    return best;
}

bool RateBook::is_tier_between(Currency currency, const Decimal& before,
                               const Decimal& after) const {
    const auto found = bounds_.find(currency);
    if (found == bounds_.end()) {
        return false;
    }
    const std::vector<Decimal>& bounds = found->second;
    return std::upper_bound(bounds.begin(), bounds.end(), before) !=
           std::upper_bound(bounds.begin(), bounds.end(), after);
}

void RateBook::set_rate(FrozenRate& frozen, const Rate& rate, const OrderLine& line,
                        const CatalogRecord* product, const RateQuestion& question) const {
    frozen.rate = rate;
    if (multipliers_.empty()) {
        return;
    }
    for (const RuleMatch level : kLevels) {
        const bool is_shared = rate.kind == RateKind::kPerOrder && level != RuleMatch::kNoItem;
        const auto best =
            is_shared ? std::nullopt : best_rule(multipliers_, level, line, product, question);
        if (best) {
            frozen.factor = program_.rules[*best].rate.value;
            frozen.rate = multiplied(rate, program_.rules[*best].rate);
            return;
        }
    }
}

FrozenRate RateBook::rate_for(const OrderLine& line, const CatalogRecord* product,
                              const RateQuestion& question) const {
    FrozenRate frozen{.base = program_.base, .program_version = version_};
    for (const RuleMatch level : kLevels) {
        if (const auto best = best_rule(rules_, level, line, product, question)) {
            const Rule& rule = program_.rules[*best];
            frozen.tier = tier_for(rule.tiers, question.facts.volume, question.currency);
            frozen.match = level;
            frozen.rule = *best;
            set_rate(frozen, rate_of(rule.rate, rule.tiers, frozen.tier), line, product, question);
            return frozen;
        }
    }
    const auto tier = tier_for(program_.default_tiers, question.facts.volume, question.currency);
    const Rate& rate = rate_of(program_.default_rate, program_.default_tiers, tier);
    if (applies(rate, question.currency)) {
        frozen.tier = tier;
        set_rate(frozen, rate, line, product, question);
    }
    return frozen;
}

void freeze_rates(OrderState& state, const RateBook& rates, LedgerReader& ledger) {
    SLUICE_ASSERT(state.position() != nullptr);
    Position& position = *state.position();
    const std::size_t known = position.frozen.size();
    position.frozen.reserve(std::max(known, state.lines.size()));
    std::optional<EarlierRules> earlier;
    const Decimal amount = Decimal::parse(state.amount).value_or(Decimal());
    const RateQuestion question{state.currency, state.ordered_at, amount,
                                position.attribution.creator.view(), position.facts};
    std::unordered_set<std::string_view> frozen_before;
    for (std::size_t i = 0; i < state.lines.size(); ++i) {
        const OrderLine& line = state.lines[i];
        if (!line.present || (i < known && position.frozen[i].line == line.id)) {
            continue;
        }
        if (known != 0 && frozen_before.empty()) {
            position.frozen.reserve(known + state.lines.size());  // views of its ids are kept below
            for (std::size_t k = 0; k < known; ++k) {
                frozen_before.insert(position.frozen[k].line.view());
            }
        }
        if (frozen_before.contains(line.id.view())) {
            continue;
        }
        std::optional<CatalogRecord> product;
        if (rates.needs_product()) {
            product = find_product(state.key.account, state.key.shop, line, ledger);
        }
        FrozenRate rate = rates.rate_for(line, product ? &*product : nullptr, question);
        if (rate.rate.kind == RateKind::kPerOrder) {
            if (!earlier) {
                earlier.emplace(rates, position.attribution.program, ledger);
            }
            rate.shared_with = shared_with(position, rate, *earlier);
        }
        position.frozen.push_back({line.id, rate});
    }
}

}  // namespace sluice
