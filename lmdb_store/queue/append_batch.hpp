// What append() knows of the transaction that it is in. Internal to this folder.
#pragma once

#include "core/commit/lane_move.hpp"
#include "lmdb_store/queue/lmdb_queue.hpp"

namespace sluice::store {

struct LmdbQueue::Batch {
    static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

    std::span<AppendItem> items;
    std::int64_t now_second = 0;
    WriteTxn txn;
    Cursor records;                      ///< Closed before the transaction ends.
    std::uint64_t first_seq = kUnknown;  ///< Of this transaction.
    std::uint64_t next_seq = kUnknown;
    std::uint64_t rows = 0;         ///< Idempotency rows, those of this batch included.
    std::uint64_t rows_stored = 0;  ///< Of this batch.
    std::uint64_t moved_cost = 0;   ///< Of the records that came from lanes.
    Moved moved = {};               ///< From lanes.
};

}  // namespace sluice::store
