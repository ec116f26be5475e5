// Row texts: described rows made up, and as text, so that two of them can be compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "core/ledger/row_tables.hpp"
#include "core/protocol/signature.hpp"

namespace sluice::test {

/// A visitor that gives every column a value that its type has; those of a higher `number` sort
/// behind. What may be absent is, in rows of an even number.
class RowFiller {
public:
    explicit RowFiller(std::uint32_t number) : number_(number) {}
    template <class Value>
    void operator()(const char* /*name*/, Value& value) {
        ++column_;
        fill(value);
    }
    void bytes(const char* /*name*/, std::string& value) {
        ++column_;
        value = std::string("\0\xff", 2) + std::to_string(number_);
    }

private:
    [[nodiscard]] std::uint32_t some() const { return number_ * 100 + column_; }
    void fill(std::uint32_t& value) { value = some(); }
    void fill(std::uint64_t& value) { value = (std::uint64_t{1} << 40) + some(); }
    void fill(bool& value) { value = number_ > 1; }
    void fill(AccountNumber& value) { value = {some()}; }
    void fill(ShopNumber& value) { value = {some()}; }
    void fill(SequenceNumber& value) { value = {some()}; }
    void fill(std::string& value) { value = "t\xc3\xa4xt '\\ " + std::to_string(some()); }
    void fill(Currency& value) {
        constexpr std::array kCodes{"AED", "JPY", "KWD", "USD"};
        value = Currency::parse(kCodes.at(number_ % kCodes.size())).value();
    }
    void fill(Decimal& value) { value = Decimal(-Int128{1'000'000'007} * some(), 4); }
    void fill(Timestamp& value) { value = {-5 + std::int64_t{some()}, 999'999'999 - some()}; }
    template <std::size_t N>
    void fill(std::array<std::uint8_t, N>& value) {
        value.fill(static_cast<std::uint8_t>(0x7d + number_));
        value.back() = static_cast<std::uint8_t>(column_);
    }
    template <class Tag>
    void fill(TextId<Tag>& value) {
        value = TextId<Tag>("id-" + std::to_string(some()));
    }
    void fill(Topic& value) { value = Topic::kOrderUpdate; }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void fill(Enum& value) { value = static_cast<Enum>(number_ % 2 + 1); }
    template <class Value>
    void fill(std::optional<Value>& value) {
        value.reset();
        if (number_ % 2 == 1) {
            fill(value.emplace());
        }
    }

    std::uint32_t number_;
    std::uint32_t column_ = 0;
};

/// A visitor that writes every column down.
class RowTexts {
public:
    template <class Value>
    void operator()(const char* name, const Value& value) {
        text_ += std::string(name) + "=" + said(value) + " ";
    }
    void bytes(const char* name, const std::string& value) { (*this)(name, value); }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    static std::string said(std::uint32_t value) { return std::to_string(value); }
    static std::string said(std::uint64_t value) { return std::to_string(value); }
    static std::string said(bool value) { return value ? "yes" : "no"; }
    static std::string said(AccountNumber value) { return std::to_string(value.value); }
    static std::string said(ShopNumber value) { return std::to_string(value.value); }
    static std::string said(SequenceNumber value) { return std::to_string(value.value); }
    static std::string said(const std::string& value) { return value; }
    static std::string said(const Currency& value) { return std::string(value.code()); }
    static std::string said(const Decimal& value) { return value.to_string(); }
    static std::string said(const Timestamp& value) {
        return std::to_string(value.seconds) + "." + std::to_string(value.nanos);
    }
    template <std::size_t N>
    static std::string said(const std::array<std::uint8_t, N>& value) {
        return std::string(value.begin(), value.end());
    }
    template <class Tag>
    static std::string said(const TextId<Tag>& value) {
        return value.str();
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    static std::string said(Enum value) { return std::to_string(static_cast<unsigned>(value)); }
    template <class Value>
    static std::string said(const std::optional<Value>& value) {
        return value ? said(*value) : "none";
    }

private:
    std::string text_;
};

template <class Row>
[[nodiscard]] Row filled_row(std::uint32_t number) {
    Row row{};
    RowFiller filler(number);
    TableOf<Row>::key(row, filler);
    TableOf<Row>::rest(row, filler);
    return row;
}

template <class Row>
[[nodiscard]] std::string text_of(const Row& row) {
    RowTexts texts;
    TableOf<Row>::key(row, texts);
    TableOf<Row>::rest(row, texts);
    return texts.text();
}

}  // namespace sluice::test
