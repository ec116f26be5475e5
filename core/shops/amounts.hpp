// Amounts of platforms: read from the digits of a JSON number or of a string, shared among lines to
// the minor unit, and written with the digits of their currency.
//
// All of them are decimals with kAmountDigits digits after the point, so that sums never rescale.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/decimal.hpp"
#include "core/values/money.hpp"
#include "core/values/parsed.hpp"

namespace sluice {

inline constexpr std::uint8_t kAmountDigits = Decimal::kFractionDigitsMax;
inline constexpr Int128 kAmountOne = 1'000'000;  ///< The unscaled value of 1.
inline constexpr Decimal kNoAmount{0, kAmountDigits};

/// Reads a number of JSON's grammar: a sign and an exponent are accepted, and digits beyond
/// kAmountDigits are rounded half to even. Returns nothing for another text, or for 10^15 and more.
[[nodiscard]] Parsed<Decimal> parse_platform_amount(std::string_view text) noexcept;

/// Returns whether the ledger accepts the amount: not negative, at most 15 digits before the point.
[[nodiscard]] bool is_ledger_amount(const Decimal& amount) noexcept;

/// Returns the smallest amount of the currency: 0.01 EUR, 1 JPY.
[[nodiscard]] Decimal one_minor_unit(Currency currency) noexcept;

/// Returns value x part / whole, rounded half to even to the minor unit; 0 if `whole` is 0.
/// Requires: all are >= 0, part <= whole.
[[nodiscard]] Decimal share_of(const Decimal& value, const Decimal& part, const Decimal& whole,
                               Currency currency);

/// Shares `total` in proportion to `weights`, by the largest remainder: each share is cut to the
/// minor unit, then the largest fractions get one unit each, earlier ones first. No share exceeds
/// its weight.
/// @param total  At most the sum of the weights. Rounded to the minor unit first.
/// Requires: total >= 0, each weight >= 0.
void share_by_weight(const Decimal& total, std::span<const Decimal> weights, Currency currency,
                     std::vector<Decimal>& shares);

/// Appends the amount with the currency's digits after the point, or with more if they are not 0.
/// Requires: is_ledger_amount(amount).
void append_amount(std::string& out, const Decimal& amount, Currency currency);

}  // namespace sluice
