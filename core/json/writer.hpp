// JsonWriter: appends JSON to a string, with correct commas and escapes.
//
// The caller opens and closes in order; the writer does not check it, but the tests of its users
// do. Strings are written as JsonEscapes::kStored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Which characters of a JSON string are written as escapes. A byte that is not of UTF-8 is written
/// as U+FFFD, except by kStored.
enum class JsonEscapes : std::uint8_t {
    kNeeded,    ///< Quotes, backslashes and control characters.
    kUnseen,    ///< As kNeeded, and what a terminal obeys or does not show (is_unseen()).
    kNonAscii,  ///< As kNeeded, and every character beyond ASCII.
    /// As kUnseen, and `<`, so that a page may contain the text. Control characters have numbers,
    /// not letters: stored inputs were hashed so.
    kStored,
};
/// Appends a JSON string, in its quotes.
void append_json_string(std::string& out, std::string_view text, JsonEscapes escapes);
/// Returns a JSON string, in its quotes.
[[nodiscard]] std::string json_quoted(std::string_view text,
                                      JsonEscapes escapes = JsonEscapes::kUnseen);

class JsonWriter {
public:
    explicit JsonWriter(std::string& out) noexcept : out_(out) {}

    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }
    JsonWriter& key(std::string_view name);

    JsonWriter& value(std::string_view text);
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(std::uint64_t number);
    JsonWriter& value(std::int64_t number);
    JsonWriter& value(std::uint32_t number) { return value(std::uint64_t{number}); }
    JsonWriter& value(bool flag) { return raw(flag ? "true" : "false"); }
    /// Writes up to 9 digits after the point, without trailing zeros or an exponent, or null for a
    /// number that is not finite.
    JsonWriter& value(double number);
    JsonWriter& null() { return raw("null"); }
    /// Writes a value that is JSON already.
    JsonWriter& raw(std::string_view json);

    template <class T>
    JsonWriter& field(std::string_view name, const T& content) {
        return key(name).value(content);
    }

private:
    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    void separate();

    std::string& out_;
    bool comma_ = false;
};

/// Appends the decimal text of a number: the integer, or up to 9 digits after the point.
void append_number(std::string& out, double number);

}  // namespace sluice
