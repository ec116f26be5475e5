#include "core/values/money.hpp"

namespace sluice {

std::optional<Money> parse_money(std::string_view text) noexcept {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) {
        return std::nullopt;
    }
    const std::optional<Decimal> amount = Decimal::parse_signed(text.substr(0, space));
    const std::optional<Currency> currency = Currency::parse(text.substr(space + 1));
    if (!amount || !currency) {
        return std::nullopt;
    }
    return Money{*currency, *amount};
}

std::string to_string(const Money& money) {
    return money.amount.to_string() + " " + std::string(money.currency.code());
}

std::optional<Decimal> in_minor_units(const Decimal& amount, Currency currency) {
    Int128 unscaled = amount.unscaled();
    std::uint8_t scale = amount.scale();
    for (; scale > currency.minor_units(); --scale) {
        if (unscaled % 10 != 0) {
            return std::nullopt;
        }
        unscaled /= 10;
    }
    return Decimal(unscaled, scale).rescaled(currency.minor_units());
}

}  // namespace sluice
