#include "core/rules/pricing.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <map>
#include <numeric>
#include <optional>

#include "core/programs/policy.hpp"
#include "core/rules/commission.hpp"
#include "core/values/assert.hpp"
#include "core/values/decimal.hpp"

namespace sluice {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

cpp_int ten_to_the(unsigned exponent) {
    return boost::multiprecision::pow(cpp_int(10), exponent);
}

cpp_rational exact(const Decimal& amount) {
    return {cpp_int(amount.unscaled()), ten_to_the(amount.scale())};
}

cpp_rational exact(const Fraction& fraction) {
    return {product<cpp_int>(fraction.numerator), product<cpp_int>(fraction.denominator)};
}

/// Returns the value in units of 10^-digits, rounded half to even. Requires: value >= 0.
cpp_int units_of(const cpp_rational& value, std::uint8_t digits) {
    return divide_half_even<cpp_int>(boost::multiprecision::numerator(value) * ten_to_the(digits),
                                     boost::multiprecision::denominator(value));
}

Decimal decimal_of(const cpp_int& units, std::uint8_t digits) {
    return {units.convert_to<Int128>(), digits};
}

bool is_shared(const FrozenRate& rate, Currency currency) noexcept {
    return rate.rate.kind == RateKind::kPerOrder && rate.rate.currency == currency;
}

const Decimal* cap_of(const Position& position, Currency currency) noexcept {
    return amount_in(position.facts.caps, currency);
}

/// A present line and its rate; `index` is the line's place in the order.
struct PricedLine {
    const OrderLine* line;
    const FrozenLine* frozen;
    std::size_t index;
};

/// Calls `visit(line, frozen line, index)` for each.
template <class Visit>
void visit_priced(const OrderState& state, const Position& position, Visit visit) {
    ByLine<const FrozenLine, &FrozenLine::line> by_line(position.frozen);
    for (std::size_t i = 0; i < state.lines.size(); ++i) {
        const OrderLine& line = state.lines[i];
        if (!line.present) {
            continue;
        }
        const FrozenLine* frozen = by_line.find(line.id.view(), i);
        SLUICE_ASSERT(frozen != nullptr);
        visit(line, *frozen, i);
    }
}

std::vector<PricedLine> lines_with_rates(const OrderState& state, const Position& position) {
    std::vector<PricedLine> lines;
    lines.reserve(state.lines.size());
    visit_priced(state, position,
                 [&lines](const OrderLine& line, const FrozenLine& frozen, std::size_t index) {
                     lines.push_back({&line, &frozen, index});
                 });
    return lines;
}

/// Before refunds, of lines that earn by themselves.
Decimal sum_alone(const std::vector<PricedLine>& lines, Currency currency) {
    Decimal sum = zero_amount(currency);
    for (const PricedLine& priced : lines) {
        sum += line_commission(priced.frozen->rate, *priced.line, Decimal(), currency);
    }
    return sum;
}

/// Returns true if each line earns by itself: the order has no amount per order, and no cap that it
/// exceeds.
bool earns_alone(const std::vector<PricedLine>& lines, const Position& position,
                 Currency currency) {
    const Decimal* cap = cap_of(position, currency);
    return std::ranges::none_of(lines,
                                [currency](const PricedLine& line) {
                                    return is_shared(line.frozen->rate, currency);
                                }) &&
           (cap == nullptr || sum_alone(lines, currency) <= *cap);
}

/// Commissions before refunds, exact, or in whole minor units where they were shared (M4).
class Shares {
public:
    Shares(const OrderState& state, const Position& position, const std::vector<PricedLine>& lines)
        : position_(position),
          lines_(lines),
          currency_(state.currency),
          digits_(state.currency.minor_units()),
          values_(lines.size()),
          shared_(lines.size()) {
        price_alone();
        share_per_order();
        share_cap();
    }

    [[nodiscard]] const std::vector<cpp_rational>& values() const noexcept { return values_; }
    /// Returns the amount that the line has a share of, or nullptr if the line earns by itself.
    [[nodiscard]] const Decimal* shared(std::size_t index) const noexcept { return shared_[index]; }

private:
    void price_alone() {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const FrozenRate& rate = lines_[i].frozen->rate;
            const std::optional<Fraction> price =
                is_shared(rate, currency_)
                    ? std::nullopt
                    : exact_commission(rate, *lines_[i].line, Decimal(), currency_);
            if (price) {
                values_[i] = exact(*price);
            }
        }
    }

    void share_per_order() {
        std::map<std::uint32_t, std::vector<std::size_t>> groups;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (is_shared(lines_[i].frozen->rate, currency_)) {
                groups[lines_[i].frozen->rate.shared_with].push_back(i);
            }
        }
        for (const auto& [first, members] : groups) {
            const Decimal& amount = position_.frozen.at(first).rate.rate.value;
            std::vector<cpp_rational> weights;
            for (const std::size_t i : members) {
                weights.push_back(base(i));
            }
            share(amount, weights, members);
        }
    }

    void share_cap() {
        const Decimal* cap = cap_of(position_, currency_);
        if (cap == nullptr) {
            return;
        }
        cpp_int sum = 0;
        for (const cpp_rational& value : values_) {
            sum += units_of(value, digits_);
        }
        if (sum > units_of(exact(*cap), digits_)) {
            std::vector<std::size_t> all(lines_.size());
            std::iota(all.begin(), all.end(), std::size_t{0});
            share(*cap, std::vector<cpp_rational>(values_), all);
        }
    }

    /// Largest remainder; ties to the lower line id.
    void share(const Decimal& amount, const std::vector<cpp_rational>& weights,
               const std::vector<std::size_t>& members) {
        const cpp_int units = units_of(exact(amount), digits_);
        const cpp_rational total = std::accumulate(weights.begin(), weights.end(), cpp_rational(0));
        std::vector<cpp_int> whole(members.size());
        std::vector<cpp_rational> rest(members.size());
        cpp_int left = total == 0 ? cpp_int(0) : units;
        for (std::size_t i = 0; i < members.size() && total != 0; ++i) {
            const cpp_rational part = weights[i] * units / total;
            whole[i] =
                boost::multiprecision::numerator(part) / boost::multiprecision::denominator(part);
            rest[i] = part - whole[i];
            left -= whole[i];
        }
        std::vector<std::size_t> order(members.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            return rest[a] != rest[b] ? rest[a] > rest[b]
                                      : lines_[members[a]].line->id < lines_[members[b]].line->id;
        });
        for (std::size_t i = 0; left > 0; ++i, --left) {
            ++whole[order[i]];
        }
        for (std::size_t i = 0; i < members.size(); ++i) {
            values_[members[i]] = cpp_rational(whole[i], ten_to_the(digits_));
            shared_[members[i]] = &amount;
        }
    }

    [[nodiscard]] cpp_rational base(std::size_t i) const {
        const OrderLine& line = *lines_[i].line;
        return exact(base_amount(lines_[i].frozen->rate.base, line.amount, line.tax));
    }

    const Position& position_;
    const std::vector<PricedLine>& lines_;
    Currency currency_;
    std::uint8_t digits_;
    std::vector<cpp_rational> values_;
    std::vector<const Decimal*> shared_;
};

/// Returns the share with the part that the line's refund leaves, rounded half to even.
Decimal after_refund(const cpp_rational& share, const OrderLine& line, const Decimal& refunded,
                     std::uint8_t digits) {
    const std::optional<Fraction> left = part_left(line.amount, refunded);
    return left ? decimal_of(units_of(share * exact(*left), digits), digits) : Decimal(0, digits);
}

}  // namespace

std::vector<Decimal> line_commissions(const OrderState& state, const Position& position,
                                      const EffectiveRefunds& refunds) {
    const std::vector<PricedLine> lines = lines_with_rates(state, position);
    std::vector<Decimal> commissions(state.lines.size(), zero_amount(state.currency));
    if (earns_alone(lines, position, state.currency)) {
        for (const PricedLine& priced : lines) {
            commissions[priced.index] = line_commission(
                priced.frozen->rate, *priced.line, refunds.amount(priced.line->id), state.currency);
        }
        return commissions;
    }
    const Shares shares(state, position, lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        commissions[lines[i].index] =
            after_refund(shares.values()[i], *lines[i].line, refunds.amount(lines[i].line->id),
                         state.currency.minor_units());
    }
    return commissions;
}

OrderBases order_bases(const OrderState& state, const Position& position) {
    OrderBases bases{zero_amount(state.currency), Decimal()};
    visit_priced(state, position,
                 [&bases](const OrderLine& line, const FrozenLine& frozen, std::size_t /*index*/) {
                     bases.base += base_amount(frozen.rate.base, line.amount, line.tax);
                 });
    if (state.refunds.empty()) {  // mostly: the accrued amounts are before refunds
        for (const LineAccrual& accrual : position.accruals) {
            if (!accrual.line.empty() && accrual.currency == state.currency) {
                bases.commission += accrual.accrued;
            }
        }
        return bases;
    }
    const std::vector<PricedLine> lines = lines_with_rates(state, position);
    if (earns_alone(lines, position, state.currency)) {
        bases.commission = sum_alone(lines, state.currency);
    } else {
        const std::uint8_t digits = state.currency.minor_units();
        const Shares shares(state, position, lines);
        for (const cpp_rational& value : shares.values()) {
            bases.commission += decimal_of(units_of(value, digits), digits);
        }
    }
    return bases;
}

Decimal part_of(const Decimal& amount, const Decimal& percent, std::uint8_t digits) {
    constexpr std::uint8_t kAll = 100;
    if (percent == Decimal(kAll, 0) && amount.scale() <= digits) {
        return amount.rescaled(digits);
    }
    return decimal_of(units_of(exact(amount) * exact(percent) / kAll, digits), digits);
}

std::vector<std::string> shared_words(const OrderState& state, const Position& position) {
    std::vector<std::string> words(state.lines.size());
    const std::vector<PricedLine> lines = lines_with_rates(state, position);
    if (earns_alone(lines, position, state.currency)) {
        return words;
    }
    const Shares shares(state, position, lines);
    const std::uint8_t digits = state.currency.minor_units();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (shares.shared(i) != nullptr) {
            words[lines[i].index] =
                decimal_of(units_of(shares.values()[i], digits), digits).to_string() + " of " +
                shares.shared(i)->to_string();
        }
    }
    return words;
}

}  // namespace sluice
