#include "program/cli/printable.hpp"

#include <algorithm>

#include "core/values/unicode.hpp"

namespace sluice::cli {

std::string printable(std::string_view text) {
    static constexpr std::string_view kHex = "0123456789abcdef";
    std::string safe;
    while (!text.empty()) {
        const std::size_t bytes = utf8_bytes(text);
        const auto first = static_cast<unsigned char>(text.front());
        if (bytes == 0 || (bytes == 1 && is_unseen(first))) {
            safe += "\\x";
            safe += kHex[first >> 4U];
            safe += kHex[first & 15U];
        } else if (is_unseen(utf8_character(text))) {
            append_unicode_escape(safe, utf8_character(text));
        } else {
            safe += text.substr(0, bytes);
        }
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return safe;
}

}  // namespace sluice::cli
