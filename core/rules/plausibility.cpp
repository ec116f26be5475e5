#include "core/rules/plausibility.hpp"

#include <algorithm>

#include "core/positions/open_amounts.hpp"
#include "core/rules/commission.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/pricing.hpp"

namespace sluice {
namespace {

constexpr std::int64_t kLongAgoDays = 400;
constexpr std::uint8_t kHundred = 100;

Decimal amount_of(const std::string& text) {
    return Decimal::parse(text).value_or(Decimal());
}

/// Returns true if `value` exceeds `percent` percent of `of`.
bool exceeds(const Decimal& value, const Decimal& of, const Decimal& percent) {
    const std::uint8_t digits = std::max(value.scale(), of.scale());
    const Int128 left = value.rescaled(digits).unscaled() * kHundred;
    const Int128 right = of.rescaled(digits).unscaled() * percent.unscaled();
    Int128 scale = 1;
    for (std::uint8_t i = 0; i < percent.scale(); ++i) {
        scale *= 10;
    }
    return left * scale > right;
}

const OrderLine* refunded_line(const OrderState& state) {
    if (state.refunds.empty()) {
        return nullptr;
    }
    const EffectiveRefunds refunds(state.refunds);
    for (const OrderLine& line : state.lines) {
        if (line.present &&
            refund_effect(line.amount, refunds.amount(line.id)) == RefundEffect::kExceeds) {
            return &line;
        }
    }
    return nullptr;
}

Decimal sum_of_lines(const OrderState& state) {
    Decimal sum;
    for (const OrderLine& line : state.lines) {
        sum = line.present ? sum + line.amount : sum;
    }
    return sum;
}

bool commission_exceeds(const OrderState& state, const Policy& policy) {
    const Position* position = state.position();
    if (position == nullptr || !state.earns()) {
        return false;
    }
    const OrderBases bases = order_bases(state, *position);
    return bases.commission > part_of(bases.base, policy.max_share, state.currency.minor_units());
}

bool above_limit(const OrderState& state, const Decimal& amount, const Policy& policy) {
    const Decimal* limit = amount_in(policy.amount_limit, state.currency);
    return limit != nullptr && amount > *limit;
}

bool currency_changed(const OrderState& state) {
    for (const Position& position : state.positions) {
        if (std::ranges::all_of(position.accruals, [&state](const LineAccrual& accrual) {
                return accrual.currency == state.currency;
            })) {
            continue;  // as nearly always
        }
        for (const Currency currency : currencies_of(position)) {
            if (currency != state.currency && !allocated_in(position, currency).is_zero()) {
                return true;
            }
        }
    }
    return false;
}

/// Returns true if the order was too old at its first event. That never changes.
bool long_ago(const OrderState& state, const PlausibilityContext& context) {
    return (state.anomalies_showing & bit(AnomalyKind::kOrderedLongAgo)) != 0 ||
           (context.is_first_event &&
            state.ordered_at < context.received_at.plus_days(-kLongAgoDays));
}

/// The largest tax above its amount; 0 if there is none.
Decimal exceeding_tax(const OrderState& state) {
    Decimal largest;
    const auto consider = [&largest](const Decimal& tax, const Decimal& amount) {
        largest = tax > amount ? std::max(largest, tax) : largest;
    };
    consider(amount_of(state.tax), amount_of(state.amount));
    for (const OrderLine& line : state.lines) {
        if (line.present) {
            consider(line.tax, line.amount);
        }
    }
    // The rows that stand are sought only if one of all rows exceeds, because most orders have
    // none.
    if (std::ranges::any_of(state.refunds,
                            [](const RefundRow& refund) { return refund.tax > refund.amount; })) {
        const EffectiveRefunds refunds(state.refunds);
        for (const auto& [line, refund] : refunds.rows()) {
            consider(refund->tax, refund->amount);
        }
    }
    return largest;
}

/// How much more than their lines the refunds are, in sum.
Decimal refunded_beyond(const OrderState& state) {
    const EffectiveRefunds refunds(state.refunds);
    Decimal sum;
    for (const OrderLine& line : state.lines) {
        const Decimal refunded = refunds.amount(line.id);
        if (line.present && refund_effect(line.amount, refunded) == RefundEffect::kExceeds) {
            sum += refunded - line.amount;
        }
    }
    return sum;
}

std::string money_text(const OrderState& state, const Decimal& amount) {
    return to_string(Money{state.currency, amount});
}

}  // namespace

std::uint32_t lasting_anomalies(const OrderState& state, const PlausibilityContext& context) {
    const Decimal amount = amount_of(state.amount);
    std::uint32_t holds = 0;
    const auto judge = [&holds](AnomalyKind kind, bool condition) {
        holds |= condition ? bit(kind) : 0;
    };
    judge(AnomalyKind::kRefundExceedsLine, refunded_line(state) != nullptr);
    judge(AnomalyKind::kLinesExceedAmount,
          exceeds(sum_of_lines(state), amount, Decimal(kHundred, 0) + context.policy.lines_over));
    judge(AnomalyKind::kTaxExceedsAmount, !exceeding_tax(state).is_zero());
    judge(AnomalyKind::kCommissionExceedsBase, commission_exceeds(state, context.policy));
    judge(AnomalyKind::kAmountAboveLimit, above_limit(state, amount, context.policy));
    judge(AnomalyKind::kOrderedInFuture,
          state.ordered_at > context.received_at.plus_seconds(kFutureSeconds));
    judge(AnomalyKind::kOrderedLongAgo, long_ago(state, context));
    judge(AnomalyKind::kCurrencyChanged, currency_changed(state));
    judge(AnomalyKind::kCreditedOrder, context.is_credited);
    judge(AnomalyKind::kDebtWrittenOff, context.restores_written_off);
    return holds;
}

std::string lasting_message(AnomalyKind kind, const OrderState& state,
                            const PlausibilityContext& context) {
    switch (kind) {
        case AnomalyKind::kRefundExceedsLine: {
            const OrderLine* line = refunded_line(state);
            const Decimal refunded = EffectiveRefunds(state.refunds).amount(line->id);
            return "line " + line->id.str() + ": refunded " + refunded.to_string() + " of " +
                   line->amount.to_string();
        }
        case AnomalyKind::kLinesExceedAmount:
            return "the lines sum to " + sum_of_lines(state).to_string() + ", the order to " +
                   state.amount;
        case AnomalyKind::kTaxExceedsAmount:
            return "a tax of " + exceeding_tax(state).to_string() +
                   " of the order, a line or a refund is above its amount";
        case AnomalyKind::kCommissionExceedsBase: {
            const OrderBases bases = order_bases(state, *state.position());
            return "commission " + bases.commission.to_string() + " before refunds is above " +
                   context.policy.max_share.to_string() + "% of " + bases.base.to_string();
        }
        case AnomalyKind::kAmountAboveLimit:
            return "amount " + state.amount + " is above the limit of " +
                   amount_in(context.policy.amount_limit, state.currency)->to_string() + " " +
                   std::string(state.currency.code());
        case AnomalyKind::kOrderedInFuture:
        case AnomalyKind::kOrderedLongAgo:
            return "ordered at " + state.ordered_at.to_string() + ", received at " +
                   context.received_at.to_string();
        case AnomalyKind::kCurrencyChanged:
            return "the order is in " + std::string(state.currency.code()) +
                   " now, and a payout has an amount in another currency";
        case AnomalyKind::kCreditedOrder:
            return "a credit that names this order is not reversed";
        case AnomalyKind::kDebtWrittenOff:
            return lasting_value(kind, state) +
                   " would be paid of a debt that was written off; `sluice reverse` takes the "
                   "write-off back";
        default:
            return {};
    }
}

std::string lasting_value(AnomalyKind kind, const OrderState& state) {
    switch (kind) {
        case AnomalyKind::kRefundExceedsLine:
            return money_text(state, refunded_beyond(state));
        case AnomalyKind::kLinesExceedAmount:
            return money_text(state, sum_of_lines(state) - amount_of(state.amount));
        case AnomalyKind::kTaxExceedsAmount:
            return money_text(state, exceeding_tax(state));
        case AnomalyKind::kCommissionExceedsBase:
            return state.live ? money_text(state, order_bases(state, *state.position()).commission)
                              : std::string();
        case AnomalyKind::kAmountAboveLimit:
        case AnomalyKind::kCurrencyChanged:
        case AnomalyKind::kCreditedOrder:
            return money_text(state, amount_of(state.amount));
        case AnomalyKind::kOrderedInFuture:
        case AnomalyKind::kOrderedLongAgo:
            return state.ordered_at.to_string();
        case AnomalyKind::kDebtWrittenOff: {
            const std::optional<Money> open = open_after_deduction(state);
            return open ? to_string(*open) : std::string();
        }
        default:
            return {};
    }
}

namespace {

/// Reads what lasting_value() writes: a sum of amounts may have more digits than an amount.
std::optional<Money> value_of(std::string_view text) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const auto currency = Currency::parse(text.substr(std::min(space + 1, text.size())));
    std::string_view number = text.substr(0, space);
    const bool is_negative = number.starts_with('-');
    number.remove_prefix(is_negative ? 1 : 0);
    const std::size_t point = std::min(number.find('.'), number.size());
    const std::size_t scale = point == number.size() ? 0 : number.size() - point - 1;
    constexpr std::size_t kDigitsMax = 37;  // of an Int128
    if (!currency || number.empty() || number.size() > kDigitsMax) {
        return std::nullopt;
    }
    Int128 unscaled = 0;
    for (std::size_t i = 0; i < number.size(); ++i) {
        if (i != point && (number[i] < '0' || number[i] > '9')) {
            return std::nullopt;
        }
        unscaled = i == point ? unscaled : unscaled * 10 + (number[i] - '0');
    }
    return Money{*currency,
                 Decimal(is_negative ? -unscaled : unscaled, static_cast<std::uint8_t>(scale))};
}

}  // namespace

bool goes_beyond(AnomalyKind kind, const std::string& value, const std::string& acknowledged) {
    if (kind == AnomalyKind::kOrderedInFuture || kind == AnomalyKind::kOrderedLongAgo) {
        const std::optional<Timestamp> now = Timestamp::parse(value);
        const std::optional<Timestamp> seen = Timestamp::parse(acknowledged);
        return !now || !seen ||
               (kind == AnomalyKind::kOrderedInFuture ? *now > *seen : *now < *seen);
    }
    const std::optional<Money> now = value_of(value);
    const std::optional<Money> seen = value_of(acknowledged);
    return !now || !seen || now->currency != seen->currency || now->amount > seen->amount;
}

}  // namespace sluice
