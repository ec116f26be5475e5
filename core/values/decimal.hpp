// Decimal: an exact decimal number. Amounts are sent without a sign; people's adjustments have one.
//
// Value = unscaled / 10^scale. No floating point anywhere. Cheap to copy, no allocation.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

class Decimal {
public:
    static constexpr unsigned kIntegerDigitsMax = 15;  ///< Before the point, leading zeros counted.
    static constexpr unsigned kFractionDigitsMax = 6;  ///< After the point.
    static constexpr std::uint8_t kScaleMax = 12;      ///< After the point, of a product.

    constexpr Decimal() = default;
    constexpr Decimal(Int128 unscaled, std::uint8_t scale) : unscaled_(unscaled), scale_(scale) {}

    /// Parses the wire form `digits[.digits]`: no sign, exponent, spaces or separators; 1 to 15
    /// digits before the point, 1 to 6 after it. Accepts nothing else.
    [[nodiscard]] static Parsed<Decimal> parse(std::string_view text) noexcept;
    /// As parse(), with an optional leading '-' (people's input: adjustments).
    [[nodiscard]] static Parsed<Decimal> parse_signed(std::string_view text) noexcept;

    [[nodiscard]] constexpr Int128 unscaled() const noexcept { return unscaled_; }
    [[nodiscard]] constexpr std::uint8_t scale() const noexcept { return scale_; }
    [[nodiscard]] constexpr bool is_zero() const noexcept { return unscaled_ == 0; }
    [[nodiscard]] constexpr bool is_negative() const noexcept { return unscaled_ < 0; }

    /// Returns the same value with `scale` digits after the point.
    /// Requires: scale >= this->scale(), scale <= kScaleMax.
    [[nodiscard]] Decimal rescaled(std::uint8_t scale) const noexcept;
    /// Sum and difference have the larger scale of the two.
    Decimal& operator+=(const Decimal& other) noexcept {
        // Inline, because an order takes about 70 sums, nearly all of equal scales.
        Int128 sum = 0;
        if (scale_ != other.scale_ || __builtin_add_overflow(unscaled_, other.unscaled_, &sum)) {
            return add_rescaled(other);
        }
        unscaled_ = sum;
        return *this;
    }
    Decimal& operator-=(const Decimal& other) noexcept { return *this += -other; }
    [[nodiscard]] constexpr Decimal operator-() const noexcept { return {-unscaled_, scale_}; }
    [[nodiscard]] constexpr Decimal absolute() const noexcept {
        return is_negative() ? -*this : *this;
    }
    friend Decimal operator+(Decimal a, const Decimal& b) noexcept { return a += b; }
    friend Decimal operator-(Decimal a, const Decimal& b) noexcept { return a -= b; }
    /// Compares values: 1.0 equals 1.00.
    friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) noexcept;
    friend bool operator==(const Decimal& a, const Decimal& b) noexcept;

    /// Returns canonical text: `-12.50` for unscaled -1250, scale 2. All `scale` digits are
    /// written.
    [[nodiscard]] std::string to_string() const;

private:
    Decimal& add_rescaled(const Decimal& other) noexcept;

    Int128 unscaled_ = 0;
    std::uint8_t scale_ = 0;
};

/// 10^kIntegerDigitsMax: above every number that Decimal::parse() accepts.
inline constexpr Decimal kAmountEnd{1'000'000'000'000'000, 0};

/// Returns decimal digits of an integer, with `digits_after_point` of them after the point.
[[nodiscard]] std::string format_scaled(Int128 unscaled, unsigned digits_after_point);

/// numerator / denominator as a whole number. A quotient that lies exactly between two whole
/// numbers goes to the even one: the one rounding of money.
/// @tparam Integer  Int128, or an integer of Boost.Multiprecision.
/// Requires: numerator >= 0, denominator > 0.
template <class Integer>
Integer divide_half_even(const Integer& numerator, const Integer& denominator) {
    Integer quotient = numerator / denominator;
    const Integer rest = numerator % denominator;
    const Integer missing = denominator - rest;
    const bool odd = quotient % 2 != 0;
    if (rest > missing || (rest == missing && odd)) {
        quotient += 1;
    }
    return quotient;
}

/// A decimal and the text as which it was sent, because reports show amounts as sent. The text
/// belongs to the parser.
struct SentDecimal {
    Decimal value;
    std::string_view text;
};

}  // namespace sluice
