#include "core/protocol/field_reader.hpp"

#include <algorithm>
#include <cstring>

#include "core/values/ids.hpp"

namespace sluice {
namespace {

using simdjson::dom::element;

constexpr std::string_view kRequired = "is required";
constexpr std::string_view kRepeated = "appears more than once";
constexpr std::string_view kNul = "must not contain U+0000";
constexpr std::string_view kId = "must be a string of 1 to 1024 bytes";
constexpr std::string_view kAdminId = "must be a string of 1 to 128 of A-Z a-z 0-9 . _ - : @ + / =";
static_assert(kAdminId.ends_with(kAdminIdForm));
constexpr std::string_view kLinkId =
    "must be a string of 1 to 64 of A-Z a-z 0-9 . _ ~ -, but not . or ..";
constexpr std::string_view kText = "must be a string";
constexpr std::string_view kNonEmptyText = "must be a non-empty string";
constexpr std::string_view kTimestamp =
    "must be an RFC 3339 timestamp such as \"2024-01-31T12:00:00Z\", with 0 to 9 fraction digits";
constexpr std::string_view kDecimal =
    "must be a decimal string such as \"12.50\": at most 15 digits before and 6 after the point, "
    "no sign";
constexpr std::string_view kQuantityFrom0 =
    "must be a whole number of 0 or more as a string of 1 to 9 digits";
constexpr std::string_view kQuantityFrom1 =
    "must be a whole number of 1 or more as a string of 1 to 9 digits";
constexpr std::string_view kCurrency = "must be an ISO 4217 currency code such as \"USD\"";
constexpr std::string_view kArray = "must be an array";

/// Compares without memcmp, because a call takes longer than comparing such short names.
bool is_equal(std::string_view a, std::string_view b) noexcept {
    const auto word = [](std::string_view text, std::size_t at) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text.data() + at, sizeof(bytes));
        return bytes;
    };
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    if (a.size() != b.size() || a.size() < kWord) {
        return a == b;
    }
    const std::size_t last = a.size() - kWord;  // the last word overlaps the one before it
    for (std::size_t at = 0; at < last; at += kWord) {
        if (word(a, at) != word(b, at)) {
            return false;
        }
    }
    return word(a, last) == word(b, last);
}

}  // namespace

void FieldErrors::begin(bool has_nuls) noexcept {
    errors_.clear();
    nuls_found_ = 0;
    has_nuls_ = has_nuls;
}

bool FieldErrors::has_nul(std::string_view text) noexcept {
    if (!has_nuls_) {
        return false;
    }
    const auto found = std::ranges::count(text, '\0');
    nuls_found_ += static_cast<std::size_t>(found);
    return found > 0;
}

void FieldErrors::add(ObjectPlace place, std::string_view name, FieldErrorCode code,
                      std::string_view message) {
    if (full()) {
        return;
    }
    std::string field(place.list);
    if (!field.empty()) {
        field += '[' + std::to_string(place.index) + ']';
        field += name.empty() ? "" : ".";
    }
    field += name;
    errors_.push_back({std::move(field), code, std::string(message), 0});
}

void FieldReader::collect(const simdjson::dom::object& object) noexcept {
    const auto end = object.end();
    for (auto at = object.begin(); at != end; ++at) {
        const std::string_view key = at.key();
        std::size_t field = fields_.candidate(key);
        if (field >= fields_.size() || !is_equal(fields_.name(field), key)) {
            if (extra_name_.empty() || key != extra_name_) {
                continue;
            }
            field = fields_.size();
        }
        const std::uint32_t bit = 1U << field;
        repeated_ |= present_ & bit;
        present_ |= bit;
        values_[field].value = at.value();
    }
}

void FieldReader::report_unreadable(std::size_t field, Need need) {
    if ((repeated_ & 1U << field) != 0) {
        invalid(field, kRepeated);
    } else if (need == Need::kRequired) {
        findings_.add(place_, name(field), FieldErrorCode::kRequired, kRequired);
    }
}

bool FieldReader::string_value(std::size_t field, Need need, std::string_view message,
                               std::string_view& out) {
    const element* value = find(field, need);
    if (value == nullptr) {
        return false;
    }
    if (value->get_string().get(out) != simdjson::SUCCESS) {
        invalid(field, message);
        return false;
    }
    if (findings_.has_nul(out)) {
        invalid(field, kNul);
        return false;
    }
    return true;
}

template <class Value, class Parse>
bool FieldReader::parsed(std::size_t field, Need need, std::string_view message, Value& out,
                         Parse parse) {
    std::string_view text;
    if (!string_value(field, need, message, text)) {
        return false;
    }
    const std::optional<Value> value = parse(text);
    if (!value) {
        invalid(field, message);
        return false;
    }
    out = *value;
    return true;
}

bool FieldReader::id(std::size_t field, Need need, std::string_view& out) {
    return parsed(field, need, kId, out, [](std::string_view text) {
        const bool fits = !text.empty() && text.size() <= kWireIdBytesMax;
        return fits ? std::optional(text) : std::nullopt;
    });
}

bool FieldReader::admin_id(std::size_t field, Need need, std::string_view& out) {
    return parsed(field, need, kAdminId, out, [](std::string_view text) {
        return is_admin_id(text) ? std::optional(text) : std::nullopt;
    });
}

bool FieldReader::link_id(std::size_t field, Need need, std::string_view& out) {
    return parsed(field, need, kLinkId, out, [](std::string_view text) {
        return is_link_id(text) ? std::optional(text) : std::nullopt;
    });
}

bool FieldReader::text(std::size_t field, Need need, std::string_view& out) {
    return string_value(field, need, kText, out);
}

bool FieldReader::non_empty_text(std::size_t field, Need need, std::string_view& out) {
    return parsed(field, need, kNonEmptyText, out, [](std::string_view text) {
        return text.empty() ? std::nullopt : std::optional(text);
    });
}

bool FieldReader::timestamp(std::size_t field, Need need, Timestamp& out) {
    return parsed(field, need, kTimestamp, out, Timestamp::parse);
}

bool FieldReader::decimal(std::size_t field, Need need, SentDecimal& out) {
    return parsed(field, need, kDecimal, out, [](std::string_view text) {
        const std::optional<Decimal> value = Decimal::parse(text);
        return value ? std::optional(SentDecimal{*value, text}) : std::nullopt;
    });
}

bool FieldReader::quantity(std::size_t field, std::uint32_t lowest, std::uint32_t& out) {
    const std::string_view message = lowest == 0 ? kQuantityFrom0 : kQuantityFrom1;
    return parsed(field, Need::kRequired, message, out, [lowest](std::string_view text) {
        std::uint32_t value = 0;
        bool right = !text.empty() && text.size() <= kQuantityDigits;
        for (std::size_t i = 0; right && i < text.size(); ++i) {
            const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
            right = digit <= 9;
            value = value * 10 + digit;
        }
        return right && value >= lowest ? std::optional(value) : std::nullopt;
    });
}

bool FieldReader::currency(std::size_t field, Currency& out) {
    return parsed(field, Need::kRequired, kCurrency, out, Currency::parse);
}

bool FieldReader::array(std::size_t field, Need need, simdjson::dom::array& out) {
    const element* value = find(field, need);
    if (value == nullptr) {
        return false;
    }
    if (value->get_array().get(out) != simdjson::SUCCESS) {
        invalid(field, kArray);
        return false;
    }
    return true;
}

bool FieldReader::word(std::size_t field, std::span<const std::string_view> words,
                       std::size_t& out) {
    std::string_view text;
    if (!string_value(field, Need::kRequired, kText, text)) {
        return false;
    }
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) {
        std::string message = "must be ";
        for (std::size_t i = 0; i < words.size(); ++i) {
            message.append(i == 0 ? "\"" : " or \"").append(words[i]).append("\"");
        }
        invalid(field, message);
        return false;
    }
    out = static_cast<std::size_t>(found - words.begin());
    return true;
}

void FieldReader::invalid(std::size_t field, std::string_view message) {
    findings_.add(place_, name(field), FieldErrorCode::kInvalidFormat, message);
}

std::string_view FieldReader::name(std::size_t field) const noexcept {
    return field < fields_.size() ? fields_.name(field) : extra_name_;
}

}  // namespace sluice
