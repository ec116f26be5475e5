// Money: an amount with its currency; and the codes of currencies, languages and countries.
//
// The code tables (ISO 4217, ISO 639-1, ISO 3166-1 alpha-2) are generated at build time from
// Debian's iso-codes and core/values/currencies.txt. Codes are exact in case.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/values/decimal.hpp"
#include "core/values/parsed.hpp"

namespace sluice {

class Currency {
public:
    constexpr Currency() = default;
    [[nodiscard]] static Parsed<Currency> parse(std::string_view code) noexcept;

    [[nodiscard]] std::string_view code() const noexcept { return {code_.data(), code_.size()}; }
    /// Digits after the point of an amount paid out in it: JPY 0, USD 2, KWD 3, CLF 4.
    [[nodiscard]] std::uint8_t minor_units() const noexcept { return minor_units_; }

    friend constexpr auto operator<=>(const Currency&, const Currency&) = default;

private:
    std::array<char, 3> code_{};
    std::uint8_t minor_units_ = 2;
};

struct Money {
    Currency currency;
    Decimal amount;
    friend bool operator==(const Money&, const Money&) = default;
};

/// Parses `12.00 USD`, with an optional leading '-'. Returns nullopt for another form or an unknown
/// currency.
[[nodiscard]] Parsed<Money> parse_money(std::string_view text) noexcept;
[[nodiscard]] std::string to_string(const Money& money);

/// Returns 0 with the currency's digits.
[[nodiscard]] inline Decimal zero_amount(Currency currency) noexcept {
    return {0, currency.minor_units()};
}

/// Adds money to the sum that a map has for the key. A sum begins at 0.
template <class Sums, class Key = typename Sums::key_type>
void add_to(Sums& sums, Key&& key, const Money& money) {
    const Decimal zero = zero_amount(money.currency);
    sums.try_emplace(std::forward<Key>(key), zero).first->second += money.amount;
}

/// Returns the amount with exactly the currency's digits, or nullopt if that would lose some.
[[nodiscard]] std::optional<Decimal> in_minor_units(const Decimal& amount, Currency currency);

/// Returns the tax inside a gross amount, for regions where prices include it:
/// round(amount - amount / (1 + rate), 2), exact, with one rounding, half to even.
/// Requires: amount >= 0, rate >= 0 (0.2 is 20 percent).
[[nodiscard]] Decimal tax_within(const Decimal& amount, const Decimal& rate);

[[nodiscard]] bool is_iso639_1(std::string_view code) noexcept;
[[nodiscard]] bool is_iso3166_alpha2(std::string_view code) noexcept;

}  // namespace sluice
