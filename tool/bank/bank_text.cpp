#include "tool/bank/bank_text.hpp"

#include <array>
#include <cstdio>

#include "core/values/unicode.hpp"

namespace sluice::cli {
namespace {

/// From U+0020 to U+007E.
constexpr std::string_view kAscii =
    " .....+'().+,-./0123456789:,...?."
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ(/).-'abcdefghijklmnopqrstuvwxyz(/)-";
/// Letters from U+00C0 on. Where EPC217-08 has a full stop or another letter, as for eth, thorn and
/// the long O, the usual form.
constexpr std::string_view kLatin =
    "A A A A A A A C E E E E I I I I D N O O O O O . O U U U U Y TH s a a a a a a a c e e e e i "
    "i i i d n o o o o o . o u u u u y th y A a A a A a C c C c C c C c D d D d E e E e E e E e "
    "E e G g G g G g G g H h H h I i I i I i I i I i I i J j K k k L l L l L l L l L l N n N n "
    "N n n N n O o O o O o O o R r R r R r S s S s S s S s T t T t T t U u U u U u U u U u U u "
    "W w Y y Y Z z Z z Z z s ";
/// Letters from U+0386 on; `-` stands for none.
constexpr std::string_view kGreek =
    "A - E I I - O - Y O i A V G D E Z I TH I K L M N X O P R - S T Y F CH PS O I Y a e i i y a "
    "v g d e z i th i k l m n x o p r s s t y f ch ps o i y o y o ";

struct Range {
    char32_t first, last;
    std::string_view text;
};
/// Letters below each other in case: an even code is a capital.
constexpr std::array<Range, 10> kPairs{{{0x1A0, 0x1A1, "Oo"},
                                        {0x1AF, 0x1B0, "uU"},
                                        {0x218, 0x219, "Ss"},
                                        {0x21A, 0x21B, "Tt"},
                                        {0x1EA0, 0x1EB7, "Aa"},
                                        {0x1EB8, 0x1EC7, "Ee"},
                                        {0x1EC8, 0x1ECB, "Ii"},
                                        {0x1ECC, 0x1EE3, "Oo"},
                                        {0x1EE4, 0x1EF1, "Uu"},
                                        {0x1EF2, 0x1EF9, "Yy"}}};
/// Spaces, marks and signs. A mark that belongs to the letter before it has no form of its own.
constexpr std::array<Range, 14> kSigns{{{0xA0, 0xA0, " "},
                                        {0xA1, 0xBE, "."},
                                        {0xBF, 0xBF, "?"},
                                        {0x300, 0x36F, ""},
                                        {0x2000, 0x200A, " "},
                                        {0x2010, 0x2015, "-"},
                                        {0x2018, 0x201B, "'"},
                                        {0x201C, 0x201F, "."},
                                        {0x2026, 0x2026, "..."},
                                        {0x202F, 0x202F, " "},
                                        {0x2032, 0x2032, "'"},
                                        {0x20AC, 0x20AC, "E"},
                                        {0x2212, 0x2212, "-"},
                                        {0x3000, 0x3000, " "}}};

/// Returns the word at the index of a list with a space after each, or an empty text.
std::string_view word_at(std::string_view words, std::size_t index) {
    for (; index != 0 && !words.empty(); --index) {
        words.remove_prefix(words.find(' ') + 1);
    }
    const std::string_view word = words.substr(0, words.find(' '));
    return word == "-" ? std::string_view() : word;
}

/// Returns whether the character has a form, and appends it.
bool append_form(char32_t character, std::string& out) {
    constexpr char32_t kLatinFirst = 0xC0, kLatinLast = 0x17F, kGreekFirst = 0x386,
                       kGreekLast = 0x3CE;
    if (character >= ' ' && character <= '~') {
        out += kAscii[character - ' '];
        return true;
    }
    for (const Range& range : kSigns) {
        if (character >= range.first && character <= range.last) {
            out += range.text;
            return true;
        }
    }
    for (const Range& range : kPairs) {
        if (character >= range.first && character <= range.last) {
            out += range.text[character % 2];
            return true;
        }
    }
    std::string_view word;
    if (character >= kLatinFirst && character <= kLatinLast) {
        word = word_at(kLatin, character - kLatinFirst);
    } else if (character >= kGreekFirst && character <= kGreekLast) {
        word = word_at(kGreek, character - kGreekFirst);
    }
    out += word;
    return !word.empty();
}

}  // namespace

Result<std::string> bank_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t bytes = utf8_bytes(text);
        if (bytes == 0) {
            return invalid("no UTF-8");
        }
        const char32_t character = utf8_character(text);
        if (!append_form(character, out)) {
            std::array<char, 16> code{};
            std::snprintf(code.data(), code.size(), " (U+%04X)", static_cast<unsigned>(character));
            return invalid("'" + std::string(is_unseen(character) ? "" : text.substr(0, bytes)) +
                           "'" + code.data());
        }
        text.remove_prefix(bytes);
    }
    return out;
}

}  // namespace sluice::cli
