// The queue and its lanes: moving, recovering, taking one. The order is core/commit/lane_move's.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "lmdb_store/queue/append_batch.hpp"
#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

/// Of one transaction: longer ones are felt by the batches that wait for the same disk.
constexpr std::uint64_t kMoveBytes = 512U << 10;
/// After each but the last. LMDB's writer lock is not fair: without a pause a mover that has much
/// to move takes it again before those wake who wait for it, for seconds.
constexpr std::chrono::microseconds kPause{200};
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
constexpr std::uint64_t kLaneBytesMin = 64U << 10;
constexpr std::uint64_t kLaneBytesDefault = 8U << 20;
/// A lane takes at most this part of the map.
constexpr std::uint64_t kLaneMapPart = 128;
/// All lanes' reserve takes at most this part of what admission may use.
constexpr std::uint64_t kReservePart = 4;

Error no_memory() {
    return {ErrorCode::kBusy, "not enough memory to move the lanes"};
}

/// One process takes a lane at a time. LMDB's writer lock is not fair: after a reload all new
/// workers would wait for it at once, and the appends of those that serve would starve.
class TakersTurn {
public:
    explicit TakersTurn(int cells_fd) noexcept : fd_(cells_fd) { set(F_WRLCK, F_OFD_SETLKW); }
    ~TakersTurn() { set(F_UNLCK, F_OFD_SETLK); }
    TakersTurn(const TakersTurn&) = delete;
    TakersTurn& operator=(const TakersTurn&) = delete;

private:
    void set(short type, int command) const noexcept {
        struct flock lock {};
        lock.l_type = type;
        lock.l_whence = SEEK_SET;
        lock.l_start = 1;  // behind the movers' byte
        lock.l_len = 1;
        // Without it, only the order of those who wait is worse.
        while (::fcntl(fd_, command, &lock) != 0 && errno == EINTR) {
        }
    }

    int fd_;
};

}  // namespace

struct LmdbQueue::Taken {
    LaneRow row;
    std::optional<LaneFile> file;
    bool is_new = false;  ///< No row yet.
};

Status LmdbQueue::open_lanes() {
    Result<std::unique_ptr<LaneSet>> lanes = LaneSet::open(paths_, options_.sync);
    if (!lanes) {
        return lanes.error();
    }
    lanes_ = std::move(*lanes);
    latch_boot_ = cell_key({}, lanes_->boot());
    mover_lock_ = Fd(open_retrying(paths_.lane_cells.c_str(), O_RDWR));
    if (!mover_lock_.ok()) {
        return system_error(errno, "write", paths_.lane_cells);
    }
    const Result<std::vector<LaneRow>> rows = lane_rows();
    if (!rows) {
        return rows.error();
    }
    admission_.set_reserve(lane_reserve(*rows));
    return lanes_->check_strangers([this] { return lane_rows(); });
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

// -- Latch ----------------------------------------------------------------------------------------

void LmdbQueue::latch(Latch latch, std::string_view text) noexcept {
    page_.set_latch(latch, latch_boot_, text);
}

void LmdbQueue::latch_commit(int rc) noexcept {
    std::array<char, 400> text{};
    std::snprintf(text.data(), text.size(), "a commit to \"%s\" failed: %s",
                  (paths_.queue / "data.mdb").c_str(), mdb_strerror(rc));
    latch(Latch::kIo, text.data());
}

std::optional<Latch> LmdbQueue::latched() const noexcept {
    return page_.latched(latch_boot_);
}

Status LmdbQueue::unlatch() {
    // A commit writes data and meta page, with a sync each.
    WriteTxn txn;
    int rc = txn.begin(*env_);
    MDB_val key = to_val(std::string_view("unlatched"));
    KeyBytes<8> second{};
    put_big_endian(second.data(), static_cast<std::uint64_t>(now().seconds));
    MDB_val value = to_val(second);
    rc = rc == 0 ? mdb_put(txn.get(), kMainTable, &key, &value, 0) : rc;
    rc = rc == 0 ? txn.commit() : rc;
    if (rc != 0) {
        return env_->error(rc, "write");
    }
    if (lanes_ != nullptr) {
        if (Status written = lanes_->try_write(); !written) {
            return written;
        }
    }
    page_.clear_latch();
    return Status::success();
}

/// What cannot be read now is tried again; what is damaged stops everything that stores.
Status LmdbQueue::lane_failure(const Error& error, int rc) noexcept {
    if (!env_->still_in_place()) {
        in_place_.store(false);  // the store was moved away, and its lanes with it
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

int LmdbQueue::move_first(Batch& batch, std::optional<LaneMover>& mover) noexcept {
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

/// Bytes, as the cells say; a lane whose cell tells nothing counts nothing.
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

bool LmdbQueue::clear_lanes() noexcept {
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

void LmdbQueue::tell_moved(const Moved& moved) noexcept {
    page_.words().lanes_left.store(moved.left, std::memory_order_relaxed);
    if (moved.batches > 0) {
        page_.words().lanes_batch_bytes.store(moved.bytes / moved.batches,
                                              std::memory_order_relaxed);
    }
}

/// One transaction. @return true: there is more.
Result<bool> LmdbQueue::move_once(bool recovers, std::uint64_t cut_ns_max, Taken* taken) {
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
        if (headroom_) {
            headroom_->prepare(*env_, batch.moved_cost);
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
    tell_moved(*moved);
    admission_.set_reserve(lane_reserve(mover.rows()));
    if (committing) {
        stored(batch.moved_cost, now());
        static_cast<void>(admission_.measure(*env_));
    }
    if (!moved->more && taken != nullptr) {
        if (auto kept = mover.keep_one()) {
            taken->row = kept->first;
            taken->file.emplace(std::move(kept->second));
        }
    }
    return moved->more;
}

Status LmdbQueue::move_all(bool recovers, Taken* taken) {
    const std::uint64_t began_ns = monotonic_ns();
    for (bool more = true; more;) {
        const Result<bool> moved = move_once(recovers, began_ns, taken);
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
    return latched_.load() == AppendOutcome::kPending && !latched() && in_place_.load() &&
           admission_.is_open();
}

Status LmdbQueue::move_lanes() {
    if (lanes_ == nullptr || latched()) {
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
    if (lanes_ == nullptr) {
        return Status::success();
    }
    if (latched()) {
        return Error{ErrorCode::kIo, "nothing is moved, because " + page_.latch_text()};
    }
    return move_all(false, nullptr);  // the writer lock is waited for
}

Status LmdbQueue::recover_lanes() {
    if (lanes_ == nullptr || latched()) {
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
            return move_all(true, nullptr);  // says what is wrong with the file, if anything is
        }
    }
    return Status::success();
}

// -- Taking ---------------------------------------------------------------------------------------

std::uint64_t LmdbQueue::lane_bytes() const noexcept {
    const std::uint64_t wanted = options_.lane_bytes != 0 ? options_.lane_bytes : kLaneBytesDefault;
    const std::uint64_t most = std::max(env_->map_bytes() / kLaneMapPart, kLaneBytesMin);
    return std::min(wanted, most) / kLaneBlockBytes * kLaneBlockBytes;
}

Result<std::unique_ptr<LaneWriter>> LmdbQueue::take_lane() {
    if (lanes_ == nullptr || latched()) {
        return std::unique_ptr<LaneWriter>();
    }
    const TakersTurn turn(mover_lock_.get());
    Taken taken;
    if (Status recovered = move_all(true, &taken); !recovered) {
        return recovered.error();
    }
    if (!taken.file) {
        const std::uint64_t room = admission_.mark_of(env_->map_bytes()) / kReservePart;
        const Result<std::vector<LaneRow>> rows = lane_rows();
        if (!rows) {
            return rows.error();
        }
        if (rows->size() >= kLanesMax || lane_reserve(*rows) + lane_reserve(lane_bytes()) > room) {
            return std::unique_ptr<LaneWriter>();
        }
        if (Status made = make_lane(taken); !made) {
            return lane_failure(made.error(), 0).error();
        }
    }
    if (Status begun = begin_lap(taken); !begun) {
        return lane_failure(begun.error(), 0).error();
    }
    return std::make_unique<LaneWriter>(*lanes_, taken.row, std::move(*taken.file));
}

/// Not under its name yet, so that nobody waits for its zeros.
Status LmdbQueue::make_lane(Taken& taken) {
    const std::optional<Uuid> lane = parse_uuid(make_uuid());
    taken.is_new = true;
    taken.row.lane = *lane;
    taken.row.bytes = lane_bytes();
    const auto path = lanes_->folder() / ("new." + std::to_string(::getpid()));
    Result<LaneFile> file = LaneFile::create(path, {lanes_->identity_of(taken.row), lane_bytes()},
                                             lanes_->file_owner(), options_.sync);
    if (!file) {
        return file.error();
    }
    taken.file.emplace(std::move(*file));
    return Status::success();
}

/// The opening batch, a lap behind everything that was ever written there: what lies in the ring
/// cannot pass for what is written from now on. It is durable before its row is, so an older copy
/// of the file is known by its absence.
Status LmdbQueue::begin_lap(Taken& taken) {
    LaneRow& row = taken.row;
    WriteTxn txn;
    int rc = txn.begin(*env_);
    std::vector<LaneRow> rows;
    rc = rc == 0 ? read_lane_rows(txn.get(), rows) : rc;
    if (rc != 0) {
        return env_->error(rc, "write");
    }
    if (taken.is_new) {
        row.number = rows.empty() ? 0 : rows.back().number + 1;
        const auto path = lanes_->path_of(row.number);
        if (!taken.file->try_lock() || ::rename(taken.file->path().c_str(), path.c_str()) != 0) {
            return system_error(errno, "make", path);
        }
        taken.file->renamed(path);
        if (!taken.file->still_in_place()) {
            return Error{ErrorCode::kBusy, "\"" + path.string() +
                                               "\" was made by two processes at once: it is "
                                               "made again"};
        }
        if (Status synced = sync_folder(lanes_->folder()); !synced) {
            return synced;
        }
    }
    LaneBatchHead head;
    head.offset = taken.is_new ? 0 : row.moved + row.bytes;
    head.stamp_ns = monotonic_ns();
    head.answered = head.offset;
    head.boot = lanes_->boot();
    const AlignedBytes block = allocate_aligned(kLaneBlockBytes);
    if (block == nullptr) {
        return no_memory();
    }
    LaneBatchWriter writer({block.get(), kLaneBlockBytes});
    const std::string_view bytes = writer.finish(lanes_->identity_of(row), head);
    if (const int error = taken.file->write(head.offset, bytes); error != 0) {
        return system_error(error, "write", taken.file->path());
    }
    row.moved = head.end();
    row.floor = head.offset;
    row.floor_crc = head.crc;
    rc = put_lane_row(txn.get(), row);
    rc = rc == 0 ? txn.commit() : rc;
    return rc == 0 ? Status::success() : Status(env_->error(rc, "write"));
}

}  // namespace sluice::store
