// The queue's environment on disk, and its idempotency rows. Internal to lmdb_store;
// docs/record-format.md describes it for programs that read the queue.
//
//   main table          "format" u32 LE | "uuid" 36 bytes | "next_seq" u64 BE
//                       "lane.NNNN" lmdb_store/lanes/rows.hpp
//   records             key u64 BE sequence number -> record (core/protocol/record.hpp)
//   idempotency         key SHA-256(shop number u32 BE, key bytes) -> IdempotencyRow
//   idempotency_by_age  key i64 BE accepted second | the 32 bytes above -> empty
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/queue/queue.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kQueueFormat = 2;
inline constexpr std::array<const char*, 3> kQueueTables = {"records", "idempotency",
                                                            "idempotency_by_age"};
inline constexpr std::string_view kNextSeqKey = "next_seq";

[[nodiscard]] inline KeyBytes<8> seq_key(std::uint64_t seq) noexcept {
    KeyBytes<8> key;
    put_big_endian(key.data(), seq);
    return key;
}

/// Fills a new environment. Returns 0 or LMDB's code.
[[nodiscard]] int create_queue_tables(MDB_txn* txn, std::string_view uuid) noexcept;

/// Finds the first numbers after `after`, up to `last`, that have no record. Leaves `gap` alone if
/// there are none. Returns 0 or LMDB's code.
[[nodiscard]] int find_gap(MDB_txn* txn, MDB_dbi records, SequenceNumber after, SequenceNumber last,
                           std::optional<SequenceRange>& gap) noexcept;

/// One key of a shop, so that a retry gets the first answer again.
struct IdempotencyRow {
    Topic topic = Topic::kProductUpsert;
    Digest256 body_sha256{};
    SequenceNumber seq;
    std::uint32_t records_count = 0;
    std::int64_t accepted_second = 0;
};

using IdempotencyKey = KeyBytes<32>;

/// The idempotency rows of one transaction, which outlives this object. Functions return 0 or
/// LMDB's code.
class IdempotencyTable {
public:
    IdempotencyTable(MDB_txn* txn, MDB_dbi rows, MDB_dbi by_age) noexcept
        : txn_(txn), rows_(rows), by_age_(by_age) {}

    [[nodiscard]] static IdempotencyKey key_of(const IdempotencyClaim& claim) noexcept;

    /// Returns MDB_NOTFOUND if there is no row, MDB_CORRUPTED if it is damaged.
    [[nodiscard]] int find(const IdempotencyKey& key, IdempotencyRow& row) noexcept;
    /// Replaces an expired row.
    [[nodiscard]] int put(const IdempotencyKey& key, const IdempotencyRow& row) noexcept;
    /// Removes up to `rows_max` rows accepted at or before `second`.
    [[nodiscard]] int expire(std::int64_t second, std::uint64_t rows_max) noexcept;
    [[nodiscard]] int count(std::uint64_t& rows) noexcept;
    /// Reads the oldest row's time of acceptance. Returns MDB_NOTFOUND if there is no row.
    [[nodiscard]] int oldest(std::int64_t& accepted_second) noexcept;

private:
    MDB_txn* txn_;
    MDB_dbi rows_;
    MDB_dbi by_age_;
};

/// Returns the outcome of a claim whose row has not expired: kReplayed or kConflict.
[[nodiscard]] AppendOutcome compare_claim(const IdempotencyClaim& claim,
                                          const IdempotencyRow& row) noexcept;

}  // namespace sluice::store
