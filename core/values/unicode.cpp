#include "core/values/unicode.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

struct Range {
    char32_t first, last;
};
/// Unicode's categories Cc, Cf, Zl and Zp, as far as they are not letters' parts.
constexpr std::array<Range, 16> kUnseen{{{0x00, 0x1F},
                                         {0x7F, 0x9F},
                                         {0xAD, 0xAD},
                                         {0x61C, 0x61C},
                                         {0x180E, 0x180E},
                                         {0x200B, 0x200F},
                                         {0x2028, 0x202E},
                                         {0x2060, 0x206F},
                                         {0x3164, 0x3164},
                                         {0xFE00, 0xFE0E},
                                         {0xFEFF, 0xFEFF},
                                         {0xFFA0, 0xFFA0},
                                         {0xFFF9, 0xFFFB},
                                         {0x1BCA0, 0x1BCA3},
                                         {0x1D173, 0x1D17A},
                                         {0xE0000, 0xE0FFF}}};

void append_unit(std::string& out, unsigned unit) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
        out += kHex[unit >> static_cast<unsigned>(shift) & 15U];
    }
}

}  // namespace

std::size_t utf8_bytes(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = byte(0);
    const unsigned second = byte(1);
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    if (first < 0x80) {
        return text.empty() ? 0 : 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return continues(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && second < 0xA0;
        const bool surrogate = first == 0xED && second > 0x9F;
        return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && second < 0x90;
        const bool beyond = first == 0xF4 && second > 0x8F;
        const bool whole = continues(1) && continues(2) && continues(3);
        return whole && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

char32_t utf8_character(std::string_view text) noexcept {
    const std::size_t bytes = utf8_bytes(text);
    char32_t character = static_cast<unsigned char>(text[0]);
    if (bytes > 1) {
        character &= 0x7FU >> bytes;
    }
    for (std::size_t i = 1; i < bytes; ++i) {
        character = character << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
    }
    return character;
}

bool is_unseen(char32_t character) noexcept {
    return std::any_of(kUnseen.begin(), kUnseen.end(), [character](const Range& range) {
        return range.first <= character && character <= range.last;
    });
}

void append_unicode_escape(std::string& out, char32_t character) {
    const auto point = static_cast<unsigned>(character);
    if (point > 0xFFFF) {
        append_unit(out, 0xD800U + ((point - 0x10000U) >> 10U));
        append_unit(out, 0xDC00U + ((point - 0x10000U) & 0x3FFU));
    } else {
        append_unit(out, point);
    }
}

}  // namespace sluice
