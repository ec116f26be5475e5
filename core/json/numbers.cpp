#include "core/json/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

#include "core/json/slices.hpp"

namespace sluice {
namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Reads a number's text from the left.
class NumberScan {
public:
    explicit NumberScan(std::string_view text) : text_(text) {}

    [[nodiscard]] std::size_t at() const noexcept { return at_; }
    [[nodiscard]] char next() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool skip(std::string_view any_of) noexcept {
        const bool found = at_ < text_.size() && any_of.find(text_[at_]) != std::string_view::npos;
        at_ += found ? 1U : 0U;
        return found;
    }
    /// Returns whether there is a digit.
    bool skip_digits() noexcept {
        const std::size_t begin = at_;
        while (is_digit(next())) {
            ++at_;
        }
        return at_ > begin;
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
};

/// Returns the length of the number at the begin of the text, or 0 if there is none.
std::size_t number_bytes(std::string_view text) noexcept {
    NumberScan scan(text);
    scan.skip("-");
    if (!scan.skip("0") && !scan.skip_digits()) {
        return 0;
    }
    if (scan.skip(".") && !scan.skip_digits()) {
        return 0;
    }
    if (scan.skip("eE")) {
        scan.skip("+-");
        if (!scan.skip_digits()) {
            return 0;
        }
    }
    const char after = scan.next();
    const bool is_end = after == '\0' || after == ',' || after == ']' || after == '}';
    return is_end || is_json_space(after) ? scan.at() : 0;
}

/// Returns the offset after the string whose first quote is at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) noexcept {
    for (++at; at < json.size() && json[at] != '"'; ++at) {
        at += json[at] == '\\' ? 1U : 0U;
    }
    return at + 1;
}

/// Returns the text with 0 in the place of each number. Spaces fill the rest of a number, so every
/// token keeps its offset. A malformed number stays as it is.
std::string with_zeros_for_numbers(std::string_view json) {
    std::string text(json);
    for (std::size_t at = 0; at < json.size();) {
        const char c = json[at];
        if (c == '"') {
            at = end_of_string(json, at);
            continue;
        }
        if (c != '-' && !is_digit(c)) {
            ++at;
            continue;
        }
        // A malformed number is skipped as a whole, so that no part of it becomes a number.
        const std::size_t bytes = number_bytes(json.substr(at));
        if (bytes > 0) {
            text.replace(at, bytes, bytes, ' ');
            text[at] = '0';
        }
        const std::size_t end = json.find_first_of(" \t\n\r,]}\"", at);
        at = end == std::string_view::npos ? json.size() : end;
    }
    return text;
}

}  // namespace

ParsedNumbers parse_any_numbers(JsonDocument& document, std::string_view json) {
    if (document.parse(json)) {
        return ParsedNumbers::kMachine;
    }
    const std::string with_zeros = with_zeros_for_numbers(json);
    return with_zeros != json && document.parse(with_zeros) ? ParsedNumbers::kWide
                                                            : ParsedNumbers::kNone;
}

bool is_machine_number(std::string_view digits) noexcept {
    const char* const begin = digits.data();
    const char* const end = begin + digits.size();
    if (digits.find_first_of(".eE") == std::string_view::npos) {
        std::int64_t below = 0;
        std::uint64_t above = 0;
        return std::from_chars(begin, end, below).ec == std::errc() ||
               std::from_chars(begin, end, above).ec == std::errc();
    }
    double value = 0;
    return std::from_chars(begin, end, value).ec == std::errc();
}

}  // namespace sluice
