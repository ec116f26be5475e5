#include "core/values/decimal.hpp"

#include <algorithm>
#include <array>

#include "core/values/assert.hpp"

namespace sluice {
namespace {

constexpr auto kPowersOfTen = [] {
    std::array<std::int64_t, Decimal::kScaleMax + 1> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) {
        powers[i] = powers[i - 1] * 10;
    }
    return powers;
}();

static_assert(kAmountEnd.unscaled() ==
              Int128{kPowersOfTen[Decimal::kScaleMax]} *
                  kPowersOfTen[Decimal::kIntegerDigitsMax - Decimal::kScaleMax]);

/// The digits that `text` begins with. The value is meaningful up to 19 of them.
struct Digits {
    std::uint64_t value = 0;
    std::size_t count = 0;
};
Digits read_digits(std::string_view text) noexcept {
    Digits digits;
    while (digits.count < text.size()) {
        const unsigned digit = static_cast<unsigned char>(text[digits.count]) - unsigned{'0'};
        if (digit > 9) {
            break;
        }
        digits.value = digits.value * 10 + digit;
        ++digits.count;
    }
    return digits;
}

/// 10^digits times the value, so that two decimals can meet at one scale.
Int128 scaled_up(Int128 unscaled, unsigned digits) noexcept {
    SLUICE_ASSERT(digits <= Decimal::kScaleMax);
    Int128 product = 0;
    SLUICE_ASSERT(!__builtin_mul_overflow(unscaled, Int128{kPowersOfTen[digits]}, &product));
    return product;
}

}  // namespace

Parsed<Decimal> Decimal::parse(std::string_view text) noexcept {
    if (text.size() > kIntegerDigitsMax + 1 + kFractionDigitsMax) {
        return std::nullopt;
    }
    const Digits whole = read_digits(text);
    if (whole.count == 0 || whole.count > kIntegerDigitsMax) {
        return std::nullopt;
    }
    if (whole.count == text.size()) {
        return Decimal(whole.value, 0);
    }
    const std::string_view rest = text.substr(whole.count + 1);
    const Digits fraction = read_digits(rest);
    if (text[whole.count] != '.' || fraction.count == 0 || fraction.count != rest.size() ||
        fraction.count > kFractionDigitsMax) {
        return std::nullopt;
    }
    return Decimal(Int128{whole.value} * kPowersOfTen[fraction.count] + fraction.value,
                   static_cast<std::uint8_t>(fraction.count));
}

Parsed<Decimal> Decimal::parse_signed(std::string_view text) noexcept {
    if (text.empty() || text.front() != '-') {
        return parse(text);
    }
    const std::optional<Decimal> positive = parse(text.substr(1));
    if (!positive) {
        return std::nullopt;
    }
    return -*positive;
}

Decimal Decimal::rescaled(std::uint8_t scale) const noexcept {
    SLUICE_ASSERT(scale >= scale_ && scale <= kScaleMax);
    return {scaled_up(unscaled_, static_cast<unsigned>(scale - scale_)), scale};
}

Decimal& Decimal::add_rescaled(const Decimal& other) noexcept {
    const std::uint8_t scale = std::max(scale_, other.scale_);
    const Decimal left = rescaled(scale);
    const Decimal right = other.rescaled(scale);
    SLUICE_ASSERT(!__builtin_add_overflow(left.unscaled_, right.unscaled_, &unscaled_));
    scale_ = scale;
    return *this;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) noexcept {
    if (a.scale_ != b.scale_) {
        const std::uint8_t scale = std::max(a.scale_, b.scale_);
        return a.rescaled(scale) <=> b.rescaled(scale);
    }
    return a.unscaled_ <=> b.unscaled_;
}

bool operator==(const Decimal& a, const Decimal& b) noexcept {
    return (a <=> b) == 0;
}

std::string Decimal::to_string() const {
    return format_scaled(unscaled_, scale_);
}

std::string format_scaled(Int128 unscaled, unsigned digits_after_point) {
    const bool negative = unscaled < 0;
    UInt128 rest = negative ? -static_cast<UInt128>(unscaled) : static_cast<UInt128>(unscaled);
    std::string reversed;
    while (rest != 0 || reversed.size() <= digits_after_point) {
        reversed.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
        rest /= 10;
    }
    if (digits_after_point > 0) {
        reversed.insert(digits_after_point, 1, '.');
    }
    if (negative) {
        reversed.push_back('-');
    }
    return {reversed.rbegin(), reversed.rend()};
}

}  // namespace sluice
