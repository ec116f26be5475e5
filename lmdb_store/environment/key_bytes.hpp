// Key bytes: numbers as LMDB sorts them, and the rows that every environment's main table has.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {

/// LMDB's own number for the unnamed database; usable once a named one was opened.
inline constexpr MDB_dbi kMainTable = 1;
inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kUuidKey = "uuid";

template <std::size_t kBytes>
using KeyBytes = std::array<unsigned char, kBytes>;

template <std::size_t kBytes>
[[nodiscard]] MDB_val to_val(KeyBytes<kBytes>& key) noexcept {
    return {key.size(), key.data()};
}

template <class Number>
void put_big_endian(unsigned char* to, Number number) noexcept {
    for (std::size_t i = sizeof(number); i-- > 0; number >>= 8) {
        to[i] = static_cast<unsigned char>(number & 0xFF);
    }
}

template <class Number>
[[nodiscard]] Number get_big_endian(const void* from) noexcept {
    const auto* bytes = static_cast<const unsigned char*>(from);
    Number number = 0;
    for (std::size_t i = 0; i < sizeof(number); ++i) {
        number = static_cast<Number>((number << 8) | bytes[i]);
    }
    return number;
}

}  // namespace sluice::store
