#include "core/values/money.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>

#include "core/values/assert.hpp"
#include "core/values/code_tables.hpp"

namespace sluice {
namespace {

constexpr unsigned kLetters = 26;
constexpr std::uint8_t kUnknown = 0xff;

/// 0 to 25, or anything above for a byte that is no letter of that case.
constexpr unsigned letter(char c, char first) noexcept {
    return static_cast<unsigned char>(c) - static_cast<unsigned>(static_cast<unsigned char>(first));
}

/// A set of two-letter codes: one row of bits for each first letter.
using PairSet = std::array<std::uint32_t, kLetters>;

template <std::size_t N>
constexpr PairSet make_pair_set(const std::string_view (&codes)[N], char first) {
    PairSet set{};
    for (const std::string_view code : codes) {
        set[letter(code[0], first)] |= 1U << letter(code[1], first);
    }
    return set;
}

bool contains(const PairSet& set, std::string_view code, char first) noexcept {
    if (code.size() != 2) {
        return false;
    }
    const unsigned row = letter(code[0], first);
    const unsigned column = letter(code[1], first);
    return row < kLetters && column < kLetters && (set[row] >> column & 1U) != 0;
}

constexpr PairSet kLanguageSet = make_pair_set(code_tables::kLanguages, 'a');
constexpr PairSet kCountrySet = make_pair_set(code_tables::kCountries, 'A');

/// Minor units by the code read as a number in base 26; kUnknown where there is no such code.
using CurrencyIndex = std::array<std::uint8_t, kLetters * kLetters * kLetters>;

constexpr CurrencyIndex make_currency_index() {
    CurrencyIndex index{};
    for (std::uint8_t& units : index) {
        units = kUnknown;
    }
    for (const code_tables::CurrencyRow& row : code_tables::kCurrencies) {
        index[(letter(row.code[0], 'A') * kLetters + letter(row.code[1], 'A')) * kLetters +
              letter(row.code[2], 'A')] = row.minor_units;
    }
    return index;
}

constexpr CurrencyIndex kCurrencyIndex = make_currency_index();

}  // namespace

Parsed<Currency> Currency::parse(std::string_view code) noexcept {
    if (code.size() != 3) {
        return std::nullopt;
    }
    unsigned index = 0;
    for (const char c : code) {
        const unsigned digit = letter(c, 'A');
        if (digit >= kLetters) {
            return std::nullopt;
        }
        index = index * kLetters + digit;
    }
    if (kCurrencyIndex[index] == kUnknown) {
        return std::nullopt;
    }
    Currency currency;
    currency.code_ = {code[0], code[1], code[2]};
    currency.minor_units_ = kCurrencyIndex[index];
    return currency;
}

bool is_iso639_1(std::string_view code) noexcept {
    return contains(kLanguageSet, code, 'a');
}

bool is_iso3166_alpha2(std::string_view code) noexcept {
    return contains(kCountrySet, code, 'A');
}

Parsed<Money> parse_money(std::string_view text) noexcept {
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

Decimal tax_within(const Decimal& amount, const Decimal& rate) {
    SLUICE_ASSERT(!amount.is_negative() && !rate.is_negative());
    // amount - amount / (1 + rate) = amount * rate / (1 + rate), in hundredths.
    using boost::multiprecision::cpp_int;
    const auto power_of_ten = [](unsigned exponent) -> cpp_int {
        return boost::multiprecision::pow(cpp_int(10), exponent);
    };
    const cpp_int a(amount.unscaled());
    const cpp_int r(rate.unscaled());
    const cpp_int hundredths = divide_half_even<cpp_int>(
        a * r * 100, power_of_ten(amount.scale()) * (power_of_ten(rate.scale()) + r));
    return {static_cast<Int128>(hundredths), 2};
}

}  // namespace sluice
