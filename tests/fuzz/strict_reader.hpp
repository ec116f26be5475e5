// A second reader of JSON, written from the protocol alone: a plain tree that keeps repeated names.
// Slow, recursive and simple; shares nothing with the service's own reader.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::fuzz {

struct Value {
    enum class Kind : std::uint8_t { kNull, kBoolean, kInteger, kReal, kString, kArray, kObject };
    Kind kind = Kind::kNull;
    std::string text;                ///< Content of a string.
    std::vector<std::string> names;  ///< Names of an object's members, one per item.
    std::vector<Value> items;

    [[nodiscard]] bool is(Kind wanted) const { return kind == wanted; }
    [[nodiscard]] std::vector<const Value*> all(std::string_view name) const {
        std::vector<const Value*> found;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i] == name) {
                found.push_back(&items[i]);
            }
        }
        return found;
    }
};

class StrictReader {
public:
    static constexpr int kLevelsMax = 64;

    explicit StrictReader(std::string_view text) : text_(text) {}

    /// Returns nothing if the text is not JSON as the protocol requires.
    std::optional<Value> read() {
        Value value;
        const bool good = read_value(value, 1);
        skip_blanks();
        return good && at_ == text_.size() ? std::optional(std::move(value)) : std::nullopt;
    }

private:
    using Kind = Value::Kind;

    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_blanks() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) {
            ++at_;
        }
    }
    bool take(std::string_view word) {
        const bool there = text_.substr(at_, word.size()) == word;
        at_ += there ? word.size() : 0;
        return there;
    }

    bool read_value(Value& value, int level) {
        skip_blanks();
        switch (peek()) {
            case '{':
                value.kind = Kind::kObject;
                return level <= kLevelsMax && read_members(value, level);
            case '[':
                value.kind = Kind::kArray;
                return level <= kLevelsMax && read_items(value, level);
            case '"':
                value.kind = Kind::kString;
                return read_string(value.text);
            case 'n':
                return take("null");
            case 't':
                value.kind = Kind::kBoolean;
                return take("true");
            case 'f':
                value.kind = Kind::kBoolean;
                return take("false");
            default:
                return read_number(value);
        }
    }

    bool read_members(Value& value, int level) {
        ++at_;
        skip_blanks();
        if (take("}")) {
            return true;
        }
        for (;;) {
            skip_blanks();
            if (peek() != '"' || !read_string(value.names.emplace_back())) {
                return false;
            }
            skip_blanks();
            if (!take(":") || !read_value(value.items.emplace_back(), level + 1)) {
                return false;
            }
            skip_blanks();
            if (take("}")) {
                return true;
            }
            if (!take(",")) {
                return false;
            }
        }
    }

    bool read_items(Value& value, int level) {
        ++at_;
        skip_blanks();
        if (take("]")) {
            return true;
        }
        for (;;) {
            if (!read_value(value.items.emplace_back(), level + 1)) {
                return false;
            }
            skip_blanks();
            if (take("]")) {
                return true;
            }
            if (!take(",")) {
                return false;
            }
        }
    }

    bool read_string(std::string& out) {
        ++at_;
        while (at_ < text_.size()) {
            const auto byte = static_cast<unsigned char>(text_[at_]);
            if (byte == '"') {
                ++at_;
                return true;
            }
            if (byte < 0x20 || !(byte == '\\' ? read_escape(out) : read_utf8(out))) {
                return false;
            }
        }
        return false;
    }

    bool read_utf8(std::string& out) {
        const auto byte = static_cast<unsigned char>(text_[at_]);
        const std::size_t count = byte < 0x80             ? 1
                                  : (byte & 0xe0) == 0xc0 ? 2
                                  : (byte & 0xf0) == 0xe0 ? 3
                                  : (byte & 0xf8) == 0xf0 ? 4
                                                          : 0;
        if (count == 0 || at_ + count > text_.size()) {
            return false;
        }
        static constexpr std::uint32_t kFirstMask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
        static constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
        std::uint32_t code = byte & kFirstMask[count];
        for (std::size_t i = 1; i < count; ++i) {
            const auto next = static_cast<unsigned char>(text_[at_ + i]);
            if ((next & 0xc0) != 0x80) {
                return false;
            }
            code = code << 6 | (next & 0x3fU);
        }
        out.append(text_.substr(at_, count));
        at_ += count;
        return code >= kLeast[count] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    }

    bool read_escape(std::string& out) {
        static constexpr std::string_view kNames = "\"\\/bfnrt";
        static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
        ++at_;
        const std::size_t plain = at_ < text_.size() ? kNames.find(text_[at_]) : kNames.npos;
        if (plain != kNames.npos) {
            out.push_back(kMeanings[plain]);
            ++at_;
            return true;
        }
        std::uint32_t code = 0;
        if (!read_unit(code) || (code >= 0xdc00 && code <= 0xdfff)) {
            return false;
        }
        if (code >= 0xd800 && code <= 0xdbff) {
            std::uint32_t low = 0;
            if (!take("\\") || !read_unit(low) || low < 0xdc00 || low > 0xdfff) {
                return false;
            }
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        append_utf8(out, code);
        return true;
    }

    bool read_unit(std::uint32_t& code) {
        if (!take("u") || at_ + 4 > text_.size()) {
            return false;
        }
        code = 0;
        for (const std::size_t end = at_ + 4; at_ < end; ++at_) {
            static constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
            const std::size_t digit = kDigits.find(text_[at_]);
            if (digit == kDigits.npos) {
                return false;
            }
            code = code << 4 | static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
        }
        return true;
    }

    static void append_utf8(std::string& out, std::uint32_t code) {
        const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
        if (code < 0x80) {
            return put(code);
        }
        if (code < 0x800) {
            put(0xc0 | code >> 6);
        } else {
            if (code < 0x10000) {
                put(0xe0 | code >> 12);
            } else {
                put(0xf0 | code >> 18);
                put(0x80 | (code >> 12 & 0x3f));
            }
            put(0x80 | (code >> 6 & 0x3f));
        }
        put(0x80 | (code & 0x3f));
    }

    std::size_t take_digits() {
        const std::size_t start = at_;
        while (peek() >= '0' && peek() <= '9') {
            ++at_;
        }
        return at_ - start;
    }

    bool read_number(Value& value) {
        const std::size_t start = at_;
        const bool negative = take("-");
        const bool zero_first = peek() == '0';
        const std::size_t digits = take_digits();
        if (digits == 0 || (zero_first && digits > 1)) {
            return false;
        }
        value.kind = Kind::kInteger;
        if (take(".")) {
            value.kind = Kind::kReal;
            if (take_digits() == 0) {
                return false;
            }
        }
        if (take("e") || take("E")) {
            value.kind = Kind::kReal;
            static_cast<void>(take("+") || take("-"));
            if (take_digits() == 0) {
                return false;
            }
        }
        const std::string number(text_.substr(start, at_ - start));
        return value.is(Kind::kReal) ? std::isfinite(std::strtod(number.c_str(), nullptr))
                                     : fits_64_bits(number.substr(negative ? 1 : 0), negative);
    }

    static bool fits_64_bits(const std::string& digits, bool negative) {
        const std::string most = negative ? "9223372036854775808" : "18446744073709551615";
        return digits.size() < most.size() || (digits.size() == most.size() && digits <= most);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace sluice::fuzz
