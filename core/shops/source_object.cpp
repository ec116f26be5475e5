#include "core/shops/source_object.hpp"

#include <bit>

#include "core/json/numbers.hpp"
#include "core/values/ids.hpp"

namespace sluice {
namespace {

constexpr std::string_view kMustBeText = "must be a string";
constexpr std::string_view kMustBeId = "must be a whole number or a string of 1 to 1024 bytes";
constexpr std::string_view kMustBeTime = "must be a time such as \"2026-01-31T12:00:00+01:00\"";
constexpr std::string_view kMustBeWhole = "must be a whole number from 0 to 999,999,999";
constexpr std::string_view kMustBeAmount =
    "must be an amount such as \"12.50\", below 1,000,000,000,000,000";

constexpr FieldNames kMonies("shop_money", "presentment_money");
constexpr FieldNames kMoney("amount");

}  // namespace

SourceObject::SourceObject(const FieldNames& fields, const JsonValue& object,
                           const FieldPlace& place, SourceReading& reading)
    : fields_(fields), place_(place), reading_(reading) {
    for (JsonChildren members(object); !members.at_end(); members.step()) {
        const std::string_view key = members.key();
        const std::size_t field = fields_.candidate(key);
        if (field >= fields_.size() || fields_.name(field) != key) {
            continue;
        }
        const std::uint32_t bit = 1U << field;
        repeated_ |= present_ & bit;
        present_ |= bit;
        values_[field].value = members.value();
    }
}

const JsonValue* SourceObject::peek(std::size_t field) const noexcept {
    const bool is_there = (present_ & ~repeated_ & 1U << field) != 0;
    return is_there && !values_[field].value.is_null() ? &values_[field].value : nullptr;
}

const JsonValue* SourceObject::find(std::size_t field, Need need) {
    const JsonValue* value = peek(field);
    if (value == nullptr && (repeated_ & 1U << field) != 0) {
        invalid(field, "appears more than once");
    } else if (value == nullptr && need == Need::kRequired) {
        add_fault(place_, fields_.name(field), FieldErrorCode::kRequired, "is required");
    }
    return value;
}

const JsonValue* SourceObject::array(std::size_t field, Need need) {
    const JsonValue* value = find(field, need);
    if (value != nullptr && !value->is_array()) {
        invalid(field, "must be an array");
        return nullptr;
    }
    return value;
}

std::optional<std::string_view> SourceObject::scalar(std::size_t field, const JsonValue& value,
                                                     Seen seen, std::string_view message) {
    if (!value.is_string() && !value.is_number()) {
        invalid(field, message);
        return std::nullopt;
    }
    const std::string_view found = value.is_string() ? value.text() : value.raw();
    if (reading_.has_nuls && found.find('\0') != std::string_view::npos) {
        invalid(field, "must not contain U+0000");
        return std::nullopt;
    }
    if (seen == Seen::kCopied) {
        copy(field, value);
    }
    return found;
}

std::optional<std::string_view> SourceObject::string(std::size_t field, Need need, Seen seen) {
    const JsonValue* value = find(field, need);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_string()) {
        invalid(field, kMustBeText);
        return std::nullopt;
    }
    return scalar(field, *value, seen, kMustBeText);
}

std::string_view SourceObject::text(std::size_t field, Need need, Seen seen) {
    return string(field, need, seen).value_or(std::string_view());
}

std::string_view SourceObject::id(std::size_t field, Need need, Seen seen) {
    const JsonValue* value = find(field, need);
    if (value == nullptr) {
        return {};
    }
    const auto found = scalar(field, *value, seen, kMustBeId);
    if (!found) {
        return {};
    }
    const bool is_whole = found->find_first_of(".eE") == std::string_view::npos;
    if (found->empty() && need == Need::kOptional) {
        return {};
    }
    if (found->empty() || found->size() > kWireIdBytesMax || (value->is_number() && !is_whole)) {
        invalid(field, kMustBeId);
        return {};
    }
    return *found;
}

std::optional<Timestamp> SourceObject::time(std::size_t field, Need need) {
    const auto text = string(field, need, Seen::kCopied);
    if (!text) {
        return std::nullopt;
    }
    const auto time = Timestamp::parse(*text);
    if (!time) {
        invalid(field, kMustBeTime);
    }
    return time;
}

std::optional<Currency> SourceObject::currency(std::size_t field, Need need) {
    const auto text = string(field, need, Seen::kCopied);
    if (!text) {
        return std::nullopt;
    }
    const auto currency = Currency::parse(*text);
    if (!currency) {
        invalid(field, "must be an ISO 4217 currency code such as \"USD\"");
    }
    return currency;
}

std::optional<bool> SourceObject::flag(std::size_t field, Need need) {
    const JsonValue* value = find(field, need);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_flag()) {
        invalid(field, "must be true or false");
        return std::nullopt;
    }
    copy(field, *value);
    return value->raw() == "true";
}

std::optional<Decimal> SourceObject::amount_of(std::size_t field, const JsonValue& value,
                                               Seen seen) {
    const auto text = scalar(field, value, seen, kMustBeAmount);
    if (!text) {
        return std::nullopt;
    }
    const auto amount = parse_platform_amount(*text);
    if (!amount) {
        invalid(field, kMustBeAmount);
    }
    return amount;
}

Decimal SourceObject::amount(std::size_t field, Need need, Seen seen) {
    const JsonValue* value = find(field, need);
    if (value == nullptr) {
        return kNoAmount;
    }
    if (value->raw() == "\"\"" && need == Need::kOptional) {
        return kNoAmount;
    }
    return amount_of(field, *value, seen).value_or(kNoAmount);
}

std::uint32_t SourceObject::whole(std::size_t field, Need need, std::uint32_t end) {
    const JsonValue* value = find(field, need);
    if (value == nullptr) {
        return 0;
    }
    const auto text = scalar(field, *value, Seen::kCopied, kMustBeWhole);
    if (!text) {
        return 0;
    }
    const auto amount = parse_platform_amount(*text);
    const bool is_whole = amount && amount->unscaled() % kAmountOne == 0;
    if (!is_whole || amount->is_negative() || amount->unscaled() / kAmountOne >= end) {
        invalid(field, kMustBeWhole);
        return 0;
    }
    return static_cast<std::uint32_t>(amount->unscaled() / kAmountOne);
}

std::string_view SourceObject::loose_text(std::size_t field) const {
    const JsonValue* value = peek(field);
    return value != nullptr && value->is_string() ? value->text() : std::string_view();
}

std::vector<std::string_view> SourceObject::ids(std::size_t field) const {
    std::vector<std::string_view> found;
    const JsonValue* list = peek(field);
    if (list == nullptr || !list->is_array()) {
        return found;
    }
    for (JsonChildren children(*list); !children.at_end(); children.step()) {
        const JsonValue child = children.value();
        const std::string_view id = child.is_string()   ? child.text()
                                    : child.is_number() ? child.raw()
                                                        : std::string_view();
        if (!id.empty() && id.size() <= kWireIdBytesMax &&
            id.find('\0') == std::string_view::npos) {
            found.push_back(id);
        }
    }
    return found;
}

Decimal SourceObject::money(std::size_t field, Need need) {
    const std::size_t set_field = field + 1;
    const JsonValue* set = find(set_field, Need::kOptional);
    if (set == nullptr) {
        return amount(field, need);
    }
    if (!set->is_object()) {
        invalid(set_field, "must be an object");
        return kNoAmount;
    }
    const std::size_t chosen =
        reading_.money == ShopMoney::kShop ? kMonies["shop_money"] : kMonies["presentment_money"];
    const FieldPlace set_place{&place_, fields_.name(set_field)};
    SourceObject monies(kMonies, *set, set_place, reading_);
    const JsonValue* money = monies.find(chosen, need);
    if (money == nullptr) {
        return kNoAmount;
    }
    if (!money->is_object()) {
        monies.invalid(chosen, "must be an object");
        return kNoAmount;
    }
    const FieldPlace money_place{&set_place, kMonies.name(chosen)};
    SourceObject inner(kMoney, *money, money_place, reading_);
    reading_.seen.key(fields_.name(set_field)).begin_object();
    reading_.seen.key(kMonies.name(chosen)).begin_object();
    const Decimal found = inner.amount(0, need);
    reading_.seen.end_object().end_object();
    return found;
}

void SourceObject::invalid(std::size_t field, std::string_view message) {
    add_fault(place_, fields_.name(field), FieldErrorCode::kInvalidFormat, message);
}

/// The worker reads `seen` as a document, so a number that is too large for one becomes a string.
void SourceObject::copy(std::size_t field, const JsonValue& value) {
    const std::string_view text = value.raw();
    reading_.seen.key(fields_.name(field));
    if (reading_.has_wide_numbers && value.is_number() && !is_machine_number(text)) {
        reading_.seen.value(text);
    } else {
        reading_.seen.raw(text);
    }
}

void SourceObject::refuse_all_but(std::size_t id, std::string_view message) {
    const std::uint32_t others = present_ & ~(1U << id);
    if (others != 0) {
        invalid(static_cast<std::size_t>(std::countr_zero(others)), message);
    }
}

void SourceObject::add_fault(const FieldPlace& place, std::string_view name, FieldErrorCode code,
                             std::string_view message) {
    if (reading_.faults.size() >= SourceReading::kFaultsMax) {
        return;
    }
    reading_.faults.push_back({FieldPlace{&place, name}.text(), code, std::string(message), 0});
}

}  // namespace sluice
