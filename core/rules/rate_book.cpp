#include "core/rules/rate_book.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr std::array kLevels{RuleMatch::kVariantSku, RuleMatch::kSku,   RuleMatch::kProduct,
                             RuleMatch::kCollection, RuleMatch::kBrand, RuleMatch::kTag,
                             RuleMatch::kNoItem};

bool applies(const Rate& rate, Currency currency) noexcept {
    return rate.kind == RateKind::kPercent ||
           (rate.kind != RateKind::kNone && rate.currency == currency);
}

const Rate& rate_of(const Rate& rate, const std::vector<Tier>& tiers,
                    std::optional<std::uint8_t> tier) noexcept {
    return tier ? tiers[*tier].rate : rate;
}

/// What a line can match at one level.
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

std::optional<std::uint8_t> tier_for(const std::vector<Tier>& tiers,
                                     const std::optional<Money>& volume,
                                     Currency currency) noexcept {
    std::optional<std::uint8_t> best;
    for (std::size_t i = 0; i < tiers.size() && volume && volume->currency == currency; ++i) {
        const Money& from = tiers[i].from;
        if (from.currency == currency && from.amount <= volume->amount &&
            (!best || tiers[*best].from.amount < from.amount)) {
            best = static_cast<std::uint8_t>(i);
        }
    }
    return best;
}

RateBook::RateBook(const ProgramRow& program)
    : program_(program.program), version_(program.version) {
    for (std::size_t i = 0; i < program_.rules.size(); ++i) {
        const Rule& rule = program_.rules[i];
        rules_[rule.match][rule.value].push_back(static_cast<std::uint32_t>(i));
        needs_product_ |= rule.match >= RuleMatch::kProduct && rule.match <= RuleMatch::kTag;
    }
    for (auto& [level, index] : rules_) {
        for (auto& [value, rules] : index) {
            std::stable_sort(rules.begin(), rules.end(), [this](std::uint32_t a, std::uint32_t b) {
                return program_.rules[a].qualifiers() > program_.rules[b].qualifiers();
            });
        }
    }
}

bool RateBook::matches(const Rule& rule, const RateQuestion& question) const {
    const FrozenFacts& facts = question.facts;
    if ((!rule.creator.empty() && rule.creator != question.creator) ||
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

std::optional<std::uint32_t> RateBook::best_rule(RuleMatch level,
                                                 const std::vector<std::string_view>& values,
                                                 const RateQuestion& question) const {
    const auto index = rules_.find(level);
    std::optional<std::uint32_t> best;
    for (const std::string_view value : values) {
        const auto found = index->second.find(value);
        if (found == index->second.end()) {
            continue;
        }
        for (const std::uint32_t rule : found->second) {
            if (!matches(program_.rules[rule], question)) {
                continue;
            }
            const unsigned more = program_.rules[rule].qualifiers();
            const unsigned most = best ? program_.rules[*best].qualifiers() : 0;
            if (!best || more > most || (more == most && rule < *best)) {
                best = rule;
            }
            break;
        }
    }
    return best;
}

FrozenRate RateBook::rate_for(const OrderLine& line, const CatalogRecord* product,
                              const RateQuestion& question) const {
    FrozenRate frozen;
    frozen.base = program_.base;
    frozen.program_version = version_;
    for (const RuleMatch level : kLevels) {
        if (!rules_.contains(level)) {
            continue;
        }
        if (const auto best = best_rule(level, values_at(level, line, product), question)) {
            const Rule& rule = program_.rules[*best];
            frozen.tier = tier_for(rule.tiers, question.facts.volume, question.currency);
            frozen.rate = rate_of(rule.rate, rule.tiers, frozen.tier);
            frozen.match = level;
            frozen.rule = *best;
            return frozen;
        }
    }
    const auto tier = tier_for(program_.default_tiers, question.facts.volume, question.currency);
    const Rate& rate = rate_of(program_.default_rate, program_.default_tiers, tier);
    if (applies(rate, question.currency)) {
        frozen.tier = tier;
        frozen.rate = rate;
    }
    return frozen;
}

}  // namespace sluice
