#include "lmdb_store/lanes/lane_writer.hpp"

#include "lmdb_store/lanes/lane_set.hpp"

namespace sluice::store {

LaneWriter::LaneWriter(const LaneSet& lanes, const LaneRow& row, LaneFile file)
    : file_(std::move(file)),
      identity_(lanes.identity_of(row)),
      boot_(lanes.boot()),
      cell_(lanes.cell_of(row)),
      key_(lanes.key_of(row)),
      bytes_(row.bytes),
      end_(row.moved),
      floor_(row.floor),
      number_(row.number) {
    put_cell(cell_.durable, end_, key_);
    put_cell(cell_.floor, floor_, key_);
    put_cell(cell_.moved, end_, key_);
}

void LaneWriter::publish(std::uint64_t durable) noexcept {
    put_cell(cell_.durable, durable, key_);
}

std::optional<LaneWriter::Room> LaneWriter::room() const noexcept {
    const auto moved = get_cell(cell_.moved, key_);
    const auto floor = get_cell(cell_.floor, key_);
    return moved && floor ? std::optional(Room{*floor, *moved}) : std::nullopt;
}

}  // namespace sluice::store
