// Sort key: a row's key as bytes that sort as the columns do, one after the other.
//
// Numbers are big endian; an instant's seconds are moved so that the earliest is 0. A text ends in
// 0x00, which no id contains, unless it is the key's last column.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/ledger/tables.hpp"

namespace sluice {

/// Writes key columns to a `Sink` with bytes(std::string_view) and id(std::string_view).
template <class Sink>
class KeyColumns {
public:
    /// @param columns  How many of the key are written.
    KeyColumns(Sink& sink, unsigned columns) : sink_(sink), left_(columns) {}

    template <class Value>
    void operator()(const char* /*name*/, const Value& value) {
        if (text_is_open_) {
            sink_.bytes(std::string_view("\0", 1));
            text_is_open_ = false;
        }
        if (left_ != 0) {
            --left_;
            write(value);
        }
    }

private:
    template <class Integer>
    void number(Integer value) {
        std::array<char, sizeof(Integer)> big{};
        for (std::size_t i = 0; i < big.size(); ++i) {
            big[i] = static_cast<char>(value >> (8 * (big.size() - 1 - i)));
        }
        sink_.bytes({big.data(), big.size()});
    }
    void write(std::uint32_t value) { number(value); }
    void write(std::uint64_t value) { number(value); }
    void write(bool value) { number(static_cast<std::uint8_t>(value)); }
    void write(AccountNumber value) { number(value.value); }
    void write(ShopNumber value) { number(value.value); }
    void write(SequenceNumber value) { number(value.value); }
    void write(const Currency& currency) { sink_.bytes(currency.code()); }
    void write(const Timestamp& at) {
        constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
        number(static_cast<std::uint64_t>(at.seconds) ^ kSignBit);
        number(at.nanos);
    }
    template <std::size_t N>
    void write(const std::array<std::uint8_t, N>& digest) {
        sink_.bytes({reinterpret_cast<const char*>(digest.data()), digest.size()});
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void write(Enum value) { number(static_cast<std::uint8_t>(value)); }
    template <class Tag>
    void write(const TextId<Tag>& id) {
        sink_.id(id.view());
        text_is_open_ = true;
    }
    void write(const std::string& text) {
        sink_.id(text);
        text_is_open_ = true;
    }

    Sink& sink_;
    unsigned left_;
    bool text_is_open_ = false;
};

/// A sink that keeps everything whole.
struct WholeKey {
    std::string text;
    void bytes(std::string_view raw) { text.append(raw); }
    void id(std::string_view id) { text.append(id); }
};
/// A row's key, or the first `columns` of it.
template <class Row>
[[nodiscard]] std::string sort_key(const Row& row, unsigned columns = ~0U) {
    WholeKey key;
    TableOf<Row>::key(row, KeyColumns<WholeKey>(key, columns));
    return std::move(key.text);
}

}  // namespace sluice
