// Row fields: one field of a row by its C++ type, written and read. Internal to pg_store; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"
#include "pg_store/rows/rows.hpp"

namespace sluice::pg {

/// Writes one field, which is a column.
struct FieldWriting {
    RowWriter& out;

    void operator()(bool value) const { out.boolean(value); }
    void operator()(std::uint8_t value) const { out.i2(value); }
    void operator()(std::uint32_t value) const { out.u4(value); }
    void operator()(std::uint64_t value) const { out.u8(value); }
    void operator()(SequenceNumber value) const { out.u8(value.value); }
    void operator()(const AnyTextId& id) const { out.text(id.view()); }
    void operator()(const std::string& text) const { out.text(text); }
    void operator()(const Currency& currency) const { out.text(currency.code()); }
    void operator()(const Decimal& value) const { out.numeric(value); }
    void operator()(const Digest256& digest) const { out.digest(digest); }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void operator()(Enum value) const { out.i2(static_cast<std::int16_t>(value)); }
    template <class Value>
    void operator()(const std::optional<Value>& value) const {
        value ? (*this)(*value) : static_cast<void>(out.null());
    }
};

/// Reads one field. Throws DamagedField.
struct FieldReading {
    const Field& field;

    void operator()(bool& value) const { value = to_boolean(field); }
    void operator()(std::uint8_t& value) const {
        const std::int64_t stored = to_integer(field);
        if (stored < 0 || stored > 0xFF) {
            throw_damaged("a small number is " + std::to_string(stored));
        }
        value = static_cast<std::uint8_t>(stored);
    }
    void operator()(std::uint32_t& value) const {
        value = static_cast<std::uint32_t>(to_integer(field));
    }
    void operator()(std::uint64_t& value) const { value = to_count(field); }
    void operator()(SequenceNumber& value) const { value.value = to_count(field); }
    void operator()(AnyTextId& id) const { id.assign(to_text(field)); }
    void operator()(std::string& text) const { text.assign(to_text(field)); }
    void operator()(Currency& currency) const { currency = to_currency(field); }
    void operator()(Decimal& value) const { value = to_decimal(field); }
    void operator()(Digest256& digest) const { digest = to_digest<Digest256>(field); }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void operator()(Enum& value) const { value = to_enum<Enum>(field); }
    template <class Value>
    void operator()(std::optional<Value>& value) const {
        value.reset();
        if (field) {
            (*this)(value.emplace());
        }
    }
};

}  // namespace sluice::pg
