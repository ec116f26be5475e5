#include "core/rules/soundness.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/ledger/table.hpp"
#include "core/ledger/valid.hpp"
#include "core/protocol/order_event.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/pricing.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

/// Returns true if a payload can state the amount: 15 digits before the point and 6 after it.
bool is_stated(const Decimal& amount) noexcept {
    return !amount.is_negative() && amount.scale() <= Decimal::kFractionDigitsMax &&
           amount < kAmountEnd;
}

/// Returns true if the amount has exactly the currency's digits and is below 10^24, which is more
/// than any quantity of any line can earn.
bool is_owed(const Decimal& amount, Currency currency) noexcept {
    const Decimal most((Int128{kQuantityMax} + 1) * kAmountEnd.unscaled(), 0);
    return amount.scale() == currency.minor_units() && amount < most && -most < amount;
}

std::optional<std::string> damage_of_lines(const OrderState& state) {
    for (const OrderLine& line : state.lines) {
        if (!is_stated(line.amount) || !is_stated(line.tax)) {
            return "line " + line.id.str() + " has an amount or a tax that no payload can state";
        }
    }
    return std::nullopt;
}

// ---- Positions ----------------------------------------------------------------------------------

std::string of_position(const Position& position, const std::string& what) {
    return "what " + position.attribution.creator.str() + " has of it in program " +
           position.attribution.program.str() + " " + what;
}

std::string place_of(const LineAccrual& accrual) {
    return (accrual.line.empty() ? "by hand" : "for line " + accrual.line.str()) + " in " +
           std::string(accrual.currency.code());
}

/// Returns one of two rows with equal names, or nullptr. A few rows, as nearly every order has,
/// need no allocation.
template <class Row, class NameOf>
const Row* find_twin(const std::vector<Row>& rows, NameOf name_of) {
    constexpr std::size_t kFew = 8;
    if (rows.size() <= kFew) {
        for (std::size_t i = 1; i < rows.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (name_of(rows[i]) == name_of(rows[j])) {
                    return &rows[i];
                }
            }
        }
        return nullptr;
    }
    std::vector<const Row*> sorted = mapped(rows, [](const Row& row) { return &row; });
    std::ranges::sort(sorted,
                      [&](const Row* a, const Row* b) { return name_of(*a) < name_of(*b); });
    const auto twin =
        std::adjacent_find(sorted.begin(), sorted.end(),
                           [&](const Row* a, const Row* b) { return name_of(*a) == name_of(*b); });
    return twin == sorted.end() ? nullptr : *twin;
}

/// Above 0, up to 100, up to 2 decimals.
bool is_factor(const Decimal& factor) {
    constexpr Decimal kMax(100, 0);
    constexpr std::uint8_t kScaleMax = 2;
    return !factor.is_zero() && !factor.is_negative() && factor <= kMax &&
           factor.scale() <= kScaleMax;
}

std::optional<std::string> damage_of_frozen(const Position& position) {
    if (const FrozenLine* twin = find_twin(
            position.frozen, [](const FrozenLine& frozen) { return frozen.line.view(); })) {
        return "has two rates for line " + twin->line.str();
    }
    for (const FrozenLine& frozen : position.frozen) {
        if (!is_valid(frozen.rate.rate) || !is_factor(frozen.rate.factor)) {
            return "has a rate for line " + frozen.line.str() + " that no program can state";
        }
        if (frozen.rate.rate.kind == RateKind::kPerOrder &&
            frozen.rate.shared_with >= position.frozen.size()) {
            return "shares the amount of line " + frozen.line.str() + " with a line that it lacks";
        }
    }
    for (const Money& cap : position.facts.caps) {
        if (!is_stated(cap.amount)) {
            return "has a cap that no program can state";
        }
    }
    const std::optional<Money>& volume = position.facts.volume;
    return volume && !is_valid(volume->amount)
               ? std::optional<std::string>("has a volume too large")
               : std::nullopt;
}

std::optional<std::string> damage_of_accruals(const Position& position) {
    if (const LineAccrual* twin = find_twin(position.accruals, [](const LineAccrual& accrual) {
            return std::pair(accrual.line.view(), accrual.currency);
        })) {
        return "owes twice " + place_of(*twin);
    }
    for (const LineAccrual& accrual : position.accruals) {
        if (!is_owed(accrual.accrued, accrual.currency) ||
            !is_owed(accrual.allocated, accrual.currency)) {
            return "owes " + place_of(accrual) + " what is no amount of that currency";
        }
    }
    std::map<Currency, Decimal> allocated;
    for (const PositionPayout& payout : position.payouts) {
        if (payout.payout_id.empty() || !is_owed(payout.amount, payout.currency) ||
            !is_owed(payout.commission, payout.currency)) {
            return "names a payout without an id or an amount of its currency";
        }
        if (payout.active) {
            allocated[payout.currency] += payout.amount;
        }
    }
    for (const LineAccrual& accrual : position.accruals) {
        allocated[accrual.currency] -= accrual.allocated;
    }
    for (const auto& [currency, rest] : allocated) {
        if (!rest.is_zero()) {
            return "has allocated by line other than its active payouts say, by " +
                   rest.to_string() + " " + std::string(currency.code());
        }
    }
    return std::nullopt;
}

bool has_valid_times(const Position& position) {
    bool valid = is_valid(position.attribution.at) && is_valid(position.last_posted);
    for (const Candidate& candidate : position.attribution.candidates) {
        valid = valid && is_valid(candidate.clicked_at);
    }
    return valid;
}

std::optional<std::string> damage_of_live(const OrderState& state) {
    if (!state.live) {
        return std::nullopt;
    }
    if (*state.live >= state.positions.size()) {
        return "its live position is not there";
    }
    if (state.has(kOrderBarred)) {
        return "it has a creator, though it is barred from having one";
    }
    ByLine<const FrozenLine, &FrozenLine::line> frozen(state.position()->frozen);
    for (std::size_t i = 0; i < state.lines.size(); ++i) {
        const OrderLine& line = state.lines[i];
        if (line.present && frozen.find(line.id.view(), i) == nullptr) {
            return "line " + line.id.str() + " has no rate, though the order has a creator";
        }
    }
    return std::nullopt;
}

std::optional<std::string> damage_of_positions(const OrderState& state) {
    if (const Position* twin = find_twin(state.positions, [](const Position& position) {
            return std::pair(position.attribution.program.view(),
                             position.attribution.creator.view());
        })) {
        return of_position(*twin, "is there twice");
    }
    for (const Position& position : state.positions) {
        if (!has_valid_times(position)) {
            return of_position(position, "has a time out of range");
        }
        for (const auto& check : {damage_of_frozen, damage_of_accruals}) {
            if (auto damage = check(position)) {
                return of_position(position, *damage);
            }
        }
    }
    return damage_of_live(state);
}

/// Compares accrued amounts with `earned`: state.lines[i] earns earned[i], lines that are gone earn
/// 0. Requires: the rest of the order is sound.
std::optional<std::string> damage_of_earned(const Position& position, const OrderState& state,
                                            const std::vector<Decimal>& earned) {
    ByLine<const OrderLine, &OrderLine::id> lines(state.lines);
    Decimal of_lines;
    Decimal of_accruals;
    for (const Decimal& amount : earned) {
        of_lines += amount;
    }
    for (std::size_t i = 0; i < position.accruals.size(); ++i) {
        const LineAccrual& accrual = position.accruals[i];
        if (accrual.line.empty()) {
            continue;
        }
        const OrderLine* line = lines.find(accrual.line.view(), i);
        const bool earns = !earned.empty() && line != nullptr && accrual.currency == state.currency;
        const Decimal amount =
            earns ? earned[static_cast<std::size_t>(line - state.lines.data())] : Decimal();
        if (accrual.accrued != amount) {
            return "owes " + accrual.accrued.to_string() + " " + place_of(accrual) +
                   ", where the line earns " + amount.to_string();
        }
        of_accruals += amount;
    }
    return of_accruals == of_lines
               ? std::nullopt
               : std::optional<std::string>("owes " + of_accruals.to_string() +
                                            " for lines that earn " + of_lines.to_string());
}

/// Compares the accrued amounts of lines with the rules (D1). A position that is not live earns 0.
std::optional<std::string> damage_of_accrual(const OrderState& state) {
    for (const Position& position : state.positions) {
        std::vector<Decimal> earned;
        if (&position == state.position() && state.earns()) {
            earned = line_commissions(state, position, EffectiveRefunds(state.refunds));
        }
        if (auto damage = damage_of_earned(position, state, earned)) {
            return of_position(position, *damage);
        }
    }
    return std::nullopt;
}

std::optional<std::string> damage_of_refunds(const OrderState& state) {
    for (const RefundRow& refund : state.refunds) {
        if (!is_stated(refund.amount) || !is_stated(refund.tax)) {
            return "refund " + refund.id.str() + " has an amount that no payload can state";
        }
    }
    return std::nullopt;
}

std::optional<std::string> damage_of_times(const OrderState& state) {
    bool valid = is_valid(state.version) && is_valid(state.ordered_at) &&
                 (!state.cancelled_at || is_valid(*state.cancelled_at)) &&
                 (!state.device || is_valid(state.device_version)) &&
                 (!state.plausible_version || is_valid(*state.plausible_version));
    for (const RefundRow& refund : state.refunds) {
        valid = valid && is_valid(refund.version) && is_valid(refund.refunded_at);
    }
    for (const EventTrace& event : state.events) {
        valid = valid && is_valid(event.version) && is_valid(event.received_at);
    }
    return valid ? std::nullopt : std::optional<std::string>("one of its times is out of range");
}

std::optional<std::string> damage_of_history(const OrderState& state) {
    if (state.events.size() > kEventsInlineMax || state.events_count < state.events.size()) {
        return "it counts " + std::to_string(state.events_count) + " events and holds " +
               std::to_string(state.events.size());
    }
    constexpr std::uint8_t kFlags = kOrderHeld | kOrderRejected | kOrderBarred;
    constexpr std::uint32_t kKinds = (1U << kAnomalyKinds) - 1;
    if ((state.flags & ~kFlags) != 0 ||
        ((state.anomalies_showing | state.anomalies_acknowledged) & ~kKinds) != 0) {
        return "it has flags or anomalies that no rule sets";
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> damage_of(const OrderState& state) {
    if (!Currency::parse(state.currency.code())) {
        return "it has no currency";
    }
    for (const auto& check : {damage_of_times, damage_of_lines, damage_of_refunds,
                              damage_of_history, damage_of_positions}) {
        if (auto damage = check(state)) {
            return damage;
        }
    }
    return std::nullopt;
}

bool load_sound_order(LedgerReader& ledger, const OrderKey& key, OrderState& state) {
    if (!ledger.load_order(key, state)) {
        return false;
    }
    std::optional<std::string> damage = damage_of(state);
    if (!damage) {
        damage = damage_of_accrual(state);
    }
    if (damage) {
        throw DamagedRow(row_name("orders", key), *damage, key);
    }
    return true;
}

}  // namespace sluice
