// The queue's environment on disk. Internal to this room; docs/record-format.md is for readers.
//
//   main table          "format" u32 LE | "uuid" 36 bytes | "next_seq" u64 BE
//   records             key u64 BE sequence number -> record (core/record.hpp)
//   idempotency         key SHA-256(shop number u32 BE, key bytes) -> IdempotencyRow
//   idempotency_by_age  key i64 BE accepted second | the 32 bytes above -> empty
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lmdb_store/environment.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kQueueFormat = 1;
/// LMDB's own number for the unnamed database; usable once a named one was opened.
inline constexpr MDB_dbi kMainTable = 1;
inline constexpr std::array<const char*, 3> kQueueTables = {"records", "idempotency",
                                                            "idempotency_by_age"};
inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kUuidKey = "uuid";
inline constexpr std::string_view kNextSeqKey = "next_seq";

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

[[nodiscard]] inline KeyBytes<8> seq_key(std::uint64_t seq) noexcept {
    KeyBytes<8> key;
    put_big_endian(key.data(), seq);
    return key;
}

/// Fills a new environment.
[[nodiscard]] int create_queue_tables(MDB_txn* txn, std::string_view uuid) noexcept;

}  // namespace sluice::store
