// Money: an amount with its currency.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/values/currency.hpp"
#include "core/values/decimal.hpp"

namespace sluice {

struct Money {
    Currency currency;
    Decimal amount;
    friend bool operator==(const Money&, const Money&) = default;
};

/// `12.00 USD`, with an optional leading '-'. Nothing: another form, or no such currency.
[[nodiscard]] std::optional<Money> parse_money(std::string_view text) noexcept;
[[nodiscard]] std::string to_string(const Money& money);

/// 0 with the currency's digits.
[[nodiscard]] inline Decimal zero_amount(Currency currency) noexcept {
    return {0, currency.minor_units()};
}

/// The amount with exactly the currency's digits; nothing if it has more that matter.
[[nodiscard]] std::optional<Decimal> in_minor_units(const Decimal& amount, Currency currency);

}  // namespace sluice
