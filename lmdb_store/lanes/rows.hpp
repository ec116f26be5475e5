// Lane rows: a lane's state in the queue's main table. A row changes only in the transaction that
// copies the lane's records to the queue, or that claims the lane.
#pragma once

#include <cstdint>
#include <vector>

#include "core/commit/lane_format.hpp"
#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {

struct LaneRow {
    std::uint32_t number = 0;
    Uuid lane{};
    std::uint64_t bytes = 0;      ///< Size of the ring.
    std::uint64_t moved = 0;      ///< Everything below is in the queue.
    std::uint64_t floor = 0;      ///< Offset of the batch that was moved last.
    std::uint32_t floor_crc = 0;  ///< Its CRC.
};

/// Reads all rows, by number. Returns 0 or LMDB's code; MDB_CORRUPTED if a row is invalid.
[[nodiscard]] int read_lane_rows(MDB_txn* txn, std::vector<LaneRow>& rows);
[[nodiscard]] int put_lane_row(MDB_txn* txn, const LaneRow& row) noexcept;
[[nodiscard]] int delete_lane_row(MDB_txn* txn, std::uint32_t number) noexcept;

/// Returns a number above those of all lanes, or else the lowest free one. The file of a dropped
/// lane may still be there, so its number is not the first choice.
/// @param rows  Fewer than kLanesMax, by number.
[[nodiscard]] std::uint32_t new_lane_number(const std::vector<LaneRow>& rows) noexcept;

/// Returns the bytes of the queue's map that admission reserves, so that the records of lanes
/// always fit.
[[nodiscard]] std::uint64_t lane_reserve(const std::vector<LaneRow>& rows) noexcept;
[[nodiscard]] std::uint64_t lane_reserve(std::uint64_t lane_bytes) noexcept;

}  // namespace sluice::store
