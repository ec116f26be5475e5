#include "core/programs/raise.hpp"

#include <algorithm>

#include "core/programs/policy.hpp"

namespace sluice {
namespace {

bool rises(const Rate& before, const Rate& after) {
    return before.kind != after.kind || before.currency != after.currency ||
           after.value > before.value;
}

bool rises(const std::vector<Tier>& before, const std::vector<Tier>& after) {
    return !std::equal(before.begin(), before.end(), after.begin(), after.end(),
                       [](const Tier& was, const Tier& is) {
                           return was.from == is.from && !rises(was.rate, is.rate);
                       });
}

bool rises(const std::vector<Rule>& before, const std::vector<Rule>& after) {
    return !std::equal(before.begin(), before.end(), after.begin(), after.end(),
                       [](const Rule& was, const Rule& is) {
                           return was.same_as(is) && !rises(was.rate, is.rate) &&
                                  !rises(was.tiers, is.tiers);
                       });
}

/// A cap that is gone or higher.
bool caps_rise(const std::vector<Money>& before, const std::vector<Money>& after) {
    return std::any_of(before.begin(), before.end(), [&after](const Money& cap) {
        const Decimal* const now = amount_in(after, cap.currency);
        return now == nullptr || *now > cap.amount;
    });
}

bool dates_widen(const Program& before, const Program& after) {
    const bool starts_earlier =
        before.starts_at != after.starts_at &&
        !(before.starts_at && after.starts_at && *after.starts_at > *before.starts_at);
    const bool ends_later = before.ends_at && (!after.ends_at || *after.ends_at > *before.ends_at);
    return starts_earlier || ends_later || after.late_days > before.late_days ||
           after.window_days > before.window_days;
}

bool shops_widen(const Program& before, const Program& after) {
    return !before.shops.empty() &&
           (after.shops.empty() ||
            std::any_of(after.shops.begin(), after.shops.end(),
                        [&before](const std::string& shop) { return !before.covers(shop); }));
}

}  // namespace

bool raises_earnings(const Program* before, const Program& after) {
    return before == nullptr || rises(before->default_rate, after.default_rate) ||
           rises(before->default_tiers, after.default_tiers) || rises(before->rules, after.rules) ||
           caps_rise(before->max_per_order, after.max_per_order) || dates_widen(*before, after) ||
           shops_widen(*before, after) || after.clearing_days < before->clearing_days ||
           (before->base == BaseKind::kNet && after.base == BaseKind::kGross) ||
           before->precedence != after.precedence;
}

}  // namespace sluice
