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

/// Unicode's White_Space.
constexpr std::array<Range, 10> kSpaces{{{0x09, 0x0D},
                                         {0x20, 0x20},
                                         {0x85, 0x85},
                                         {0xA0, 0xA0},
                                         {0x1680, 0x1680},
                                         {0x2000, 0x200A},
                                         {0x2028, 0x2029},
                                         {0x202F, 0x202F},
                                         {0x205F, 0x205F},
                                         {0x3000, 0x3000}}};

template <std::size_t N>
bool is_among(const std::array<Range, N>& ranges, char32_t character) noexcept {
    return std::ranges::any_of(ranges, [character](const Range& range) {
        return range.first <= character && character <= range.last;
    });
}

bool is_blank(std::string_view character) noexcept {
    const char32_t value = utf8_character(character);
    return is_among(kSpaces, value) || is_unseen(value);
}

/// Returns the length of the last character, or 0 if the text ends with no valid one.
std::size_t last_utf8_bytes(std::string_view text) noexcept {
    constexpr std::size_t kBytesMax = 4;
    for (std::size_t bytes = 1; bytes <= std::min(kBytesMax, text.size()); ++bytes) {
        if (utf8_bytes(text.substr(text.size() - bytes)) == bytes) {
            return bytes;
        }
    }
    return 0;
}

/// Capital letters whose small ones are `distance` away; with distance 1, those of the parity of
/// `first` alone.
struct Capitals {
    char32_t first, last, distance;
};
constexpr std::array<Capitals, 12> kCapitals{{{'A', 'Z', 32},
                                              {0xC0, 0xD6, 32},
                                              {0xD8, 0xDE, 32},
                                              {0x100, 0x136, 1},
                                              {0x139, 0x147, 1},
                                              {0x14A, 0x176, 1},
                                              {0x179, 0x17D, 1},
                                              {0x391, 0x3A9, 32},
                                              {0x400, 0x40F, 80},
                                              {0x410, 0x42F, 32},
                                              {0x460, 0x480, 1},
                                              {0xFF21, 0xFF3A, 32}}};

char32_t lower_case(char32_t character) noexcept {
    for (const Capitals& capitals : kCapitals) {
        if (character >= capitals.first && character <= capitals.last &&
            (capitals.distance != 1 || (character - capitals.first) % 2 == 0)) {
            return character + capitals.distance;
        }
    }
    return character;
}

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
    return is_among(kUnseen, character);
}

std::string_view trim_text(std::string_view text) noexcept {
    for (std::size_t bytes = utf8_bytes(text); bytes != 0 && is_blank(text);
         bytes = utf8_bytes(text)) {
        text.remove_prefix(bytes);
    }
    for (std::size_t bytes = last_utf8_bytes(text);
         bytes != 0 && is_blank(text.substr(text.size() - bytes)); bytes = last_utf8_bytes(text)) {
        text.remove_suffix(bytes);
    }
    return text;
}

std::string fold_case(std::string_view text) {
    std::string folded;
    while (!text.empty()) {
        const std::size_t bytes = utf8_bytes(text);
        const std::size_t taken = std::max<std::size_t>(bytes, 1);
        const char32_t character = bytes == 0 ? 0 : utf8_character(text);
        const char32_t lower = lower_case(character);
        if (lower == character) {
            folded += text.substr(0, taken);
        } else {
            append_utf8(folded, lower);
        }
        text.remove_prefix(taken);
    }
    return folded;
}

bool is_utf8(std::string_view text) noexcept {
    std::size_t bytes = 0;
    for (; (bytes = utf8_bytes(text)) != 0; text.remove_prefix(bytes)) {
    }
    return text.empty();
}

std::string_view likely_encoding(std::string_view text) noexcept {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        return "UTF-16";
    }
    constexpr std::string_view kNotWindows = "\x81\x8D\x8F\x90\x9D";
    return text.find_first_of(kNotWindows) == std::string_view::npos ? "WINDOWS-1252" : "";
}

void append_utf8(std::string& text, char32_t character) {
    const auto put = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (character < 0x80) {
        put(character);
    } else if (character < 0x800) {
        put(0xc0 | character >> 6);
        put(0x80 | (character & 0x3f));
    } else if (character < 0x10000) {
        put(0xe0 | character >> 12);
        put(0x80 | (character >> 6 & 0x3f));
        put(0x80 | (character & 0x3f));
    } else {
        put(0xf0 | character >> 18);
        put(0x80 | (character >> 12 & 0x3f));
        put(0x80 | (character >> 6 & 0x3f));
        put(0x80 | (character & 0x3f));
    }
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
