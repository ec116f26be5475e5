#include "core/protocol/order_numbers.hpp"

#include <algorithm>
#include <string>

#include "core/values/texts.hpp"

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
    std::string folded = ascii_upper(number);
    std::erase_if(folded, is_decoration);
    return sha256(folded);
}

}  // namespace sluice
