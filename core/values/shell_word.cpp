#include "core/values/shell_word.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view kHarmless =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";

bool is_printable(char c) noexcept {
    return c >= ' ' && c <= '~';
}

/// Writes the text in single quotes, in which only they have a meaning.
std::string in_single_quotes(std::string_view text) {
    std::string word = "'";
    for (const char c : text) {
        word += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return word + "'";
}

std::string with_escapes(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string word = "$'";
    for (const char c : text) {
        if (!is_printable(c)) {
            const auto byte = static_cast<unsigned char>(c);
            word += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
            continue;
        }
        word += c == '\'' || c == '\\' ? "\\" : "";
        word += c;
    }
    return word + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
    if (!std::ranges::all_of(text, is_printable)) {
        return with_escapes(text);
    }
    const bool is_harmless = !text.empty() && text.front() != '-' && text.front() != '=' &&
                             text.find_first_not_of(kHarmless) == std::string_view::npos;
    return is_harmless ? std::string(text) : in_single_quotes(text);
}

}  // namespace sluice
