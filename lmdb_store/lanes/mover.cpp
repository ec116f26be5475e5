#include "lmdb_store/lanes/mover.hpp"

#include <algorithm>

#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kReadAheadMin = 16U << 10;

/// Raises a word to `offset`. A mover that committed later may have stored its value first. If a
/// word is lowered by such a race, the next mover raises it again.
void raise_cell(std::atomic<std::uint64_t>& word, std::uint64_t offset,
                std::uint64_t key) noexcept {
    if (get_cell(word, key).value_or(0) < offset) {
        put_cell(word, offset, key);
    }
}

}  // namespace

void LaneSources::Source::expect_end(std::optional<std::uint64_t> durable) noexcept {
    if (from_ && (!durable || !durable_)) {
        from_->forget();
    }
    durable_ = durable;
}

Result<std::string_view> LaneSources::Source::read(std::uint64_t offset, std::uint64_t bytes) {
    if (!from_) {
        Result<std::shared_ptr<LaneFile>> file = lanes_.file(row_);
        if (!file) {
            failed_ = true;
            return file.error();
        }
        file_ = std::move(*file);
        from_.emplace(*file_, lanes_.buffers());
    }
    from_->expect_end(durable_.value_or(0));
    from_->read_ahead(read_ahead_);
    return from_->read(offset, bytes);
}

LaneSources::Source& LaneSources::of(const LaneRow& row) {
    std::unique_ptr<Source>& source = sources_[row.number];
    if (source == nullptr || source->lane() != row.lane) {
        source = std::make_unique<Source>(lanes_, row);
    }
    return *source;
}

LaneMover::LaneMover(LaneSet& lanes, LaneSources& sources, const WriteTxn& txn,
                     std::uint64_t cut_ns_max, Put put)
    : lanes_(lanes), sources_(sources), txn_(txn), cut_ns_max_(cut_ns_max), put_(std::move(put)) {}

void LaneMover::share_reading(std::uint64_t bytes_max) {
    const auto is_filled = [this](const LaneRow& row) {
        return lanes_.known_of(row).durable.value_or(row.moved + 1) > row.moved;
    };
    const auto filled = std::count_if(rows_.begin(), rows_.end(), is_filled);
    const std::uint64_t share =
        bytes_max / std::max<std::uint64_t>(1, static_cast<std::uint64_t>(filled));
    const std::uint64_t blocks =
        std::clamp(share, kReadAheadMin, LaneFileSource::kReadAheadMax) / kLaneBlockBytes;
    for (const Lane& lane : open_) {
        lane.source->read_ahead(blocks * kLaneBlockBytes);
    }
}

Result<Moved> LaneMover::run(std::uint64_t bytes_max) {
    rc_ = read_lane_rows(txn_.get(), rows_);
    if (rc_ != 0) {
        return txn_.environment().error(rc_, "read the lanes in");
    }
    open_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        open_[i].source = &sources_.of(rows_[i]);
    }
    share_reading(bytes_max);
    const Result<Moved> moved = move_lanes(*this, bytes_max);
    for (std::size_t i = 0; moved && rc_ == 0 && i < rows_.size(); ++i) {
        rc_ = open_[i].changed ? put_lane_row(txn_.get(), rows_[i]) : 0;
    }
    if (moved && rc_ != 0) {
        return txn_.environment().error(rc_, "write");
    }
    return moved;
}

bool LaneMover::rows_changed() const noexcept {
    return std::any_of(open_.begin(), open_.end(), [](const Lane& lane) { return lane.changed; });
}

void LaneMover::committed() noexcept {
    for (const LaneRow& row : rows_) {
        LaneCell& cell = lanes_.cell_of(row);
        const std::uint64_t key = lanes_.key_of(row);
        raise_cell(cell.floor, row.floor, key);
        raise_cell(cell.moved, row.moved, key);
    }
}

std::uint64_t LaneMover::now_ns() {
    return std::min(monotonic_ns(), cut_ns_max_);
}

LaneKnown LaneMover::probe(std::size_t lane) {
    const LaneKnown known = lanes_.known_of(rows_[lane]);
    open_[lane].source->expect_end(known.durable);
    return known;
}

Status LaneMover::put(std::size_t lane, std::uint64_t offset, std::uint32_t index,
                      std::string_view record) {
    rc_ = put_(record, {rows_[lane].number, offset, index});
    return rc_ == 0 ? Status::success() : Status(txn_.environment().error(rc_, "write"));
}

void LaneMover::moved(std::size_t lane, const LaneBatchHead& last) {
    LaneRow& row = rows_[lane];
    row.moved = last.end();
    row.floor = last.offset;
    row.floor_crc = last.crc;
    open_[lane].changed = true;
}

Error LaneMover::named(std::size_t lane, const Error& error) const {
    // Errors of opening the file name it already.
    const bool unnamed = error.code == ErrorCode::kCorrupt && !open_[lane].source->failed_to_open();
    return unnamed ? Error{error.code, "\"" + lanes_.path_of(rows_[lane].number).string() + "\" " +
                                           error.message}
                   : error;
}

Status visit_lane(LaneSet& lanes, const LaneRow& row, const LaneFile& file,
                  const std::function<bool(const LaneBatch&)>& visit) {
    const LaneKnown known = lanes.known_of(row);
    const std::uint64_t end = known.durable.value_or(row.floor + row.bytes);
    LaneFileSource source(file, lanes.buffers());
    source.expect_end(known.durable.value_or(0));
    for (std::uint64_t at = row.moved; at < end;) {
        const Result<std::optional<LaneBatch>> batch = read_lane_batch(source, known.identity, at);
        if (!batch) {
            return batch.error();
        }
        if (!*batch || !visit(**batch)) {
            break;
        }
        at = (*batch)->head().end();
    }
    return Status::success();
}

}  // namespace sluice::store
