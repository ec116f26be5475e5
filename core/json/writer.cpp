#include "core/json/writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/values/unicode.hpp"

namespace sluice {
namespace {

template <class Integer>
void append_integer(std::string& out, Integer number) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

/// Returns whether the byte stands for itself, whichever escapes are asked for.
bool is_plain(char c) noexcept {
    return c >= 0x20 && c < 0x7f && c != '<' && c != '"' && c != '\\';
}

void append_ascii(std::string& out, char c, JsonEscapes escapes) {
    constexpr std::string_view kNamed = "\b\f\n\r\t";
    const std::size_t named = kNamed.find(c);
    const bool is_stored = escapes == JsonEscapes::kStored;
    if (c == '"' || c == '\\') {
        out += {'\\', c};
    } else if (named != std::string_view::npos && !is_stored) {
        out += {'\\', "bfnrt"[named]};
    } else if ((c == '<' && !is_stored) || (c == '\x7f' && escapes == JsonEscapes::kNeeded)) {
        out += c;
    } else {
        append_unicode_escape(out, static_cast<unsigned char>(c));
    }
}

/// Appends the first character of a text that begins with one that is not plain. Returns its bytes.
std::size_t append_special(std::string& out, std::string_view text, JsonEscapes escapes) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
        append_ascii(out, text.front(), escapes);
        return 1;
    }
    const std::size_t bytes = utf8_bytes(text);
    if (bytes == 0 && escapes == JsonEscapes::kStored) {
        out += text.front();
        return 1;
    }
    const std::string_view character = bytes == 0 ? "\xEF\xBF\xBD" : text.substr(0, bytes);
    if (escapes == JsonEscapes::kNonAscii ||
        (escapes != JsonEscapes::kNeeded && is_unseen(utf8_character(character)))) {
        append_unicode_escape(out, utf8_character(character));
    } else {
        out += character;
    }
    return std::max<std::size_t>(bytes, 1);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, JsonEscapes escapes) {
    out += '"';
    while (!text.empty()) {
        const auto plain = static_cast<std::size_t>(
            std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (!text.empty()) {
            text.remove_prefix(append_special(out, text, escapes));
        }
    }
    out += '"';
}

std::string json_quoted(std::string_view text, JsonEscapes escapes) {
    std::string out;
    append_json_string(out, text, escapes);
    return out;
}

void append_number(std::string& out, double number) {
    std::array<char, 400> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::fixed, 9)
                         .ptr;
    std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    text = text.substr(0, text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) {
        text.remove_suffix(1);
    }
    out += text;
}

void JsonWriter::separate() {
    if (comma_) {
        out_ += ',';
    }
    comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
    separate();
    out_ += bracket;
    comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    out_ += bracket;
    comma_ = true;
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    separate();
    append_json_string(out_, name, JsonEscapes::kStored);
    out_ += ':';
    comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
    separate();
    append_json_string(out_, text, JsonEscapes::kStored);
    return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
    separate();
    append_integer(out_, number);
    return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
    separate();
    append_integer(out_, number);
    return *this;
}

JsonWriter& JsonWriter::value(double number) {
    if (!std::isfinite(number)) {
        return null();
    }
    separate();
    append_number(out_, number);
    return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
}

}  // namespace sluice
