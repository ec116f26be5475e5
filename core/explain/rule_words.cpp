#include "core/explain/rule_words.hpp"

#include <set>
#include <string_view>
#include <vector>

#include "core/rules/rate_book.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

std::string qualifier_words(const Rule& rule) {
    std::string words;
    const auto add = [&words](const std::string& text) {
        words += (words.empty() ? " for " : ", ") + text;
    };
    if (!rule.creator.empty()) {
        add("creator " + rule.creator);
    }
    if (!rule.group.empty()) {
        add("group " + rule.group);
    }
    if (rule.customer != CustomerKind::kUnknown) {
        add(std::string(to_string(rule.customer)) + " customers");
    }
    if (rule.from) {
        add("orders from " + rule.from->to_string());
    }
    if (rule.until) {
        add("orders until " + rule.until->to_string());
    }
    if (rule.min_order_amount) {
        add("orders of at least " + to_string(*rule.min_order_amount));
    }
    return words;
}

/// Where tiers apply to the month, also says that none holds: that may change.
std::string tier_words(const Program& program, const std::vector<Tier>& tiers,
                       const FrozenRate& frozen, const FrozenFacts& facts) {
    if (!facts.volume) {
        return {};
    }
    if (frozen.tier && *frozen.tier < tiers.size()) {
        return "; tier from " + to_string(tiers[*frozen.tier].from) +
               (program.rates_by_month() ? ", volume of the month " : ", volume ") +
               to_string(*facts.volume);
    }
    return program.rates_by_month() && !tiers.empty()
               ? "; below the first tier, volume of the month " + to_string(*facts.volume)
               : "";
}

/// Says which factor a frozen rate has in it: that of the rule whose factor makes it of the stated
/// rate. Names the rule's conditions if only one rule has this factor.
std::string factor_words(const Program& program, const Rate& stated, const Rate& frozen) {
    if (stated == frozen) {
        return {};
    }
    std::vector<const Rule*> found;
    for (const Rule& rule : program.rules) {
        if (rule.rate.kind == RateKind::kMultiplier &&
            multiplied(stated, rule.rate).value == frozen.value) {
            found.push_back(&rule);
        }
    }
    if (found.empty()) {
        return {};
    }
    const Rule& rule = *found.front();
    const std::string words = "; " + to_string(stated) + " " + to_string(rule.rate);
    if (found.size() > 1) {
        return words;
    }
    return words +
           (rule.match == RuleMatch::kNoItem
                ? ""
                : " for " + std::string(to_string(rule.match)) + " \"" + rule.value + "\"") +
           qualifier_words(rule);
}

const Rate& stated_rate(const Rate& rate, const std::vector<Tier>& tiers,
                        const FrozenRate& frozen) {
    return frozen.tier && *frozen.tier < tiers.size() ? tiers[*frozen.tier].rate : rate;
}

}  // namespace

const std::optional<ProgramRow>& ProgramVersions::version(const ProgramId& program,
                                                          std::uint32_t version) {
    const auto [found, added] = rows_.try_emplace({program, version});
    if (added) {
        found->second = ledger_.program_version(program, version);
    }
    return found->second;
}

std::string rule_words(const Position& position, const FrozenRate& frozen,
                       ProgramVersions& programs) {
    const ProgramId& program = position.attribution.program;
    const std::string of =
        " of " + program.str() + ", version " + std::to_string(frozen.program_version);
    if (frozen.rate.kind == RateKind::kNone) {
        return "no rate" + of + " is in the order's currency of then";
    }
    const std::optional<ProgramRow>& row = programs.version(program, frozen.program_version);
    if (frozen.match == RuleMatch::kDefault) {
        return "default rate" + of +
               (row ? tier_words(row->program, row->program.default_tiers, frozen, position.facts) +
                          factor_words(row->program,
                                       stated_rate(row->program.default_rate,
                                                   row->program.default_tiers, frozen),
                                       frozen.rate)
                    : "");
    }
    std::string value, qualifiers, tier;
    if (row && frozen.rule < row->program.rules.size()) {
        const Rule& rule = row->program.rules[frozen.rule];
        value = rule.value.empty() ? "" : " \"" + rule.value + "\"";
        qualifiers = qualifier_words(rule);
        tier = tier_words(row->program, rule.tiers, frozen, position.facts) +
               factor_words(row->program, stated_rate(rule.rate, rule.tiers, frozen), frozen.rate);
    }
    return std::string(to_string(frozen.match)) + value + qualifiers + of + tier;
}

std::string product_words(const OrderState& order, const OrderLine& line, const FrozenRate& frozen,
                          const std::optional<ProgramRow>& program, LedgerReader& ledger) {
    std::set<std::string_view> kinds;
    const bool is_last = frozen.match == RuleMatch::kDefault || frozen.match == RuleMatch::kNoItem;
    if (program) {
        for (const Rule& rule : program->program.rules) {
            if (needs_product(rule.match) && (is_last || rule.rate.kind == RateKind::kMultiplier)) {
                kinds.insert(to_string(rule.match));
            }
        }
    }
    if (kinds.empty() || find_product(order.key.account, order.key.shop, line, ledger)) {
        return {};
    }
    return "; no product is known for this line: rules by " + joined(kinds, ", ") + " cannot match";
}

}  // namespace sluice
