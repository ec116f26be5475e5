// Row texts: described rows made up, and values as text, so that two of them can be compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "core/ledger/table.hpp"
#include "core/protocol/signature.hpp"
#include "core/protocol/topic.hpp"
#include "unit/row_text.hpp"

namespace sluice::test {

/// Gives every column a value that its type has; those of a higher `number` sort behind.
class MadeUpValues {
public:
    explicit MadeUpValues(std::uint32_t number) : number_(number) {}

    void operator()(const Column& column, auto& value) {
        ++column_;
        fill(column, value);
    }

private:
    [[nodiscard]] std::uint32_t some() const { return number_ * 100 + column_; }
    void fill(const Column& column, std::uint8_t& value) {
        constexpr auto kTopic = static_cast<std::uint8_t>(Topic::kOrderUpdate);
        value = static_cast<std::uint8_t>(number_ % 2 + 1);
        value = column.is_valid(value) && std::string_view(column.name) != "topic" ? value : kTopic;
    }
    void fill(const Column&, std::uint32_t& value) { value = some(); }
    void fill(const Column&, std::uint64_t& value) { value = some(); }
    void fill(const Column&, bool& value) { value = number_ > 1; }
    void fill(const Column& column, std::string& value) {
        value = column.kind == ColumnKind::kBytes
                    ? std::string("\0\xff", 2) + std::to_string(number_)
                    : "t\xc3\xa4xt '\\ " + std::to_string(some());
    }
    void fill(const Column&, AnyTextId& id) { id.assign("id-" + std::to_string(some())); }
    void fill(const Column&, Currency& value) {
        constexpr std::array kCodes{"AED", "JPY", "KWD", "USD"};
        value = Currency::parse(kCodes.at(number_ % kCodes.size())).value();
    }
    void fill(const Column&, Decimal& value) {
        value = Decimal(-Int128{1'000'000'007} * some(), 4);
    }
    void fill(const Column&, Timestamp& value) {
        value = {-5 + std::int64_t{some()}, 999'999'999 - some()};
    }
    void fill(const Column&, Digest256& value) {
        value.fill(static_cast<std::uint8_t>(0x7d + number_));
        value.back() = static_cast<std::uint8_t>(column_);
    }

    std::uint32_t number_;
    std::uint32_t column_ = 0;
};

/// Rows of an even number have no values in columns that may be absent.
[[nodiscard]] inline AnyRow filled_row(const DescribedTable& table, std::uint32_t number) {
    AnyRow row(table);
    MadeUpValues values(number);
    for (const std::vector<Column>* columns : {&table.key, &table.rest}) {
        fill_columns(
            row.ref(), *columns, [number](const Column&) { return number % 2 == 1; },
            [&values](const Column& column, auto& value) { values(column, value); });
    }
    return row;
}

struct RowTexts {
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
};

}  // namespace sluice::test
