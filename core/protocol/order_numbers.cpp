#include "core/protocol/order_numbers.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

constexpr std::size_t kNumberBytesMax = 64;
constexpr std::size_t kConfirmationBytesMin = 8;

/// People write these or leave them out.
constexpr bool is_decoration(char c) noexcept {
    return c == '#' || c == ' ';
}

}  // namespace

bool is_order_number(std::string_view text) noexcept {
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == '\x7F';
    };
    return text.size() <= kNumberBytesMax && std::ranges::none_of(text, is_control) &&
           !std::ranges::all_of(text, is_decoration);
}

bool is_confirmation_number(std::string_view text) noexcept {
    return text.size() >= kConfirmationBytesMin && is_order_number(text);
}

Digest256 order_number_digest(std::string_view number) {
    std::string folded;
    for (const char c : number) {
        if (!is_decoration(c)) {
            folded += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        }
    }
    return sha256(folded);
}

}  // namespace sluice
