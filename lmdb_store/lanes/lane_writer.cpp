#include "lmdb_store/lanes/lane_writer.hpp"

#include "lmdb_store/lanes/lane_file.hpp"
#include "lmdb_store/lanes/lane_set.hpp"

namespace sluice::store {

LaneWriter::LaneWriter(LaneSet& lanes, const LaneRow& row, LaneFile file)
    : lanes_(lanes),
      file_(std::make_unique<LaneFile>(std::move(file))),
      identity_(lanes.identity_of(row)),
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

LaneWriter::~LaneWriter() = default;

const Uuid& LaneWriter::boot() const noexcept {
    return lanes_.boot();
}

const std::filesystem::path& LaneWriter::path() const noexcept {
    return file_->path();
}

bool LaneWriter::is_direct() const noexcept {
    return file_->is_direct();
}

int LaneWriter::write(std::uint64_t offset, std::string_view batch) noexcept {
    return file_->write(offset, batch);
}

void LaneWriter::publish(std::uint64_t durable) noexcept {
    put_cell(cell_.durable, durable, key_);
}

std::optional<LaneWriter::Room> LaneWriter::room() const noexcept {
    const auto moved = get_cell(cell_.moved, key_);
    const auto floor = get_cell(cell_.floor, key_);
    return moved && floor ? std::optional(Room{*floor, *moved}) : std::nullopt;
}

bool LaneWriter::still_in_place() const noexcept {
    return file_->still_in_place();
}

}  // namespace sluice::store
