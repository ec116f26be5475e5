#include "core/rules/rate_book.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr std::array kLevels{RuleMatch::kVariantSku, RuleMatch::kSku,   RuleMatch::kProduct,
                             RuleMatch::kCollection, RuleMatch::kBrand, RuleMatch::kTag};

bool applies(const Rate& rate, Currency currency) noexcept {
    return rate.kind == RateKind::kPercent ||
           (rate.kind == RateKind::kFixed && rate.currency == currency);
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

RateBook::RateBook(const ProgramRow& program)
    : program_(program.program), version_(program.version) {
    for (std::size_t i = 0; i < program_.rules.size(); ++i) {
        const Rule& rule = program_.rules[i];
        rules_[rule.match][rule.value].push_back(static_cast<std::uint32_t>(i));
        needs_product_ |= rule.match >= RuleMatch::kProduct;
    }
}

std::optional<std::uint32_t> RateBook::first_rule(RuleMatch level,
                                                  const std::vector<std::string_view>& values,
                                                  Currency currency) const {
    const auto index = rules_.find(level);
    if (index == rules_.end()) {
        return std::nullopt;
    }
    std::optional<std::uint32_t> first;
    for (const std::string_view value : values) {
        const auto found = index->second.find(value);
        if (found == index->second.end()) {
            continue;
        }
        for (const std::uint32_t rule : found->second) {
            if (applies(program_.rules[rule].rate, currency)) {
                first = std::min(first.value_or(rule), rule);
                break;
            }
        }
    }
    return first;
}

FrozenRate RateBook::rate_for(const OrderLine& line, const CatalogRecord* product,
                              Currency currency) const {
    FrozenRate frozen;
    frozen.base = program_.base;
    frozen.program_version = version_;
    for (const RuleMatch level : kLevels) {
        if (!rules_.contains(level)) {
            continue;
        }
        if (const auto rule = first_rule(level, values_at(level, line, product), currency)) {
            frozen.rate = program_.rules[*rule].rate;
            frozen.match = level;
            frozen.rule = *rule;
            return frozen;
        }
    }
    if (applies(program_.default_rate, currency)) {
        frozen.rate = program_.default_rate;
    }
    return frozen;
}

}  // namespace sluice
