// Half even: the one rounding of money. A quotient that lies exactly between two whole numbers goes
// to the even one.
#pragma once

namespace sluice {

/// numerator / denominator as a whole number, rounded half to even.
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

}  // namespace sluice
