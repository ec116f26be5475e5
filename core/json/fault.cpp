#include "core/json/fault.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/json/document.hpp"
#include "core/values/texts.hpp"
#include "core/values/unicode.hpp"

namespace sluice {
namespace {

constexpr std::size_t kQuotedMax = 16;  ///< Bytes on either side of the place.

/// Reads the body token by token. A read_ function that returns true has moved past its token;
/// otherwise the cursor is at the wrong byte, and `expected` is set.
class FaultFinder {
public:
    explicit FaultFinder(std::string_view body) : body_(body) {}

    std::optional<JsonFault> find() {
        return read_document() ? std::nullopt : std::optional(JsonFault{at_, expected_});
    }

private:
    bool fail(std::string_view expected) {
        expected_ = expected;
        return false;
    }
    [[nodiscard]] char peek() const { return at_ < body_.size() ? body_[at_] : '\0'; }
    void skip_space() { at_ = std::min(body_.find_first_not_of(" \t\n\r", at_), body_.size()); }
    bool take(char wanted) {
        const bool there = at_ < body_.size() && body_[at_] == wanted;
        at_ += there ? 1U : 0U;
        return there;
    }

    bool read_document() {
        for (skip_space(); read_value(); skip_space()) {
            if (open_.empty()) {
                skip_space();
                return at_ == body_.size() || fail("nothing behind the value");
            }
        }
        return false;
    }

    /// Reads a value, and the brackets and commas after it, up to the next value.
    bool read_value() {
        bool whole = true;
        if (peek() == '{' || peek() == '[') {
            if (open_.size() == JsonDocument::kLevelsMax) {
                return fail("at most 64 levels");
            }
            open_.push_back(body_[at_++]);
            skip_space();
            whole = take(closing());
            if (whole) {
                open_.pop_back();
            } else if (!begin_member()) {
                return false;
            }
        } else if (!read_scalar()) {
            return false;
        }
        return !whole || read_behind();
    }

    bool read_behind() {
        while (!open_.empty()) {
            skip_space();
            if (take(',')) {
                skip_space();
                return begin_member();
            }
            if (!take(closing())) {
                return fail(open_.back() == '{' ? ", or }" : ", or ]");
            }
            open_.pop_back();
        }
        return true;
    }

    bool begin_member() {
        if (open_.back() == '[') {
            return true;
        }
        if (peek() != '"') {
            return fail("a key in double quotes");
        }
        if (!read_string()) {
            return false;
        }
        skip_space();
        return take(':') || fail(":");
    }

    [[nodiscard]] char closing() const { return open_.back() == '{' ? '}' : ']'; }

    bool read_scalar() {
        for (const std::string_view word : {"true", "false", "null"}) {
            if (body_.substr(at_, word.size()) == word) {
                at_ += word.size();
                return true;
            }
        }
        if (peek() == '"') {
            return read_string();
        }
        return peek() == '-' || is_ascii_digit(peek()) ? read_number() : fail("a value");
    }

    bool read_string() {
        for (++at_; at_ < body_.size();) {
            const char c = body_[at_];
            if (c == '"') {
                ++at_;
                return true;
            }
            if (static_cast<unsigned char>(c) < 0x20) {
                return fail("no control character in a string (an escape such as \\n)");
            }
            const std::size_t size = utf8_bytes(body_.substr(at_));
            if (size == 0) {
                return fail("UTF-8");
            }
            if (c != '\\') {
                at_ += size;
            } else if (!read_escape()) {
                return false;
            }
        }
        return fail("the string's closing quote");
    }

    bool read_escape() {
        constexpr std::string_view kSimple = "\"\\/bfnrt";
        const std::size_t begin = at_;
        const char c = at_ + 1 < body_.size() ? body_[at_ + 1] : '\0';
        if (c != '\0' && kSimple.find(c) != std::string_view::npos) {
            at_ += 2;
            return true;
        }
        const long first = c == 'u' ? hex_at(at_ + 2) : -1;
        if (first < 0) {
            return fail("an escape that JSON knows");
        }
        at_ += 6;
        if (first < 0xD800 || first > 0xDFFF) {
            return true;
        }
        const bool pair = first <= 0xDBFF && body_.substr(at_, 2) == "\\u" &&
                          hex_at(at_ + 2) >= 0xDC00 && hex_at(at_ + 2) <= 0xDFFF;
        at_ = pair ? at_ + 6 : begin;
        return pair || fail("both halves of a surrogate pair");
    }

    [[nodiscard]] long hex_at(std::size_t at) const {
        const std::string_view digits = body_.substr(std::min(at, body_.size()), 4);
        unsigned value = 0;
        const char* const end = digits.data() + digits.size();
        const bool whole = std::from_chars(digits.data(), end, value, 16).ptr == end;
        return whole && digits.size() == 4 ? static_cast<long>(value) : -1;
    }

    bool read_digits() {
        if (!is_ascii_digit(peek())) {
            return fail("a digit");
        }
        while (is_ascii_digit(peek())) {
            ++at_;
        }
        return true;
    }

    bool read_number() {
        const std::size_t begin = at_;
        (void)take('-');
        if (take('0')) {
            if (is_ascii_digit(peek())) {
                return fail("no digit behind a leading 0");
            }
        } else if (!read_digits()) {
            return false;
        }
        const bool fraction = take('.');
        if (fraction && !read_digits()) {
            return false;
        }
        const bool exponent = take('e') || take('E');
        if (exponent && !take('+')) {
            (void)take('-');
        }
        if (exponent && !read_digits()) {
            return false;
        }
        if (in_range(std::string(body_.substr(begin, at_ - begin)), fraction || exponent)) {
            return true;
        }
        at_ = begin;
        return fail("a number within 64 bits, or as a string");
    }

    static bool in_range(const std::string& number, bool real) {
        if (real) {
            return std::isfinite(std::strtod(number.c_str(), nullptr));
        }
        constexpr std::string_view kMost = "18446744073709551615";
        constexpr std::string_view kLeast = "-9223372036854775808";
        const std::string_view bound = number.front() == '-' ? kLeast : kMost;
        return number.size() < bound.size() || (number.size() == bound.size() && number <= bound);
    }

    std::string_view body_;
    std::size_t at_ = 0;
    std::string_view expected_;
    std::vector<char> open_;  ///< Brackets.
};

/// Writes visible ASCII as it is, and anything else as \xNN.
std::string in_quotes(std::string_view bytes) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        if (c >= ' ' && c <= '~') {
            text += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        text += "\\x";
        text += kHex[byte >> 4U];
        text += kHex[byte & 15U];
    }
    return text;
}

struct Signature {
    std::string_view bytes;
    std::string_view name;
};

/// Describes a body that cannot be JSON by its first bytes.
std::string_view name_of_other(std::string_view body) noexcept {
    static constexpr std::array<Signature, 10> kSignatures{{
        {"\xef\xbb\xbf", "it begins with a byte order mark: send UTF-8 without it"},
        {"\xff\xfe", "it is UTF-16: send UTF-8"},
        {"\xfe\xff", "it is UTF-16: send UTF-8"},
        {"\x1f\x8b", "it is compressed with gzip: send it as it is"},
        {"\x28\xb5\x2f\xfd", "it is compressed with zstd: send it as it is"},
        {"\x78\x01", "it is compressed with zlib: send it as it is"},
        {"\x78\x9c", "it is compressed with zlib: send it as it is"},
        {"\x78\xda", "it is compressed with zlib: send it as it is"},
        {"%7B", "it is URL-encoded: send it as it is"},
        {"eyJ", "it is base64: send it as it is"},
    }};
    for (const Signature& known : kSignatures) {
        if (body.starts_with(known.bytes)) {
            return known.name;
        }
    }
    const bool utf16 = body.size() > 1 && (body[0] == '\0') != (body[1] == '\0');
    const std::size_t name = body.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
    const bool form = name != 0 && name != std::string_view::npos && body[name] == '=';
    return utf16  ? "it is UTF-16: send UTF-8"
           : form ? "it is a form: send the JSON alone as the body"
                  : std::string_view();
}

std::string place_of(std::string_view body, std::size_t at) {
    const std::string_view before = body.substr(0, at);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto column =
        1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(begin), before.end(),
                          [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view body) {
    return FaultFinder(body).find();
}

std::string explain_json_error(std::string_view error, std::string_view body) {
    std::string text(error);
    if (const std::string_view other = name_of_other(body); !other.empty()) {
        return text.append(": ").append(other);
    }
    const std::optional<JsonFault> fault = find_json_fault(body);
    if (!fault || body.empty()) {
        return text;
    }
    const std::size_t begin = fault->at - std::min(fault->at, kQuotedMax);
    text.append(", ").append(place_of(body, fault->at)).append(": expected ");
    text.append(fault->expected);
    if (fault->at > begin) {
        text.append(", but after ").append(in_quotes(body.substr(begin, fault->at - begin)));
    } else {
        text.append(", but there");
    }
    if (fault->at >= body.size()) {
        return text.append(" the body ends");
    }
    text.append(" comes ").append(in_quotes(body.substr(fault->at, kQuotedMax)));
    const auto byte = static_cast<unsigned char>(body[fault->at]);
    return fault->expected == "UTF-8" && byte >= 0xA0
               ? text.append(" (is it Latin-1 or Windows-1252?)")
               : text;
}

}  // namespace sluice
