// Lane rows: what the queue's main table knows of each lane. They change in the transaction that
// puts a lane's records into the queue, and in no other way.
#pragma once

#include <cstdint>
#include <vector>

#include "core/commit/lane_format.hpp"
#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {

struct LaneRow {
    std::uint32_t number = 0;
    Uuid lane{};
    std::uint64_t bytes = 0;
    std::uint64_t moved = 0;  ///< All below is in the queue.
    std::uint64_t floor = 0;  ///< Where the batch that was moved last begins, and its CRC.
    std::uint32_t floor_crc = 0;
};

/// All, by number. 0 or LMDB's code; MDB_CORRUPTED if a row is not what sluice wrote.
[[nodiscard]] int read_lane_rows(MDB_txn* txn, std::vector<LaneRow>& rows);
[[nodiscard]] int put_lane_row(MDB_txn* txn, const LaneRow& row) noexcept;
[[nodiscard]] int delete_lane_row(MDB_txn* txn, std::uint32_t number) noexcept;

/// What the queue's admission keeps free for lanes: what they hold always fits.
[[nodiscard]] std::uint64_t lane_reserve(const std::vector<LaneRow>& rows) noexcept;
[[nodiscard]] std::uint64_t lane_reserve(std::uint64_t lane_bytes) noexcept;

}  // namespace sluice::store
