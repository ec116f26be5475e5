#include "core/rules/freeze_rates.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "core/rules/pricing.hpp"
#include "core/values/assert.hpp"

namespace sluice {
namespace {

/// The program of an earlier version, for rules that are compared over versions; each read once.
class EarlierRules {
public:
    EarlierRules(const RateBook& rates, const ProgramId& program, LedgerReader& ledger)
        : rates_(rates), id_(program), ledger_(ledger) {}

    /// nullptr: the default rate, or a version that is not there.
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

/// The first line whose amount per order is of the same rule and currency; itself if there is none.
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
            position.frozen.reserve(known + state.lines.size());  // its ids are looked at below
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
