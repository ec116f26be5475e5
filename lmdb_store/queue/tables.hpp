// The queue's environment on disk. Internal to this room; docs/record-format.md is for readers.
//
//   main table          "format" u32 LE | "uuid" 36 bytes | "next_seq" u64 BE
//                       from format 2 on: "store" 36 bytes | "lane.NNNN" lmdb_store/lanes/rows.hpp
//   records             key u64 BE sequence number -> record (core/protocol/record.hpp)
//   idempotency         key SHA-256(shop number u32 BE, key bytes) -> IdempotencyRow
//   idempotency_by_age  key i64 BE accepted second | the 32 bytes above -> empty
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/key_bytes.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kQueueFormat = 2;
/// The oldest that is read and written: it has no lanes.
inline constexpr std::uint32_t kQueueFormatWithoutLanes = 1;
inline constexpr std::array<const char*, 3> kQueueTables = {"records", "idempotency",
                                                            "idempotency_by_age"};
inline constexpr std::string_view kNextSeqKey = "next_seq";
inline constexpr std::string_view kStoreKey = "store";  ///< UUID of the store that it belongs to.

[[nodiscard]] inline KeyBytes<8> seq_key(std::uint64_t seq) noexcept {
    KeyBytes<8> key;
    put_big_endian(key.data(), seq);
    return key;
}

/// Fills a new environment.
[[nodiscard]] int create_queue_tables(MDB_txn* txn, std::string_view uuid,
                                      std::string_view store_uuid) noexcept;
/// Makes this release's format of an older one's.
[[nodiscard]] int upgrade_queue_tables(MDB_txn* txn, std::string_view store_uuid) noexcept;

}  // namespace sluice::store
