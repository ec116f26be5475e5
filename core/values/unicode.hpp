// Unicode in UTF-8: lengths of characters, characters that people do not see as they are, and the
// form of a text that a person typed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// Returns the length of the first character, or 0 if the text is empty or begins with no valid
/// one.
[[nodiscard]] std::size_t utf8_bytes(std::string_view text) noexcept;
/// Returns the first character. Requires: utf8_bytes(text) is not 0.
[[nodiscard]] char32_t utf8_character(std::string_view text) noexcept;
/// Returns true for characters that a terminal obeys or does not show: control characters, line and
/// paragraph separators, marks of direction, and formatting characters without width.
[[nodiscard]] bool is_unseen(char32_t character) noexcept;
/// Returns the text without white space (also U+00A0 and Unicode's others) and unseen characters at
/// its ends: ids and codes that differ by them look the same.
[[nodiscard]] std::string_view trim_text(std::string_view text) noexcept;
/// Returns the text in lower case: letters of Latin, Greek and Cyrillic that have a pair in their
/// block. Bytes that are not UTF-8 stay.
[[nodiscard]] std::string fold_case(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;
/// Returns iconv's name of the encoding that a text looks like which is not UTF-8, or nothing.
[[nodiscard]] std::string_view likely_encoding(std::string_view text) noexcept;
void append_utf8(std::string& text, char32_t character);
/// Appends \uNNNN, or two of them for a character beyond U+FFFF.
void append_unicode_escape(std::string& out, char32_t character);

}  // namespace sluice
