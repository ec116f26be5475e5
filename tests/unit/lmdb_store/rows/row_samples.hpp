// Rows of the described tables with something in every column, and rows as text.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <type_traits>

#include "core/ledger/valid.hpp"
#include "unit/lmdb_store/rows/samples.hpp"

namespace sluice::store {

/// Fills in each column that it is shown.
class Filler {
public:
    /// @param text_bytes_max  Of texts.
    Filler(OrderSamples& samples, std::size_t text_bytes_max)
        : samples_(samples), text_bytes_max_(text_bytes_max) {}

    template <class Value>
    void operator()(const char* /*name*/, Value& value) {
        fill(value);
    }
    void bytes(const char* /*name*/, std::string& value) { fill(value); }

private:
    void fill(std::uint64_t& value) { value = samples_.any_number(); }
    void fill(std::uint32_t& value) { value = static_cast<std::uint32_t>(samples_.any_number()); }
    void fill(bool& value) { value = samples_.chance(); }
    template <class Tag>
    void fill(NumberId<Tag>& value) {
        fill(value.value);
    }
    void fill(SequenceNumber& value) { fill(value.value); }
    void fill(Timestamp& value) { value = samples_.instant(); }
    void fill(Decimal& value) { value = samples_.decimal(); }
    void fill(Currency& value) { value = samples_.currency(); }
    template <std::size_t N>
    void fill(std::array<std::uint8_t, N>& value) {
        for (std::uint8_t& byte : value) {
            byte = static_cast<std::uint8_t>(samples_.number(256));
        }
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void fill(Enum& value) {
        do {
            value = static_cast<Enum>(samples_.number(256));
        } while (!is_valid(value));
    }
    template <class Tag>
    void fill(TextId<Tag>& value) {
        value.assign(samples_.text(text_bytes_max_));
    }
    void fill(std::string& value) { value = samples_.text(text_bytes_max_); }
    template <class Value>
    void fill(std::optional<Value>& value) {
        value.reset();
        if (samples_.chance()) {
            fill(value.emplace());
        }
    }

    OrderSamples& samples_;
    std::size_t text_bytes_max_;
};

template <class Row>
[[nodiscard]] Row sample_row(OrderSamples& samples, std::size_t text_bytes_max = 100) {
    Row row{};
    Filler filler(samples, text_bytes_max);
    TableOf<Row>::key(row, filler);
    TableOf<Row>::rest(row, filler);
    return row;
}

/// Each column with its name; equal texts are equal rows, to the last digit.
class RowText {
public:
    std::string text;

    template <class Value>
    void operator()(const char* name, const Value& value) {
        text += std::string(name) + "=";
        say(value);
        text += '\0';
    }
    void bytes(const char* name, const std::string& value) { (*this)(name, value); }

private:
    void say(std::uint64_t value) { text += std::to_string(value); }
    void say(std::uint32_t value) { text += std::to_string(value); }
    void say(bool value) { text += value ? "true" : "false"; }
    template <class Tag>
    void say(NumberId<Tag> value) {
        say(value.value);
    }
    void say(SequenceNumber value) { say(value.value); }
    void say(const Timestamp& value) { text += value.to_string(); }
    void say(const Decimal& value) { text += value.to_string(); }
    void say(const Currency& value) { text += value.code(); }
    template <std::size_t N>
    void say(const std::array<std::uint8_t, N>& value) {
        text.append(value.begin(), value.end());
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void say(Enum value) { say(static_cast<std::uint32_t>(value)); }
    template <class Tag>
    void say(const TextId<Tag>& value) {
        text += value.view();
    }
    void say(const std::string& value) { text += value; }
    template <class Value>
    void say(const std::optional<Value>& value) {
        text += value ? "some " : "none";
        if (value) {
            say(*value);
        }
    }
};

template <class Row>
[[nodiscard]] std::string row_text(const Row& row) {
    RowText text;
    TableOf<Row>::key(row, text);
    TableOf<Row>::rest(row, text);
    return std::move(text.text);
}

/// Calls `check(row)` with an empty row of each described table.
template <class Check, class... Rows>
void for_each_described(RowTypes<Rows...> /*described*/, Check&& check) {
    (check(Rows{}), ...);
}
template <class Check>
void for_each_described(Check&& check) {
    for_each_described(DescribedRows(), check);
}

}  // namespace sluice::store
