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

/// Returns whether the byte stands for itself, whatever follows.
bool is_plain(char c) noexcept {
    return c >= 0x20 && c < 0x7f && c != '<' && c != '"' && c != '\\';
}

/// Appends the first character of a text that begins with one that is not plain. Returns its bytes.
std::size_t append_special(std::string& out, std::string_view text) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte < 0x20 || byte == 0x7f || byte == '<') {
        append_unicode_escape(out, byte);
        return 1;
    }
    if (byte >= 0x80) {
        const std::size_t bytes = utf8_bytes(text);
        if (bytes > 0 && is_unseen(utf8_character(text))) {
            append_unicode_escape(out, utf8_character(text));
            return bytes;
        }
    } else {
        out += '\\';
    }
    out += text.front();
    return 1;
}

/// Escapes also what people would not see, because the output may go to a terminal.
void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t plain = static_cast<std::size_t>(
            std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (!text.empty()) {
            text.remove_prefix(append_special(out, text));
        }
    }
    out += '"';
}

}  // namespace

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
    append_quoted(out_, name);
    out_ += ':';
    comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
    separate();
    append_quoted(out_, text);
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
