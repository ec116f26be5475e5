#include "core/reports/json.hpp"

#include <algorithm>
#include <cstddef>

#include "core/json/slices.hpp"
#include "core/values/assert.hpp"
#include "core/values/unicode.hpp"

namespace sluice::reports {
namespace {

void append_ascii(std::string& out, char c, JsonEscapes escapes) {
    constexpr std::string_view kNamed = "\b\f\n\r\t\"\\";
    constexpr std::string_view kNames = "bfnrt\"\\";
    if (const std::size_t named = kNamed.find(c); named != std::string_view::npos) {
        out += {'\\', kNames[named]};
    } else if (static_cast<unsigned char>(c) < 0x20 ||
               (c == '\x7f' && escapes != JsonEscapes::kNeeded)) {
        append_unicode_escape(out, static_cast<unsigned char>(c));
    } else {
        out += c;
    }
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Walks over JSON text token by token.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) { skip_space(); }

    [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
    [[nodiscard]] char peek() const {
        SLUICE_ASSERT(!at_end());
        return text_[at_];
    }
    void skip(char expected) {
        SLUICE_ASSERT(peek() == expected);
        ++at_;
        skip_space();
    }
    /// Takes a string, number or word.
    std::string_view scalar() {
        const std::size_t begin = at_;
        at_ = peek() == '"' ? end_of_string() : end_of_word();
        const std::string_view token = text_.substr(begin, at_ - begin);
        skip_space();
        return token;
    }

private:
    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }
    [[nodiscard]] std::size_t end_of_string() const {
        std::size_t at = at_ + 1;
        while (at < text_.size() && text_[at] != '"') {
            at += text_[at] == '\\' ? 2u : 1u;
        }
        SLUICE_ASSERT(at < text_.size());
        return at + 1;
    }
    [[nodiscard]] std::size_t end_of_word() const {
        const std::size_t end = text_.find_first_of(",:{}[]\" \t\r\n", at_);
        return end == std::string_view::npos ? text_.size() : end;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

void break_line(std::string& out, unsigned level) {
    out += '\n';
    out.append(std::size_t{2} * level, ' ');
}

}  // namespace

Json::Json(const std::vector<std::string>& words)
    : kind_(Kind::kList), items_(words.begin(), words.end()) {}

Json::Json(std::initializer_list<Member> members) : kind_(Kind::kObject) {
    for (const Member& member : members) {
        names_.emplace_back(member.name);
        items_.push_back(member.value);
    }
}

Json Json::array(std::initializer_list<Json> items) {
    Json list;
    list.kind_ = Kind::kList;
    list.items_ = items;
    return list;
}

Json Json::from_text(std::string_view text) {
    Json value;
    if (is_json_string(text)) {
        return json_string(text);
    }
    if (text.starts_with('[')) {
        value.kind_ = Kind::kList;
        for (const std::string_view element : json_elements(text)) {
            value.items_.push_back(from_text(element));
        }
    } else if (text.starts_with('{')) {
        value.kind_ = Kind::kObject;
        for (const JsonMember& member : json_members(text)) {
            value.names_.push_back(member.key);
            value.items_.push_back(from_text(member.value));
        }
    } else if (text != "null") {
        value.kind_ = Kind::kPlain;
        value.text_ = text;
    }
    return value;
}

void Json::push_back(Json item) {
    SLUICE_ASSERT(kind_ == Kind::kList || kind_ == Kind::kNull);
    kind_ = Kind::kList;
    items_.push_back(std::move(item));
}

Json& Json::operator[](std::string_view name) {
    SLUICE_ASSERT(kind_ == Kind::kObject);
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) {
        return items_[static_cast<std::size_t>(found - names_.begin())];
    }
    names_.emplace_back(name);
    return items_.emplace_back();
}

std::string Json::compact() const {
    switch (kind_) {
        case Kind::kNull:
            return "null";
        case Kind::kPlain:
            return text_;
        case Kind::kText:
            return json_quoted(text_);
        case Kind::kList:
        case Kind::kObject:
            break;
    }
    const bool is_object = kind_ == Kind::kObject;
    std::string out(1, is_object ? '{' : '[');
    for (std::size_t i = 0; i < items_.size(); ++i) {
        out += i == 0 ? "" : ",";
        out += is_object ? json_quoted(names_[i]) + ":" : "";
        out += items_[i].compact();
    }
    return out + (is_object ? '}' : ']');
}

std::string Json::pretty() const {
    return indented(compact(), 0);
}

std::string Json::cell() const {
    if (kind_ == Kind::kNull) {
        return {};
    }
    if (kind_ == Kind::kText) {
        return text_;
    }
    if (!is_word_list()) {
        return compact();
    }
    std::string joined;
    for (const Json& item : items_) {
        joined += (joined.empty() ? "" : ";") + item.text_;
    }
    return joined;
}

bool Json::is_word_list() const noexcept {
    return kind_ == Kind::kList && std::all_of(items_.begin(), items_.end(), [](const Json& item) {
               return item.kind_ == Kind::kText;
           });
}

Json text_or_null(std::string_view text) {
    return text.empty() ? Json() : Json(text);
}

std::string json_quoted(std::string_view text, JsonEscapes escapes) {
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size();) {
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            append_ascii(out, text[at++], escapes);
            continue;
        }
        constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
        const std::size_t size = utf8_bytes(text.substr(at));
        const std::string_view character = size == 0 ? kReplacement : text.substr(at, size);
        if (escapes == JsonEscapes::kNonAscii ||
            (escapes == JsonEscapes::kUnseen && is_unseen(utf8_character(character)))) {
            append_unicode_escape(out, utf8_character(character));
        } else {
            out += character;
        }
        at += std::max<std::size_t>(size, 1);
    }
    return out + "\"";
}

std::string indented(std::string_view json, unsigned level) {
    std::string out;
    Scanner scanner(json);
    while (!scanner.at_end()) {
        const char c = scanner.peek();
        if (c == '{' || c == '[') {
            const char closing = c == '{' ? '}' : ']';
            scanner.skip(c);
            out += c;
            if (scanner.peek() == closing) {
                scanner.skip(closing);
                out += closing;
                continue;
            }
            break_line(out, ++level);
        } else if (c == '}' || c == ']') {
            scanner.skip(c);
            break_line(out, --level);
            out += c;
        } else if (c == ',') {
            scanner.skip(c);
            out += c;
            break_line(out, level);
        } else if (c == ':') {
            scanner.skip(c);
            out += ": ";
        } else {
            out += scanner.scalar();
        }
    }
    return out;
}

}  // namespace sluice::reports
