#include "pg_store/connection/row_reader.hpp"

#include "core/values/lookup.hpp"
#include "pg_store/connection/libpq.hpp"

namespace sluice::pg {
namespace {

constexpr std::uint16_t kNegative = 0x4000;
constexpr int kDigitWidth = 4;
constexpr int kPowerMax = 38;
constexpr int kDigitGroupsMax = 9;  ///< 36 digits, which an Int128 holds.

constexpr const char* kEnded = "a field ends too early";

Int128 power_of_ten(int exponent) {
    if (exponent < 0 || exponent > kPowerMax) {
        throw_damaged("an amount has too many digits");
    }
    Int128 power = 1;
    for (int i = 0; i < exponent; ++i) {
        power *= 10;
    }
    return power;
}

}  // namespace

std::int64_t to_integer(const Field& field) {
    if (!field) {
        throw_damaged("a number is missing");
    }
    Unpacker in(*field, kEnded);
    switch (field->size()) {
        case 2:
            return in.number<std::int16_t>();
        case 4:
            return in.number<std::int32_t>();
        case 8:
            return in.number<std::int64_t>();
        default:
            throw_damaged("a number has " + std::to_string(field->size()) + " bytes");
    }
}

std::uint64_t to_count(const Field& field) {
    const std::int64_t value = to_integer(field);
    if (value < 0) {
        throw_damaged("a number is negative");
    }
    return static_cast<std::uint64_t>(value);
}

void check(const Timestamp& at) {
    if (!is_valid(at)) {
        throw_damaged("an instant is out of range");
    }
}

bool to_boolean(const Field& field) {
    if (!field || field->size() != 1) {
        throw_damaged("a truth value is missing");
    }
    return field->front() != '\0';
}

std::string_view to_text(const Field& field) {
    if (!field) {
        throw_damaged("a text is missing");
    }
    return *field;
}

Decimal to_decimal(const Field& field) {
    Unpacker in(to_text(field), kEnded);
    const int count = in.number<std::int16_t>();
    const int weight = in.number<std::int16_t>();
    const auto sign = in.number<std::uint16_t>();
    const int scale = in.number<std::int16_t>();
    if (count < 0 || count > kDigitGroupsMax || scale < 0 || scale > kPowerMax ||
        (sign != 0 && sign != kNegative)) {
        throw_damaged("an amount is no number, or has too many digits");
    }
    Int128 value = 0;
    for (int i = 0; i < count; ++i) {
        value = value * 10'000 + in.number<std::int16_t>();
    }
    // The digits end at 10^(4 * (weight - count + 1)); the value ends at 10^-scale.
    const int shift = count == 0 ? 0 : kDigitWidth * (weight - count + 1) + scale;
    if (shift > 0 && value > power_of_ten(kPowerMax) / power_of_ten(shift)) {
        throw_damaged("an amount has too many digits");
    }
    value = shift >= 0 ? value * power_of_ten(shift) : value / power_of_ten(-shift);
    const Decimal decimal(sign == 0 ? value : -value, static_cast<std::uint8_t>(scale));
    if (!is_valid(decimal)) {
        throw_damaged("an amount has too many digits");
    }
    return decimal;
}

Currency to_currency(const Field& field) {
    const std::optional<Currency> currency = Currency::parse(to_text(field));
    if (!currency) {
        throw_damaged("\"" + std::string(to_text(field)) + "\" is no currency");
    }
    return *currency;
}

std::vector<Field> to_elements(const Field& field) {
    std::vector<Field> elements;
    if (!field) {
        return elements;
    }
    Unpacker in(*field, kEnded);
    const std::int32_t dimensions = in.number<std::int32_t>();
    in.bytes(8);  // whether there are nulls; the elements' type
    if (dimensions == 0) {
        return elements;
    }
    const std::int32_t count = in.number<std::int32_t>();
    in.bytes(4);  // counts from
    if (dimensions != 1 || count < 0 || static_cast<std::size_t>(count) > field->size()) {
        throw_damaged("a list is none");
    }
    elements.reserve(static_cast<std::size_t>(count));
    for (std::int32_t i = 0; i < count; ++i) {
        const std::int32_t size = in.number<std::int32_t>();
        elements.push_back(size < 0 ? Field{} : Field{in.bytes(static_cast<std::size_t>(size))});
    }
    return elements;
}

Field RowReader::next() {
    if (at_ >= PQnfields(result_)) {
        throw_damaged("a column is missing");
    }
    const int at = at_++;
    if (PQgetisnull(result_, row_, at) != 0) {
        return {};
    }
    return std::string_view(PQgetvalue(result_, row_, at),
                            static_cast<std::size_t>(PQgetlength(result_, row_, at)));
}

const char* RowReader::last_name() const {
    const char* const name = at_ == 0 ? nullptr : PQfname(result_, at_ - 1);
    return name == nullptr ? "" : name;
}

bool RowReader::next_is_null() const {
    return PQgetisnull(result_, row_, at_) != 0;
}

Timestamp RowReader::instant() {
    const std::int64_t seconds = i8();
    const Timestamp at{seconds, u4()};
    check(at);
    return at;
}

std::optional<Timestamp> RowReader::instant_or_null() {
    if (next_is_null()) {
        skip(1);
        if (next()) {
            throw_damaged("an instant has nanoseconds and no seconds");
        }
        return std::nullopt;
    }
    return instant();
}

std::vector<std::string> RowReader::strings() {
    return mapped(elements(), [](const Field& field) { return std::string(to_text(field)); });
}

}  // namespace sluice::pg
