// Row writer: PostgreSQL's binary formats, for parameters and for COPY alike.
//
// A field is a 32-bit length (-1: null) and its bytes; so is an element of an array. All numbers
// are big endian. Pure: values in, bytes out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/values/decimal.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::pg {

/// Object ids of the built-in types; they are part of PostgreSQL's protocol.
enum class Type : std::uint32_t {
    kBool = 16,
    kBytes = 17,
    kInt8 = 20,
    kInt2 = 21,
    kInt4 = 23,
    kText = 25,
    kNumeric = 1700,
};

class RowWriter {
public:
    RowWriter& i2(std::int16_t value) { return number(value); }
    RowWriter& i4(std::int32_t value) { return number(value); }
    RowWriter& u4(std::uint32_t value) { return i4(static_cast<std::int32_t>(value)); }
    RowWriter& i8(std::int64_t value) { return number(value); }
    RowWriter& u8(std::uint64_t value) { return i8(static_cast<std::int64_t>(value)); }
    RowWriter& boolean(bool value) { return number(static_cast<std::uint8_t>(value)); }
    RowWriter& text(std::string_view value);
    RowWriter& bytes(std::string_view value) { return text(value); }
    template <std::size_t N>
    RowWriter& digest(const std::array<std::uint8_t, N>& value) {
        return text({reinterpret_cast<const char*>(value.data()), value.size()});
    }
    RowWriter& numeric(const Decimal& value);
    RowWriter& null();
    /// Writes two fields: seconds, nanoseconds.
    RowWriter& instant(const Timestamp& at);
    RowWriter& instant(const std::optional<Timestamp>& at);

    /// Writes one field, an array. `write(*this, element)` writes exactly one field for each
    /// element.
    template <class Range, class Write>
    RowWriter& array(Type type, const Range& range, Write&& write) {
        const std::size_t at = begin_array(type, range.size());
        for (const auto& element : range) {
            write(*this, element);
        }
        end_array(at);
        return *this;
    }
    /// Writes an array of elements that were written as fields before.
    RowWriter& array_of_fields(Type type, std::size_t count, std::string_view fields);

    [[nodiscard]] const std::string& view() const noexcept { return buffer_; }
    [[nodiscard]] bool empty() const noexcept { return buffer_.empty(); }
    void clear() { buffer_.clear(); }
    /// Returns the bytes, and begins again.
    [[nodiscard]] std::string take() { return std::exchange(buffer_, {}); }
    /// A COPY row begins with its number of fields.
    void begin_copy_row(std::int16_t fields) { put(fields); }

private:
    std::size_t begin_array(Type type, std::size_t count);
    void end_array(std::size_t at);
    template <class Number>
    void put(Number value) {
        std::array<char, sizeof(Number)> bytes;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const std::size_t shift = 8 * (bytes.size() - 1 - i);
            bytes[i] = static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
        }
        buffer_.append(bytes.data(), bytes.size());
    }
    template <class Number>
    RowWriter& number(Number value) {
        put(std::uint32_t{sizeof(Number)});
        put(value);
        return *this;
    }

    std::string buffer_;
};

/// One column of a statement over many rows: `unnest($1)`.
class ColumnArray {
public:
    explicit ColumnArray(Type type) : type_(type) {}
    /// Begins the next row's value, for which the caller writes exactly one field.
    RowWriter& add() {
        ++count_;
        return fields_;
    }
    void write_to(RowWriter& row) const { row.array_of_fields(type_, count_, fields_.view()); }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return fields_.view().size(); }
    void clear() {
        fields_.clear();
        count_ = 0;
    }

private:
    Type type_;
    std::size_t count_ = 0;
    RowWriter fields_;
};

}  // namespace sluice::pg
