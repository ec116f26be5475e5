// ISO 4217 currency codes and their minor units; ISO 639-1 and ISO 3166-1 alpha-2 codes.
//
// The tables are generated at build time from Debian's iso-codes and core/values/currencies.txt.
// Codes are exact in case.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

class Currency {
public:
    constexpr Currency() = default;
    [[nodiscard]] static std::optional<Currency> parse(std::string_view code) noexcept;

    [[nodiscard]] std::string_view code() const noexcept { return {code_.data(), code_.size()}; }
    /// Digits after the point of an amount paid out in it: JPY 0, USD 2, KWD 3, CLF 4.
    [[nodiscard]] std::uint8_t minor_units() const noexcept { return minor_units_; }

    friend constexpr auto operator<=>(const Currency&, const Currency&) = default;

private:
    std::array<char, 3> code_{};
    std::uint8_t minor_units_ = 2;
};

[[nodiscard]] bool is_iso639_1(std::string_view code) noexcept;
[[nodiscard]] bool is_iso3166_alpha2(std::string_view code) noexcept;

}  // namespace sluice
