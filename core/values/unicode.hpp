// Unicode in UTF-8: lengths of characters, and characters that people do not see as they are.
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
/// Appends \uNNNN, or two of them for a character beyond U+FFFF.
void append_unicode_escape(std::string& out, char32_t character);

}  // namespace sluice
