// List text: the values of a list in one column of text. Internal to pg_store; pure.
//
// PostgreSQL takes an array apart value by value, also from COPY, and keeps a head of 24 bytes for
// each array. An order has 44 lists, so that arrays took two thirds of the server's time for its
// row. The functions `elements` and `plain` of 0033_ledger.sql read the same format in SQL.
//
// Between two values is U+001F. A missing value is U+001A. In a text, U+001F is U+001B s, U+001A is
// U+001B n, and U+001B is U+001B e. Numbers and amounts are in decimal digits, truth values are t
// and f. There is one text for each list, so a reader refuses any other.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {

/// Appends the values of a list.
class ListText {
public:
    void add_missing();
    void add(std::string_view text);
    void add(const AnyTextId& id) { add(id.view()); }
    void add(const Currency& currency) { add(currency.code()); }
    void add(const Decimal& value);
    void add(bool value) { begin().push_back(value ? 't' : 'f'); }
    void add(SequenceNumber value) { add(value.value); }
    void add(const std::vector<Candidate>& packed);
    template <std::integral Integer>
    void add(Integer value) {
        std::array<char, 24> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        begin().append(digits.data(), end);
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void add(Enum value) { add(static_cast<int>(value)); }
    template <class Value>
    void add(const std::optional<Value>& value) {
        value ? add(*value) : add_missing();
    }

    /// Writes the list as one field, which is null if nothing was added.
    void write_to(RowWriter& row) const { is_begun_ ? row.text(text_) : row.null(); }

private:
    std::string& begin();

    std::string text_;
    bool is_begun_ = false;
};

/// A value of a list, or no value if it is missing. Reading throws DamagedField.
class ListValue {
public:
    ListValue() = default;
    explicit ListValue(std::string text) : text_(std::move(text)) {}
    [[nodiscard]] bool is_missing() const noexcept { return !text_.has_value(); }

    void read(std::string& text) const { text.assign(present()); }
    void read(AnyTextId& id) const { id.assign(present()); }
    void read(Currency& currency) const { currency = to_currency(present()); }
    void read(Decimal& value) const;
    void read(bool& value) const;
    void read(std::uint8_t& value) const {
        value = static_cast<std::uint8_t>(integer(0, UINT8_MAX));
    }
    void read(std::uint32_t& value) const {
        value = static_cast<std::uint32_t>(integer(0, UINT32_MAX));
    }
    void read(std::uint64_t& value) const {
        value = static_cast<std::uint64_t>(integer(0, INT64_MAX));
    }
    void read(std::int64_t& value) const { value = integer(INT64_MIN, INT64_MAX); }
    void read(SequenceNumber& value) const { read(value.value); }
    void read(std::vector<Candidate>& packed) const;
    template <class Enum>
    requires std::is_enum_v<Enum>
    void read(Enum& value) const { value = checked<Enum>(integer(INT64_MIN, INT64_MAX)); }
    template <class Value>
    void read(std::optional<Value>& value) const {
        value.reset();
        if (!is_missing()) {
            read(value.emplace());
        }
    }

private:
    [[nodiscard]] const std::string& present() const;
    [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;

    std::optional<std::string> text_;
};

/// Returns the values of a field that ListText wrote; none if it is null. Throws DamagedField.
[[nodiscard]] std::vector<ListValue> list_values(const Field& field);

}  // namespace sluice::pg
