// The queue's lanes: claims one for this process, or creates it.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "lmdb_store/environment/reaction.hpp"
#include "lmdb_store/queue/lmdb_queue.hpp"
#include "os/clock/clock.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kLaneBytesMin = 64U << 10;
constexpr std::uint64_t kLaneBytesDefault = 8U << 20;
/// A lane has at most this part of the map.
constexpr std::uint64_t kLaneMapPart = 128;
/// The reserve of all lanes has at most this part of the high-water mark.
constexpr std::uint64_t kReservePart = 4;

/// Names the process that has the claimers' lock, for those that wait, while it lives.
class ClaimerName {
public:
    explicit ClaimerName(std::atomic<std::uint64_t>& claimer) noexcept : claimer_(claimer) {
        claimer_.store(static_cast<std::uint64_t>(::getpid()));
    }
    ~ClaimerName() { claimer_.store(0); }
    ClaimerName(const ClaimerName&) = delete;
    ClaimerName& operator=(const ClaimerName&) = delete;

private:
    std::atomic<std::uint64_t>& claimer_;
};

}  // namespace

std::uint64_t LmdbQueue::lane_bytes() const noexcept {
    const std::uint64_t wanted = options_.lane_bytes != 0 ? options_.lane_bytes : kLaneBytesDefault;
    std::uint64_t most = env_->map_bytes() / kLaneMapPart;
    if (options_.lanes_wanted != 0) {
        most = std::min(most, lanes_room() / lane_reserve(options_.lanes_wanted));
    }
    return std::min(wanted, std::max(most, kLaneBytesMin)) / kLaneBlockBytes * kLaneBlockBytes;
}

/// Returns the bytes that the reserve of all lanes may take.
std::uint64_t LmdbQueue::lanes_room() const noexcept {
    return Admission::high_water_of(env_->map_bytes()) / kReservePart;
}

Result<bool> LmdbQueue::has_room_for_lane() {
    const Result<std::vector<LaneRow>> rows = lane_rows();
    if (!rows) {
        return rows.error();
    }
    return rows->size() < kLanesMax &&
           lane_reserve(*rows) + lane_reserve(lane_bytes()) <= lanes_room();
}

/// Claims a lane without an owner whose records are all in the queue, if there is one.
Result<std::optional<ClaimedLane>> LmdbQueue::claim_empty_lane(std::uint64_t bytes_min) {
    Result<std::optional<ClaimedLane>> free = recovery_->claim(bytes_min);
    if (!free) {
        lane_failure(free.error());
    }
    return free;
}

/// Moves what lanes hold from before this boot of the machine. One process looks for it, because
/// that reads a batch of each lane, and later batches are of this boot.
/// Requires: every lane without an owner is settled.
Status LmdbQueue::move_earlier_boots() {
    std::atomic<std::uint64_t>& lanes_boot = page_.words().lanes_boot;
    if (lanes_boot.load() == latch_boot_) {
        return Status::success();
    }
    const Result<bool> earlier = recovery_->holds_earlier_boot();
    if (!earlier) {
        return lane_failure(earlier.error());
    }
    Status moved = *earlier ? move_all(monotonic_ns()) : Status::success();
    if (moved) {
        lanes_boot.store(latch_boot_);
    }
    return moved;
}

/// Claims or creates a lane. Records of this boot may wait for their move, because moves go by
/// stamp and the stamps of this process will be higher, so a large backlog is moved first only if
/// there is no room for another lane. Returns none if there is no room then. A lane of less than
/// half the present size, which is left of a smaller map or of more workers, is used only if there
/// is no room for another one.
Result<std::optional<ClaimedLane>> LmdbQueue::claim_lane() {
    if (Status moved = move_earlier_boots(); !moved) {
        return moved.error();
    }
    const std::uint64_t bytes_min = lane_bytes() / 2;
    Result<std::optional<ClaimedLane>> found = claim_empty_lane(bytes_min);
    if (!found || *found) {
        return found;
    }
    const Result<std::uint64_t> backlog = lanes_backlog();
    const Result<bool> room = has_room_for_lane();
    if (!backlog || !room) {
        return backlog ? room.error() : backlog.error();
    }
    if (*backlog <= kMoveBytes || !*room) {
        if (Status moved = move_all(monotonic_ns()); !moved) {
            return moved.error();
        }
        found = claim_empty_lane(bytes_min);
        if (!found || *found) {
            return found;
        }
    }
    if (!*room) {
        return claim_empty_lane(0);
    }
    found = create_lane();
    if (!found) {
        lane_failure(found.error());
    }
    return found;
}

Result<std::unique_ptr<LaneWriter>> LmdbQueue::take_lane() {
    const auto unwanted = [this] {
        return options_.lane_unwanted != nullptr && options_.lane_unwanted->load();
    };
    if (latched() || unwanted()) {
        return std::unique_ptr<LaneWriter>();
    }
    const LaneLock lock(*lanes_, LaneLock::Byte::kClaimers);
    if (unwanted()) {
        return std::unique_ptr<LaneWriter>();
    }
    const ClaimerName name(page_.words().lane_claimer);
    if (lock.is_held()) {
        lanes_->sweep_unfinished();
    }
    // Before this process gives its first stamp, so that no move can pass by an answered record.
    if (Status settled = settle(); !settled) {
        return settled.error();
    }
    Result<std::optional<ClaimedLane>> claimed = claim_lane();
    if (!claimed) {
        return claimed.error();
    }
    if (!*claimed) {
        return std::unique_ptr<LaneWriter>();
    }
    if (Status begun = begin_lap(**claimed); !begun) {
        return lane_failure(begun.error());
    }
    return std::make_unique<LaneWriter>(*lanes_, (*claimed)->row, std::move((*claimed)->file));
}

/// Creates a lane under a temporary name, without a lock, because writing its zeros takes long.
Result<std::optional<ClaimedLane>> LmdbQueue::create_lane() {
    LaneRow row;
    const auto uuid = parse_uuid(make_uuid());
    SLUICE_ASSERT(uuid);
    row.lane = *uuid;
    row.bytes = lane_bytes();
    Result<LaneFile> file =
        LaneFile::create(lanes_->unfinished_path(), {lanes_->identity_of(row), row.bytes},
                         lanes_->file_owner(), options_.sync);
    if (!file) {
        return file.error();
    }
    return std::optional(ClaimedLane{row, std::move(*file), true});
}

/// Writes the opening batch, one lap after everything that was ever written to the lane, so that
/// old bytes in the ring are not mistaken for new batches. It is durable before its row, so its
/// absence reveals an older copy of the file.
Status LmdbQueue::begin_lap(ClaimedLane& claimed) {
    LaneRow& row = claimed.row;
    WriteTxn txn;
    int rc = txn.begin(*env_);
    std::vector<LaneRow> rows;
    rc = rc == 0 ? read_lane_rows(txn.get(), rows) : rc;
    if (rc != 0) {
        return env_->error(rc, "write");
    }
    if (claimed.is_new) {
        row.number = new_lane_number(rows);
        const auto path = lanes_->path_of(row.number);
        if (!claimed.file.try_lock() || ::rename(claimed.file.path().c_str(), path.c_str()) != 0) {
            return system_error(errno, "create", path);
        }
        claimed.file.renamed(path);
        if (!claimed.file.still_in_place()) {
            return Error{ErrorCode::kBusy, "\"" + path.string() +
                                               "\" was created by two processes at once: it "
                                               "will be created again"};
        }
        if (Status synced = sync_folder(lanes_->folder()); !synced) {
            return synced;
        }
    }
    const auto is_same = [&row](const LaneRow& each) {
        return each.lane == row.lane && each.moved == row.moved;
    };
    if (!claimed.is_new && std::none_of(rows.begin(), rows.end(), is_same)) {
        return Error{ErrorCode::kBusy, "\"" + claimed.file.path().string() +
                                           "\" was dropped or claimed meanwhile: another lane "
                                           "will be claimed"};
    }
    LaneBatchHead head;
    head.offset = claimed.is_new ? 0 : row.moved + row.bytes;
    head.stamp_ns = monotonic_ns();
    head.answered = head.offset;
    head.boot = lanes_->boot();
    const AlignedBytes block = allocate_aligned(kLaneBlockBytes);
    if (block == nullptr) {
        return Error{ErrorCode::kBusy, "not enough memory to claim a lane"};
    }
    LaneBatchWriter writer({block.get(), kLaneBlockBytes});
    const std::string_view bytes = writer.finish(lanes_->identity_of(row), head);
    if (const int error = claimed.file.write(head.offset, bytes); error != 0) {
        return disk_error(error, "write", claimed.file.path());
    }
    row.moved = head.end();
    row.floor = head.offset;
    row.floor_crc = head.crc;
    rc = put_lane_row(txn.get(), row);
    rc = rc == 0 ? txn.commit() : rc;
    return rc == 0 ? Status::success() : Status(env_->error(rc, "write"));
}

}  // namespace sluice::store
