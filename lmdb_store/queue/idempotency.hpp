// Idempotency rows: one per key of a shop, so that a retry gives the first answer again. Internal
// to this room.
#pragma once

#include <cstdint>
#include <optional>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/queue/tables.hpp"

namespace sluice::store {

struct IdempotencyRow {
    Topic topic = Topic::kProductUpsert;
    Digest256 body_sha256{};
    SequenceNumber seq;
    std::uint32_t records_count = 0;
    std::int64_t accepted_second = 0;
};

using IdempotencyKey = KeyBytes<32>;

/// The rows within one transaction. Requires: used only while it lives.
class IdempotencyTable {
public:
    IdempotencyTable(MDB_txn* txn, MDB_dbi rows, MDB_dbi by_age) noexcept
        : txn_(txn), rows_(rows), by_age_(by_age) {}

    [[nodiscard]] static IdempotencyKey key_of(const IdempotencyClaim& claim) noexcept;

    /// 0, MDB_NOTFOUND or LMDB's code; a damaged row is MDB_CORRUPTED.
    [[nodiscard]] int find(const IdempotencyKey& key, IdempotencyRow& row) noexcept;
    /// Replaces a row that was there (it had expired).
    [[nodiscard]] int put(const IdempotencyKey& key, const IdempotencyRow& row) noexcept;
    /// Removes up to `rows_max` rows accepted at or before `second`.
    [[nodiscard]] int expire(std::int64_t second, std::uint64_t rows_max) noexcept;
    [[nodiscard]] int count(std::uint64_t& rows) noexcept;
    /// When the oldest row was accepted. MDB_NOTFOUND: there is none.
    [[nodiscard]] int oldest(std::int64_t& accepted_second) noexcept;

private:
    MDB_txn* txn_;
    MDB_dbi rows_;
    MDB_dbi by_age_;
};

/// What an unexpired row means for a claim: kReplayed or kConflict.
[[nodiscard]] AppendOutcome compare_claim(const IdempotencyClaim& claim,
                                          const IdempotencyRow& row) noexcept;

}  // namespace sluice::store
