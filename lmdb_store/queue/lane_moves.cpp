// The queue's lanes: moves them to the queue, recovers them, and claims one.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "lmdb_store/queue/lmdb_queue.hpp"
#include "os/clock/clock.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

/// Bytes of one transaction. A longer one would delay the batches that wait for the same disk.
constexpr std::uint64_t kMoveBytes = 512U << 10;
/// Pause between transactions. LMDB's writer lock is not fair: without a pause, a mover with a
/// large backlog would take it again before the waiting processes wake up, for seconds.
constexpr std::chrono::microseconds kPause{200};
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
constexpr std::uint64_t kLaneBytesMin = 64U << 10;
constexpr std::uint64_t kLaneBytesDefault = 8U << 20;
/// A lane has at most this part of the map.
constexpr std::uint64_t kLaneMapPart = 128;
/// The reserve of all lanes has at most this part of the high-water mark.
constexpr std::uint64_t kReservePart = 4;

Error no_memory() {
    return {ErrorCode::kBusy, "not enough memory to move the lanes"};
}

/// Serializes the processes that claim a lane. LMDB's writer lock is not fair: after a reload all
/// new workers would wait for it at once, and the appends of the others would starve.
class LaneClaimLock {
public:
    explicit LaneClaimLock(int cells_fd) noexcept : fd_(cells_fd) { set(F_WRLCK, F_OFD_SETLKW); }
    ~LaneClaimLock() { set(F_UNLCK, F_OFD_SETLK); }
    LaneClaimLock(const LaneClaimLock&) = delete;
    LaneClaimLock& operator=(const LaneClaimLock&) = delete;

private:
    void set(short type, int command) const noexcept {
        struct flock lock {};
        lock.l_type = type;
        lock.l_whence = SEEK_SET;
        lock.l_start = 1;  // byte 0 is the movers'
        lock.l_len = 1;
        // A failure only makes the order of the waiting processes worse.
        while (::fcntl(fd_, command, &lock) != 0 && errno == EINTR) {
        }
    }

    int fd_;
};

}  // namespace

Status LmdbQueue::open_lanes() {
    Result<std::unique_ptr<LaneSet>> lanes = LaneSet::open(paths_, options_.sync);
    if (!lanes) {
        return lanes.error();
    }
    lanes_ = std::move(*lanes);
    latch_boot_ = cell_key({}, lanes_->boot());
    Result<Fd> cells = open_plain(paths_.lane_cells, O_RDWR);
    if (!cells) {
        return cells.error();
    }
    mover_lock_ = std::move(*cells);
    const Result<std::vector<LaneRow>> rows = lane_rows();
    if (!rows) {
        return rows.error();
    }
    admission_.set_reserve(lane_reserve(*rows));
    return lanes_->check_unregistered_lanes([this] { return lane_rows(); });
}

Result<std::vector<LaneRow>> LmdbQueue::lane_rows() {
    ReadTxn txn;
    std::vector<LaneRow> rows;
    int rc = txn.begin(*env_);
    rc = rc == 0 ? read_lane_rows(txn.get(), rows) : rc;
    if (rc != 0) {
        return env_->error(rc, "read the lanes in");
    }
    return rows;
}

/// Records a failed move. Damage and I/O errors latch the queue; other errors are retried.
Status LmdbQueue::lane_failure(const Error& error, int rc) noexcept {
    if (!env_->still_in_place()) {
        in_place_.store(false);  // the store was moved away with its lanes
    } else if (rc != 0) {
        static_cast<void>(failed(rc, false));
    } else if (error.code == ErrorCode::kIo) {
        std::array<char, 400> text{};
        std::snprintf(text.data(), text.size(), "a move of lanes failed: %s",
                      error.message.c_str());
        latch(Latch::kIo, text.data());
    } else if (error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kUnsupported) {
        latch(Latch::kDamage, error.message);
    }
    return error;
}

// -- Moving ---------------------------------------------------------------------------------------

LaneMover LmdbQueue::mover_for(Batch& batch, bool recovers, std::uint64_t cut_ns_max) {
    return {*lanes_, batch.txn, recovers, cut_ns_max,
            [this, &batch](std::string_view record, const Receipt& receipt) {
                const auto bytes = encode_receipt(receipt);
                const int rc = put_record(batch, record, {bytes.data(), bytes.size()});
                batch.next_seq += rc == 0 ? 1U : 0U;
                batch.moved_cost +=
                    Admission::cost_of(record.size() + bytes.size(), env_->page_bytes());
                return rc;
            }};
}

int LmdbQueue::move_lanes_first(Batch& batch, std::optional<LaneMover>& mover) noexcept {
    try {
        mover.emplace(mover_for(batch, false, kNoLimit));
        const Result<Moved> moved = mover->run(kNoLimit);
        if (!moved) {
            const int rc = mover->rc();
            static_cast<void>(rc == 0 ? lane_failure(moved.error(), 0) : Status::success());
            return rc != 0 ? rc : EBUSY;
        }
        admission_.set_reserve(lane_reserve(mover->rows()));
        batch.moved = *moved;
        return 0;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
}

/// Returns the bytes that are durable and not moved, by the cells. A lane with an unknown cell
/// counts as empty.
Result<std::uint64_t> LmdbQueue::lanes_backlog() {
    const Result<std::vector<LaneRow>> rows = lane_rows();
    if (!rows) {
        return rows.error();
    }
    std::uint64_t bytes = 0;
    for (const LaneRow& row : *rows) {
        bytes += lanes_->known_of(row).durable.value_or(row.moved) - row.moved;
    }
    return bytes;
}

bool LmdbQueue::prepare_lanes() noexcept {
    try {
        if (!recovered_.load()) {
            const bool recovered = recover_lanes().ok();
            recovered_.store(recovered);
            return recovered;
        }
        const Result<std::uint64_t> backlog = lanes_backlog();
        return backlog.ok() && (*backlog <= kMoveBytes || move_all(false, nullptr).ok());
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void LmdbQueue::publish_lane_backlog(const Moved& moved) noexcept {
    page_.words().lanes_left.store(moved.left, std::memory_order_relaxed);
    if (moved.batches > 0) {
        page_.words().lanes_batch_bytes.store(moved.bytes / moved.batches,
                                              std::memory_order_relaxed);
    }
}

/// Moves in one transaction. Returns true if more is left.
Result<bool> LmdbQueue::move_once(bool recovers, std::uint64_t cut_ns_max, ClaimedLane* claimed) {
    Batch batch{.items = {}, .now_second = now().seconds, .txn = {}, .records = {}};
    int rc = batch.txn.begin(*env_);
    rc = rc == 0 ? read_next_seq(batch) : rc;
    if (rc != 0) {
        batch.records.close();
        batch.txn.abort();
        return lane_failure(env_->error(rc, "write"), rc).error();
    }
    LaneMover mover = mover_for(batch, recovers, cut_ns_max);
    const Result<Moved> moved = mover.run(kMoveBytes);
    rc = moved ? finish_transaction(batch) : 0;
    batch.records.close();
    const bool committing = moved && rc == 0 && batch.next_seq != batch.first_seq;
    if (committing || (moved && rc == 0 && mover.rows_changed())) {
        if (preallocation_) {
            preallocation_->prepare(*env_, batch.moved_cost);
        }
        rc = batch.txn.commit();
    } else {
        batch.txn.abort();
    }
    if (!moved) {
        return lane_failure(moved.error(), mover.rc()).error();
    }
    if (rc != 0) {
        const Error error = env_->error(rc, "write");
        static_cast<void>(failed(rc, true));
        return error;
    }
    mover.committed();
    publish_lane_backlog(*moved);
    admission_.set_reserve(lane_reserve(mover.rows()));
    if (committing) {
        stored(batch.moved_cost, now());
        static_cast<void>(admission_.measure(*env_));
    }
    if (!moved->more && claimed != nullptr) {
        if (auto kept = mover.keep_one()) {
            claimed->row = kept->first;
            claimed->file.emplace(std::move(kept->second));
        }
    }
    return moved->more;
}

Status LmdbQueue::move_all(bool recovers, ClaimedLane* claimed) {
    const std::uint64_t began_ns = monotonic_ns();
    for (bool more = true; more;) {
        const Result<bool> moved = move_once(recovers, began_ns, claimed);
        if (!moved) {
            return moved.error();
        }
        more = *moved;
        if (more) {
            std::this_thread::sleep_for(kPause);
        }
    }
    if (recovers) {
        recovered_.store(true);
    }
    return Status::success();
}

bool LmdbQueue::takes_lanes() const noexcept {
    return process_latch_.load() == AppendOutcome::kPending && !latched() && in_place_.load() &&
           admission_.is_open();
}

Status LmdbQueue::move_lanes() {
    if (latched()) {
        return Status::success();
    }
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    if (::fcntl(mover_lock_.get(), F_OFD_SETLK, &lock) != 0) {
        return Status::success();  // another process moves
    }
    Status moved = Status::success();
    try {
        moved = move_all(!recovered_.load(), nullptr);
    } catch (const std::bad_alloc&) {
        moved = no_memory();
    }
    lock.l_type = F_UNLCK;
    ::fcntl(mover_lock_.get(), F_OFD_SETLK, &lock);
    return moved;
}

Status LmdbQueue::empty_lanes() {
    if (latched()) {
        return Error{ErrorCode::kIo, "no lane is moved, because " + page_.latch_text()};
    }
    return move_all(false, nullptr);  // waits for the writer lock
}

Status LmdbQueue::recover_lanes() {
    if (latched()) {
        return Status::success();
    }
    const Result<std::vector<LaneRow>> rows = lane_rows();
    if (!rows) {
        return rows.error();
    }
    for (const LaneRow& row : *rows) {
        const auto settled = get_cell(lanes_->cell_of(row).settled, lanes_->key_of(row));
        if (settled == row.moved) {
            continue;
        }
        const Result<std::shared_ptr<LaneFile>> file = lanes_->file(row);
        if (!file || !(*file)->is_locked_elsewhere()) {
            return move_all(true, nullptr);  // reports what is wrong with the file, if anything is
        }
    }
    return Status::success();
}

// -- Claiming -------------------------------------------------------------------------------------

std::uint64_t LmdbQueue::lane_bytes() const noexcept {
    const std::uint64_t wanted = options_.lane_bytes != 0 ? options_.lane_bytes : kLaneBytesDefault;
    const std::uint64_t most = std::max(env_->map_bytes() / kLaneMapPart, kLaneBytesMin);
    return std::min(wanted, most) / kLaneBlockBytes * kLaneBlockBytes;
}

Result<std::unique_ptr<LaneWriter>> LmdbQueue::take_lane() {
    if (latched()) {
        return std::unique_ptr<LaneWriter>();
    }
    const LaneClaimLock lock(mover_lock_.get());
    ClaimedLane claimed;
    if (Status recovered = move_all(true, &claimed); !recovered) {
        return recovered.error();
    }
    if (!claimed.file) {
        const std::uint64_t room = Admission::high_water_of(env_->map_bytes()) / kReservePart;
        const Result<std::vector<LaneRow>> rows = lane_rows();
        if (!rows) {
            return rows.error();
        }
        if (rows->size() >= kLanesMax || lane_reserve(*rows) + lane_reserve(lane_bytes()) > room) {
            return std::unique_ptr<LaneWriter>();
        }
        if (Status made = create_lane(claimed); !made) {
            return lane_failure(made.error(), 0).error();
        }
    }
    if (Status begun = begin_lap(claimed); !begun) {
        return lane_failure(begun.error(), 0).error();
    }
    return std::make_unique<LaneWriter>(*lanes_, claimed.row, std::move(*claimed.file));
}

/// Creates a lane under a temporary name, without a lock, because writing its zeros takes long.
Status LmdbQueue::create_lane(ClaimedLane& claimed) {
    const std::optional<Uuid> lane = parse_uuid(make_uuid());
    claimed.is_new = true;
    claimed.row.lane = *lane;
    claimed.row.bytes = lane_bytes();
    const auto path = lanes_->folder() / ("new." + std::to_string(::getpid()));
    Result<LaneFile> file = LaneFile::create(path, {lanes_->identity_of(claimed.row), lane_bytes()},
                                             lanes_->file_owner(), options_.sync);
    if (!file) {
        return file.error();
    }
    claimed.file.emplace(std::move(*file));
    return Status::success();
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
        row.number = rows.empty() ? 0 : rows.back().number + 1;
        const auto path = lanes_->path_of(row.number);
        if (!claimed.file->try_lock() ||
            ::rename(claimed.file->path().c_str(), path.c_str()) != 0) {
            return system_error(errno, "create", path);
        }
        claimed.file->renamed(path);
        if (!claimed.file->still_in_place()) {
            return Error{ErrorCode::kBusy, "\"" + path.string() +
                                               "\" was created by two processes at once: it "
                                               "will be created again"};
        }
        if (Status synced = sync_folder(lanes_->folder()); !synced) {
            return synced;
        }
    }
    LaneBatchHead head;
    head.offset = claimed.is_new ? 0 : row.moved + row.bytes;
    head.stamp_ns = monotonic_ns();
    head.answered = head.offset;
    head.boot = lanes_->boot();
    const AlignedBytes block = allocate_aligned(kLaneBlockBytes);
    if (block == nullptr) {
        return no_memory();
    }
    LaneBatchWriter writer({block.get(), kLaneBlockBytes});
    const std::string_view bytes = writer.finish(lanes_->identity_of(row), head);
    if (const int error = claimed.file->write(head.offset, bytes); error != 0) {
        return system_error(error, "write", claimed.file->path());
    }
    row.moved = head.end();
    row.floor = head.offset;
    row.floor_crc = head.crc;
    rc = put_lane_row(txn.get(), row);
    rc = rc == 0 ? txn.commit() : rc;
    return rc == 0 ? Status::success() : Status(env_->error(rc, "write"));
}

}  // namespace sluice::store
