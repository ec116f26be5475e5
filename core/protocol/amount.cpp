#include "core/protocol/amount.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include "core/values/assert.hpp"
#include "core/values/decimal.hpp"

namespace sluice {
namespace {

using boost::multiprecision::cpp_int;

cpp_int power_of_ten(unsigned exponent) {
    return boost::multiprecision::pow(cpp_int(10), exponent);
}

}  // namespace

Decimal tax_within(const Decimal& amount, const Decimal& rate) {
    SLUICE_ASSERT(!amount.is_negative() && !rate.is_negative());
    // amount - amount / (1 + rate) = amount * rate / (1 + rate), in hundredths.
    const cpp_int a(amount.unscaled());
    const cpp_int r(rate.unscaled());
    const cpp_int hundredths = divide_half_even<cpp_int>(
        a * r * 100, power_of_ten(amount.scale()) * (power_of_ten(rate.scale()) + r));
    return {static_cast<Int128>(hundredths), 2};
}

}  // namespace sluice
