#include "core/rules/commission.hpp"

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>

#include "core/values/assert.hpp"

namespace sluice {
namespace {

using Wide = boost::multiprecision::int512_t;

constexpr Int128 power_of_ten(unsigned exponent) noexcept {
    Int128 power = 1;
    for (unsigned i = 0; i < exponent; ++i) {
        power *= 10;
    }
    return power;
}

int bit_width(Int128 value) noexcept {
    const auto bits = static_cast<UInt128>(value);
    const auto high = static_cast<std::uint64_t>(bits >> 64);
    return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                     : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bits)));
}

int bit_width(const std::array<Int128, 4>& factors) noexcept {
    int bits = 0;
    for (const Int128 factor : factors) {
        bits += bit_width(factor);
    }
    return bits;
}

/// Returns the fraction times 10^digits, rounded: an amount with `digits` after the point.
Decimal rounded(Fraction fraction, std::uint8_t digits) {
    constexpr int kFastBits = 126;
    fraction.numerator[3] *= power_of_ten(digits);
    if (bit_width(fraction.numerator) <= kFastBits &&
        bit_width(fraction.denominator) <= kFastBits) {
        return {divide_half_even(product<Int128>(fraction.numerator),
                                 product<Int128>(fraction.denominator)),
                digits};
    }
    const Wide result =
        divide_half_even(product<Wide>(fraction.numerator), product<Wide>(fraction.denominator));
    // 15 digits of currency, 17 of percentage or 9 of quantity, 4 of minor unit: 10^36 at most.
    SLUICE_ASSERT(result <= Wide(power_of_ten(37)));
    return {result.convert_to<Int128>(), digits};
}

}  // namespace

RefundEffect refund_effect(const Decimal& line_amount, const Decimal& refunded) noexcept {
    if (refunded.is_zero()) {
        return RefundEffect::kNone;
    }
    const auto order = refunded <=> line_amount;
    return order < 0    ? RefundEffect::kPartial
           : order == 0 ? RefundEffect::kFull
                        : RefundEffect::kExceeds;
}

Decimal base_amount(BaseKind base, const Decimal& amount, const Decimal& tax) noexcept {
    if (base == BaseKind::kGross) {
        return amount;
    }
    const Decimal net = amount - tax;
    return net.is_negative() ? Decimal(0, net.scale()) : net;
}

std::optional<Fraction> part_left(const Decimal& line_amount, const Decimal& refunded) {
    Fraction part;
    switch (refund_effect(line_amount, refunded)) {
        case RefundEffect::kFull:
        case RefundEffect::kExceeds:
            return std::nullopt;
        case RefundEffect::kPartial: {
            const Decimal left = line_amount - refunded;
            part.numerator[2] = left.unscaled();
            part.denominator[2] = line_amount.rescaled(left.scale()).unscaled();
            break;
        }
        case RefundEffect::kNone:
            break;
    }
    return part;
}

std::optional<Fraction> exact_commission(const FrozenRate& frozen, const OrderLine& line,
                                         const Decimal& refunded, Currency currency) {
    std::optional<Fraction> fraction = part_left(line.amount, refunded);
    const bool other_currency =
        frozen.rate.kind != RateKind::kPercent && frozen.rate.currency != currency;
    if (!fraction || frozen.rate.kind == RateKind::kNone || other_currency) {
        return std::nullopt;
    }
    if (frozen.rate.kind == RateKind::kPercent) {
        const Decimal base = base_amount(frozen.base, line.amount, line.tax);
        fraction->numerator[0] = base.unscaled();
        fraction->denominator[0] = power_of_ten(base.scale()) * 100;
    } else {
        fraction->numerator[0] = line.quantity;
    }
    fraction->numerator[1] = frozen.rate.value.unscaled();
    fraction->denominator[1] = power_of_ten(frozen.rate.value.scale());
    return fraction;
}

Decimal line_commission(const FrozenRate& frozen, const OrderLine& line, const Decimal& refunded,
                        Currency currency) {
    const std::optional<Fraction> fraction = exact_commission(frozen, line, refunded, currency);
    return fraction ? rounded(*fraction, currency.minor_units()) : zero_amount(currency);
}

std::string unrounded_commission(const FrozenRate& frozen, const OrderLine& line,
                                 const Decimal& refunded, Currency currency) {
    constexpr unsigned kDigits = 12;
    const std::optional<Fraction> fraction = exact_commission(frozen, line, refunded, currency);
    if (!fraction) {
        return "0";
    }
    const Wide numerator = product<Wide>(fraction->numerator) * Wide(power_of_ten(kDigits));
    const Wide denominator = product<Wide>(fraction->denominator);
    const Wide scaled = numerator / denominator;
    std::string text = format_scaled(scaled.convert_to<Int128>(), kDigits);
    if (numerator % denominator != 0) {
        return text + "...";
    }
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
        text.pop_back();
    }
    return text;
}

}  // namespace sluice
