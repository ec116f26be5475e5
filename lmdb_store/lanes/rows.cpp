#include "lmdb_store/lanes/rows.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/lanes/cells.hpp"

namespace sluice::store {
namespace {

static_assert(std::endian::native == std::endian::little, "rows are little endian");

constexpr std::string_view kPrefix = "lane.";
constexpr std::size_t kDigits = 4;
/// A small record takes up to three times its bytes in the queue's pages.
constexpr std::uint64_t kReserveFactor = 3;

/// A row in the table.
struct Stored {
    Uuid lane;
    std::uint64_t bytes;
    std::uint64_t moved;
    std::uint64_t floor;
    std::uint32_t floor_crc;
    std::uint32_t unused;
};

using Key = std::array<char, kPrefix.size() + kDigits + 1>;

Key key_of(std::uint32_t number) noexcept {
    Key key{};
    std::snprintf(key.data(), key.size(), "lane.%04u", number);
    return key;
}

bool parse(const MDB_val& key, const MDB_val& value, LaneRow& row) noexcept {
    const std::string_view digits = to_view(key).substr(kPrefix.size());
    if (digits.size() != kDigits || value.mv_size != sizeof(Stored) ||
        digits.find_first_not_of("0123456789") != std::string_view::npos) {
        return false;
    }
    std::from_chars(digits.data(), digits.data() + digits.size(), row.number);
    Stored stored{};
    std::memcpy(&stored, value.mv_data, sizeof(stored));
    row.lane = stored.lane;
    row.bytes = stored.bytes;
    row.moved = stored.moved;
    row.floor = stored.floor;
    row.floor_crc = stored.floor_crc;
    return row.number < kLanesMax && row.bytes != 0 && row.bytes % kLaneBlockBytes == 0 &&
           row.floor < row.moved && row.moved - row.floor <= row.bytes &&
           row.moved % kLaneBlockBytes == 0 && row.floor % kLaneBlockBytes == 0;
}

}  // namespace

int read_lane_rows(MDB_txn* txn, std::vector<LaneRow>& rows) {
    rows.clear();
    Cursor cursor;
    int rc = cursor.open(txn, kMainTable);
    MDB_val key = to_val(kPrefix);
    MDB_val value{};
    for (MDB_cursor_op move = MDB_SET_RANGE; rc == 0; move = MDB_NEXT) {
        rc = cursor.read(key, value, move);
        if (rc != 0 || to_view(key).substr(0, kPrefix.size()) != kPrefix) {
            break;
        }
        LaneRow row;
        rc = parse(key, value, row) ? 0 : MDB_CORRUPTED;
        rows.push_back(row);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

int put_lane_row(MDB_txn* txn, const LaneRow& row) noexcept {
    const Key key = key_of(row.number);
    const Stored stored{row.lane, row.bytes, row.moved, row.floor, row.floor_crc, 0};
    return put_main(txn, key.data(), {reinterpret_cast<const char*>(&stored), sizeof(stored)});
}

int delete_lane_row(MDB_txn* txn, std::uint32_t number) noexcept {
    const Key key = key_of(number);
    MDB_val key_val = to_val(key.data());
    return mdb_del(txn, kMainTable, &key_val, nullptr);
}

std::uint32_t new_lane_number(const std::vector<LaneRow>& rows) noexcept {
    const std::uint32_t next = rows.empty() ? 0 : rows.back().number + 1;
    if (next < kLanesMax) {
        return next;
    }
    std::uint32_t free = 0;
    for (const LaneRow& row : rows) {
        free += row.number == free ? 1 : 0;
    }
    return free;
}

std::uint64_t lane_reserve(std::uint64_t lane_bytes) noexcept {
    return kReserveFactor * lane_bytes;
}

std::uint64_t lane_reserve(const std::vector<LaneRow>& rows) noexcept {
    std::uint64_t reserve = 0;
    for (const LaneRow& row : rows) {
        reserve += lane_reserve(row.bytes);
    }
    return reserve;
}

}  // namespace sluice::store
