// Texts: joined, split, in another case, and what their characters are in ASCII.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// Joins what `text_of` returns for each item, with `between` between two of them.
template <class Items, class TextOf = std::identity>
[[nodiscard]] std::string joined(const Items& items, std::string_view between,
                                 TextOf text_of = {}) {
    std::string text;
    bool is_first = true;
    for (const auto& item : items) {
        text += std::exchange(is_first, false) ? std::string_view() : between;
        text += std::invoke(text_of, item);
    }
    return text;
}

/// Returns the parts between the separators, one more than there are separators.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// Returns the text without the characters `space` around it: spaces, tabs and ends of lines.
[[nodiscard]] constexpr std::string_view without_space(
    std::string_view text, std::string_view space = " \t\r\n") noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
    text.remove_suffix(text.size() - (text.find_last_not_of(space) + 1));
    return text;
}

[[nodiscard]] constexpr bool is_ascii_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_ascii_capital(char c) noexcept {
    return c >= 'A' && c <= 'Z';
}
[[nodiscard]] constexpr bool is_ascii_letter_or_digit(char c) noexcept {
    return is_ascii_digit(c) || is_ascii_capital(c) || (c >= 'a' && c <= 'z');
}

/// Returns the letter in lower case if it is one of ASCII, else the character.
[[nodiscard]] constexpr char ascii_lower(char c) noexcept {
    return is_ascii_capital(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] inline std::string ascii_lower(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](char c) { return ascii_lower(c); });
    return lower;
}
[[nodiscard]] inline std::string ascii_upper(std::string_view text) {
    std::string upper(text);
    std::ranges::transform(upper, upper.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return upper;
}
/// @param lower  In lower case.
[[nodiscard]] constexpr bool equals_ignoring_case(std::string_view text,
                                                  std::string_view lower) noexcept {
    return std::ranges::equal(text, lower, {}, [](char c) { return ascii_lower(c); });
}

}  // namespace sluice
