#include "core/rules/tiers.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// A rule's rate and tiers, or the default ones.
struct StatedRate {
    const Rate& rate;
    const std::vector<Tier>& tiers;
};

std::optional<StatedRate> stated_rate(const Program& program, const FrozenRate& frozen) {
    if (frozen.match == RuleMatch::kDefault) {
        return StatedRate{program.default_rate, program.default_tiers};
    }
    if (frozen.rule >= program.rules.size()) {
        return std::nullopt;
    }
    const Rule& rule = program.rules[frozen.rule];
    return StatedRate{rule.rate, rule.tiers};
}

void add_bounds(const std::vector<Tier>& tiers, TierBounds& bounds) {
    for (const Tier& tier : tiers) {
        bounds[tier.from.currency].push_back(tier.from.amount);
    }
}

}  // namespace

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

TierBounds tier_bounds(const ProgramRow& program, LedgerReader& ledger) {
    TierBounds bounds;
    for (std::uint32_t number = program.program.rates_by_month() ? 1 : program.version + 1;
         number <= program.version; ++number) {
        const auto row = ledger.program_version(program.program.id, number);
        if (!row || !row->program.rates_by_month()) {
            continue;
        }
        add_bounds(row->program.default_tiers, bounds);
        for (const Rule& rule : row->program.rules) {
            add_bounds(rule.tiers, bounds);
        }
    }
    for (auto& [currency, amounts] : bounds) {
        std::ranges::sort(amounts);
    }
    return bounds;
}

const Program* MonthTiers::version(std::uint32_t number) {
    const auto [found, added] = versions_.try_emplace(number);
    if (added) {
        found->second = ledger_.program_version(program_, number);
    }
    return found->second && found->second->program.rates_by_month() ? &found->second->program
                                                                    : nullptr;
}

bool MonthTiers::rate(Position& position, const Money& volume) {
    bool changed = false;
    for (FrozenLine& line : position.frozen) {
        FrozenRate& frozen = line.rate;
        const Program* const program =
            frozen.rate.kind == RateKind::kNone ? nullptr : version(frozen.program_version);
        const auto stated = program == nullptr ? std::nullopt : stated_rate(*program, frozen);
        if (!stated) {
            continue;
        }
        const auto tier = tier_for(stated->tiers, volume, volume.currency);
        if (tier == frozen.tier) {
            continue;
        }
        frozen.tier = tier;
        frozen.rate = multiplied(tier ? stated->tiers[*tier].rate : stated->rate,
                                 {RateKind::kMultiplier, frozen.factor, {}});
        changed = true;
    }
    if (changed) {
        position.facts.volume = volume;
    }
    return changed;
}

}  // namespace sluice
