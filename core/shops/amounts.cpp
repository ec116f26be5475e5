#include "core/shops/amounts.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <charconv>
#include <numeric>

namespace sluice {
namespace {

constexpr Int128 kUnscaledEnd = kAmountEnd.unscaled() * kAmountOne;
/// A longer exponent makes every number too large, or 0.
constexpr std::int64_t kExponentMax = 10'000'000;

bool all_digits(std::string_view text) noexcept {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Reads `[+-]digits`. An exponent beyond kExponentMax counts as that.
Parsed<std::int64_t> parse_exponent(std::string_view text) noexcept {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) {
        text.remove_prefix(1);
    }
    if (!all_digits(text)) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || value > kExponentMax) {
        value = kExponentMax;
    }
    return negative ? -value : value;
}

/// The digits of a number without its point, and the place of the point among them, which may be
/// outside.
struct PointedDigits {
    std::string_view whole, fraction;
    std::int64_t point = 0;

    [[nodiscard]] std::int64_t count() const noexcept {
        return static_cast<std::int64_t>(whole.size() + fraction.size());
    }
    [[nodiscard]] unsigned at(std::int64_t place) const noexcept {
        if (place < 0 || place >= count()) {
            return 0;
        }
        const auto index = static_cast<std::size_t>(place);
        const char c = index < whole.size() ? whole[index] : fraction[index - whole.size()];
        return static_cast<unsigned>(c - '0');
    }
};

Parsed<PointedDigits> parse_digits(std::string_view text) noexcept {
    PointedDigits digits;
    const std::size_t mark = text.find_first_of("eE");
    if (mark != std::string_view::npos) {
        const auto exponent = parse_exponent(text.substr(mark + 1));
        if (!exponent) {
            return std::nullopt;
        }
        digits.point = *exponent;
        text = text.substr(0, mark);
    }
    const std::size_t point = text.find('.');
    digits.whole = text.substr(0, point);
    if (point != std::string_view::npos) {
        digits.fraction = text.substr(point + 1);
        if (!all_digits(digits.fraction)) {
            return std::nullopt;
        }
    }
    if (!all_digits(digits.whole)) {
        return std::nullopt;
    }
    digits.point += static_cast<std::int64_t>(digits.whole.size());
    return digits;
}

/// Returns the value in units of 10^-kAmountDigits, rounded half to even, or nothing if it is too
/// large.
Parsed<Int128> round_digits(const PointedDigits& digits) noexcept {
    const std::int64_t end = digits.point + kAmountDigits;
    Int128 value = 0;
    for (std::int64_t place = 0; place < end; ++place) {
        if (place >= digits.count() && value == 0) {
            break;
        }
        value = value * 10 + digits.at(place);
        if (value >= kUnscaledEnd) {
            return std::nullopt;
        }
    }
    const unsigned first = digits.at(end);
    bool has_rest = false;
    for (std::int64_t place = std::max<std::int64_t>(end + 1, 0);
         place < digits.count() && !has_rest; ++place) {
        has_rest = digits.at(place) != 0;
    }
    value += first > 5 || (first == 5 && (has_rest || value % 2 != 0)) ? 1 : 0;
    return value < kUnscaledEnd ? Parsed<Int128>(value) : std::nullopt;
}

struct Quotient {
    Int128 whole = 0;
    Int128 rest = 0;
};

/// Returns a x b / c. Requires: a, b >= 0, c > 0, and a quotient that fits.
Quotient multiply_divide(Int128 a, Int128 b, Int128 c) {
    Int128 product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) {
        return {product / c, product % c};
    }
    using Wide = boost::multiprecision::int512_t;
    const Wide wide = Wide(a) * Wide(b);
    return {static_cast<Int128>(Wide(wide / Wide(c))), static_cast<Int128>(Wide(wide % Wide(c)))};
}

/// Returns the currency's minor unit as an unscaled amount.
Int128 minor_unit(Currency currency) noexcept {
    Int128 unit = 1;
    for (unsigned digits = currency.minor_units(); digits < kAmountDigits; ++digits) {
        unit *= 10;
    }
    return unit;
}

Decimal amount_of(Int128 unscaled) noexcept {
    return {unscaled, kAmountDigits};
}

}  // namespace

Parsed<Decimal> parse_platform_amount(std::string_view text) noexcept {
    const auto plain = Decimal::parse_signed(text);
    if (plain) {
        return plain->rescaled(kAmountDigits);
    }
    const bool negative = text.starts_with('-');
    const auto digits = parse_digits(text.substr(negative ? 1 : 0));
    if (!digits) {
        return std::nullopt;
    }
    const auto value = round_digits(*digits);
    if (!value) {
        return std::nullopt;
    }
    return amount_of(negative ? -*value : *value);
}

bool is_ledger_amount(const Decimal& amount) noexcept {
    return !amount.is_negative() && amount.unscaled() < kUnscaledEnd;
}

Decimal one_minor_unit(Currency currency) noexcept {
    return amount_of(minor_unit(currency));
}

Decimal share_of(const Decimal& value, const Decimal& part, const Decimal& whole,
                 Currency currency) {
    if (whole.is_zero()) {
        return kNoAmount;
    }
    const Int128 unit = minor_unit(currency);
    const Int128 divisor = whole.unscaled() * unit;
    const Quotient units = multiply_divide(value.unscaled(), part.unscaled(), divisor);
    const bool up = units.rest > divisor - units.rest ||
                    (units.rest == divisor - units.rest && units.whole % 2 != 0);
    return amount_of((units.whole + (up ? 1 : 0)) * unit);
}

void share_by_weight(const Decimal& total, std::span<const Decimal> weights, Currency currency,
                     std::vector<Decimal>& shares) {
    shares.assign(weights.size(), kNoAmount);
    const Int128 sum = std::accumulate(weights.begin(), weights.end(), kNoAmount).unscaled();
    if (sum == 0) {
        return;
    }
    const Int128 unit = minor_unit(currency);
    const Int128 total_units = divide_half_even(total.unscaled(), unit);
    Int128 units_left = total_units;
    std::vector<std::pair<Int128, std::size_t>> fractions(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Quotient units = multiply_divide(total_units, weights[i].unscaled(), sum);
        shares[i] = amount_of(units.whole * unit);
        units_left -= units.whole;
        fractions[i] = {-units.rest, i};
    }
    std::ranges::sort(fractions);
    for (std::size_t i = 0; i < fractions.size() && units_left > 0; ++i, --units_left) {
        shares[fractions[i].second] += amount_of(unit);
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
        shares[i] = std::min(shares[i], weights[i]);
    }
}

void append_amount(std::string& out, const Decimal& amount, Currency currency) {
    Int128 unscaled = amount.unscaled();
    unsigned digits = kAmountDigits;
    while (digits > currency.minor_units() && unscaled % 10 == 0) {
        unscaled /= 10;
        --digits;
    }
    out += format_scaled(unscaled, digits);
}

}  // namespace sluice
