#include "core/json/slices.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>

#include "core/values/lookup.hpp"
#include "core/values/unicode.hpp"

namespace sluice {
namespace {

/// Walks over a valid document. Counts nesting instead of recursing.
class Cursor {
public:
    explicit Cursor(std::string_view text) : text_(text) { skip_space(); }

    [[nodiscard]] bool at(char c) const noexcept { return at_ < text_.size() && text_[at_] == c; }
    [[nodiscard]] bool at_end() const noexcept { return at_ >= text_.size(); }

    void step() {
        ++at_;
        skip_space();
    }

    /// Returns the value here and moves past it and its white space.
    std::string_view value() {
        const std::size_t begin = at_;
        if (at('"')) {
            skip_string();
        } else if (at('{') || at('[')) {
            skip_container();
        } else {
            skip_scalar();
        }
        const std::string_view found = text_.substr(begin, at_ - begin);
        skip_space();
        return found;
    }

private:
    void skip_space() {
        while (at_ < text_.size() && is_json_space(text_[at_])) {
            ++at_;
        }
    }

    void skip_string() {
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\') {
                ++at_;
            }
        }
        at_ = at_ < text_.size() ? at_ + 1 : text_.size();
    }

    void skip_container() {
        std::size_t depth = 0;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"') {
                skip_string();
                continue;
            }
            ++at_;
            if (c == '{' || c == '[') {
                ++depth;
            } else if ((c == '}' || c == ']') && --depth == 0) {
                return;
            }
        }
    }

    void skip_scalar() {
        while (at_ < text_.size() && !is_json_space(text_[at_]) && text_[at_] != ',' &&
               text_[at_] != '}' && text_[at_] != ']') {
            ++at_;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::uint32_t hex4(std::string_view digits) noexcept {
    std::uint32_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return value;
}

/// Decodes the `\uXXXX` at `at`, with the low surrogate after a high one, and moves `at` past it.
std::uint32_t unicode_escape(std::string_view text, std::size_t& at) {
    std::uint32_t code = hex4(text.substr(at + 2, 4));
    at += 6;
    if (code >= 0xd800 && code < 0xdc00) {
        code = 0x10000 + ((code - 0xd800) << 10) + (hex4(text.substr(at + 2, 4)) - 0xdc00);
        at += 6;
    }
    return code;
}

char simple_escape(char c) noexcept {
    constexpr std::string_view kNames = "bfnrt";
    const std::size_t at = kNames.find(c);
    return at == std::string_view::npos ? c : "\b\f\n\r\t"[at];
}

std::string unescape(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] != '\\' || at + 1 >= text.size()) {
            plain.push_back(text[at++]);
        } else if (text[at + 1] == 'u' && at + 6 <= text.size()) {
            append_utf8(plain, unicode_escape(text, at));
        } else {
            plain.push_back(simple_escape(text[at + 1]));
            at += 2;
        }
    }
    return plain;
}

}  // namespace

std::string_view member_of(const std::vector<JsonMember>& members, std::string_view key) {
    const JsonMember* const member = find_item(members, key, &JsonMember::key);
    return member == nullptr ? std::string_view() : member->value;
}

std::vector<JsonMember> json_members(std::string_view text) {
    std::vector<JsonMember> members;
    Cursor cursor(text);
    if (!cursor.at('{')) {
        return members;
    }
    cursor.step();
    while (cursor.at('"')) {
        JsonMember member{.key = json_string(cursor.value())};
        cursor.step();  // The colon.
        member.value = cursor.value();
        members.push_back(std::move(member));
        cursor.step();  // The comma, or the end.
    }
    return members;
}

std::vector<std::string_view> json_elements(std::string_view text) {
    std::vector<std::string_view> elements;
    Cursor cursor(text);
    if (!cursor.at('[')) {
        return elements;
    }
    cursor.step();
    while (!cursor.at(']') && !cursor.at_end()) {
        elements.push_back(cursor.value());
        if (cursor.at(',')) {
            cursor.step();
        }
    }
    return elements;
}

std::string json_string(std::string_view text) {
    if (!is_json_string(text) || text.size() < 2) {
        return {};
    }
    return unescape(text.substr(1, text.size() - 2));
}

}  // namespace sluice
