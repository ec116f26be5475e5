// Row reader: fields of a result in PostgreSQL's binary formats, taken one after the other.
//
// A field that does not fit its table throws DamagedField, because the row was changed by hand.
// Views are valid as long as the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/valid.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/decimal.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"
#include "pg_store/connection/packed.hpp"

struct pg_result;

namespace sluice::pg {

/// No value means null.
using Field = std::optional<std::string_view>;

[[nodiscard]] std::int64_t to_integer(const Field& field);  ///< int2, int4 or int8.
[[nodiscard]] bool to_boolean(const Field& field);
[[nodiscard]] std::string_view to_text(const Field& field);
[[nodiscard]] Decimal to_decimal(const Field& field);
[[nodiscard]] Currency to_currency(const Field& field);
[[nodiscard]] std::uint64_t to_count(const Field& field);  ///< Not negative.
/// One of the type's values.
template <class Enum>
[[nodiscard]] Enum checked(std::int64_t stored) {
    const auto value = static_cast<Enum>(stored);
    if (stored < 0 || stored > 0xFF || !is_valid(value)) {
        throw_damaged("a kind is " + std::to_string(stored));
    }
    return value;
}
template <class Enum>
[[nodiscard]] Enum to_enum(const Field& field) {
    return checked<Enum>(to_integer(field));
}
void check(const Timestamp& at);

template <class Bytes>
[[nodiscard]] Bytes to_digest(const Field& field) {
    const std::string_view text = to_text(field);
    Bytes bytes{};
    if (text.size() != bytes.size()) {
        throw_damaged("a digest has " + std::to_string(text.size()) + " bytes");
    }
    std::ranges::copy(text, reinterpret_cast<char*>(bytes.data()));
    return bytes;
}

/// Returns the elements of an array; null is an empty one.
[[nodiscard]] std::vector<Field> to_elements(const Field& field);

/// Fields from left to right.
class RowReader {
public:
    RowReader(const pg_result* result, int row) noexcept : result_(result), row_(row) {}

    [[nodiscard]] Field next();
    [[nodiscard]] bool next_is_null() const;
    void skip(int count) { at_ += count; }
    /// Returns the name of the field that was read last.
    [[nodiscard]] const char* last_name() const;

    [[nodiscard]] std::int64_t i8() { return to_integer(next()); }
    [[nodiscard]] std::uint64_t u8() { return to_count(next()); }
    [[nodiscard]] std::uint32_t u4() { return static_cast<std::uint32_t>(i8()); }
    [[nodiscard]] bool boolean() { return to_boolean(next()); }
    [[nodiscard]] std::string_view text() { return to_text(next()); }
    [[nodiscard]] std::string string() { return std::string(text()); }
    [[nodiscard]] Decimal numeric() { return to_decimal(next()); }
    [[nodiscard]] Currency currency() { return to_currency(next()); }
    [[nodiscard]] Timestamp instant();
    [[nodiscard]] std::optional<Timestamp> instant_or_null();
    [[nodiscard]] std::vector<Field> elements() { return to_elements(next()); }
    [[nodiscard]] std::vector<std::string> strings();

private:
    const pg_result* result_;
    int row_;
    int at_ = 0;
};

}  // namespace sluice::pg
