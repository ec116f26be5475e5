#include "pg_store/rows/list_text.hpp"

#include <algorithm>

#include "core/protocol/signature.hpp"
#include "pg_store/rows/packed_rows.hpp"

namespace sluice::pg {
namespace {

constexpr char kSeparator = '\x1f';
constexpr char kMissing = '\x1a';
constexpr char kEscape = '\x1b';

/// The letter that follows kEscape, and the character that both mean.
struct Escaped {
    char letter, meant;
};
constexpr std::array<Escaped, 3> kEscaped{{{'s', kSeparator}, {'n', kMissing}, {'e', kEscape}}};

bool is_special(char c) noexcept {
    return c == kSeparator || c == kMissing || c == kEscape;
}

/// Returns an element as it was added.
ListValue value_of(std::string_view element) {
    if (element.size() == 1 && element.front() == kMissing) {
        return {};
    }
    std::string text;
    text.reserve(element.size());
    for (std::size_t i = 0; i < element.size(); ++i) {
        if (!is_special(element[i])) {
            text.push_back(element[i]);
            continue;
        }
        const char letter = ++i < element.size() ? element[i] : '\0';
        const auto* const known = std::ranges::find_if(
            kEscaped, [letter](const Escaped& escaped) { return escaped.letter == letter; });
        if (element[i - 1] != kEscape || known == kEscaped.end()) {
            throw_damaged("a list has a control character that means nothing");
        }
        text.push_back(known->meant);
    }
    return ListValue(std::move(text));
}

/// Returns the number of digits at the front.
std::size_t digits_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::find_if(text, [](char c) { return c < '0' || c > '9'; }) - text.begin());
}

[[noreturn]] void throw_no_number(const std::string& text) {
    throw_damaged("\"" + text + "\" is no number");
}

/// The value of hexadecimal digits as to_hex() writes them.
std::string from_hex(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        unsigned byte = 0;
        const auto end = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16).ptr;
        if (end != text.data() + i + 2) {
            break;
        }
        bytes.push_back(static_cast<char>(byte));
    }
    return bytes;
}

std::string hex_of(std::string_view bytes) {
    return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

// ---- Writing ------------------------------------------------------------------------------------

/// Returns the text for the next value.
std::string& ListText::begin() {
    if (std::exchange(is_begun_, true)) {
        text_.push_back(kSeparator);
    }
    return text_;
}

void ListText::add_missing() {
    begin().push_back(kMissing);
}

void ListText::add(std::string_view text) {
    std::string& to = begin();
    if (std::ranges::none_of(text, is_special)) {
        to.append(text);
        return;
    }
    for (const char c : text) {
        const auto* const special = std::ranges::find_if(
            kEscaped, [c](const Escaped& escaped) { return escaped.meant == c; });
        if (special == kEscaped.end()) {
            to.push_back(c);
        } else {
            to.append({kEscape, special->letter});
        }
    }
}

void ListText::add(const Decimal& value) {
    begin().append(value.to_string());
}

void ListText::add(const std::vector<Candidate>& packed) {
    begin().append(hex_of(pack_candidates(packed)));
}

// ---- Reading ------------------------------------------------------------------------------------

std::vector<ListValue> list_values(const Field& field) {
    std::vector<ListValue> values;
    if (!field) {
        return values;
    }
    values.reserve(static_cast<std::size_t>(std::ranges::count(*field, kSeparator)) + 1);
    for (std::string_view rest = *field;;) {
        const std::size_t end = rest.find(kSeparator);
        values.push_back(value_of(rest.substr(0, end)));
        if (end == std::string_view::npos) {
            return values;
        }
        rest.remove_prefix(end + 1);
    }
}

const std::string& ListValue::present() const {
    if (!text_) {
        throw_damaged("a value of a list is missing");
    }
    return *text_;
}

/// Digits without zeros in front, and '-' before a number below 0.
std::int64_t ListValue::integer(std::int64_t least, std::int64_t most) const {
    const std::string& text = present();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || std::to_string(value) != text) {
        throw_no_number(text);
    }
    if (value < least || value > most) {
        throw_damaged("a number is " + text);
    }
    return value;
}

void ListValue::read(bool& value) const {
    const std::string& text = present();
    if (text != "t" && text != "f") {
        throw_damaged("\"" + text + "\" is no truth value");
    }
    value = text == "t";
}

void ListValue::read(Decimal& value) const {
    constexpr std::size_t kDigitsMax = 37;  // as many as 128 bits hold, whatever they are
    const std::string& text = present();
    const bool is_negative = text.starts_with('-');
    const std::string_view digits = std::string_view(text).substr(is_negative ? 1 : 0);
    const std::size_t whole = digits_of(digits);
    const std::string_view rest = digits.substr(whole);
    const std::size_t scale = rest.empty() ? 0 : digits_of(rest.substr(1));
    const bool is_plain =
        whole != 0 && (whole == 1 || digits.front() != '0') &&
        (rest.empty() || (rest.front() == '.' && scale + 1 == rest.size() && scale != 0));
    if (!is_plain || whole + scale > kDigitsMax) {
        throw_no_number(text);
    }
    Int128 unscaled = 0;
    for (const char c : digits) {
        unscaled = c == '.' ? unscaled : unscaled * 10 + (c - '0');
    }
    value = Decimal(is_negative ? -unscaled : unscaled, static_cast<std::uint8_t>(scale));
    if (!is_valid(value)) {
        throw_damaged("an amount has too many digits");
    }
    if (is_negative && unscaled == 0) {
        throw_no_number(text);
    }
}

void ListValue::read(std::vector<Candidate>& packed) const {
    const std::string bytes = from_hex(present());
    if (hex_of(bytes) != present()) {
        throw_damaged("packed bytes are not hexadecimal");
    }
    packed = unpack_candidates(bytes);
}

}  // namespace sluice::pg
