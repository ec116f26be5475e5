// The queue's lanes: moves them to the queue, and recovers them.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <new>
#include <thread>
#include <utility>

#include "lmdb_store/environment/reaction.hpp"
#include "lmdb_store/queue/lmdb_queue.hpp"
#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

/// Pause between transactions. LMDB's writer lock is not fair: without a pause, a mover with a
/// large backlog would take it again before the waiting processes wake up, for seconds.
constexpr std::chrono::microseconds kPause{200};
constexpr std::uint64_t kEveryRecord = ~std::uint64_t{0};
/// Bytes of one transaction while the backlog is large: the lanes of killed processes, or a disk
/// that fell behind. Then the syncs of many transactions would cost more than their bytes.
constexpr std::uint64_t kLargeMoveBytes = 4U << 20;
constexpr std::uint64_t kLargeBacklog = 16U << 20;

Error no_memory() {
    return {ErrorCode::kBusy, "not enough memory to move the lanes"};
}

}  // namespace

void LmdbQueue::open_lanes() {
    lanes_ = checked(LaneSet::open(paths_, options_.sync));
    latch_boot_ = cell_key({}, lanes_->boot());
    recovery_.emplace(*lanes_, [this] { return lane_rows(); });
    admission_.set_reserve(lane_reserve(checked(lane_rows())));
    check(lanes_->check_unregistered_lanes([this] { return lane_rows(); }));
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

/// Latches the queue if the error says that the disk is suspect or a lane damaged. Returns it.
const Error& LmdbQueue::lane_failure(const Error& error, int rc) noexcept {
    if (!env_->still_in_place()) {
        in_place_.store(false);  // the store was moved away with its lanes
    } else if (rc != 0 || env_->failure() != 0) {
        static_cast<void>(failed(rc, false));
    } else if (reaction_to(error.code) == Reaction::kLatch) {
        if (error.code == ErrorCode::kIo) {
            std::array<char, 400> text{};
            std::snprintf(text.data(), text.size(), "a move of lanes failed: %s",
                          error.message.c_str());
            latch(Latch::kIo, text.data());
        } else {
            latch(Latch::kDamage, error.message);
        }
    }
    return error;
}

// -- Moving ---------------------------------------------------------------------------------------

LaneMover LmdbQueue::mover_for(AppendTxn& batch, LaneSources& sources, std::uint64_t cut_ns) {
    return {*lanes_, sources, batch.txn, cut_ns,
            [this, &batch](std::string_view record, const Receipt& receipt) {
                const auto bytes = encode_receipt(receipt);
                const int rc = put_record(batch, record, {bytes.data(), bytes.size()});
                batch.next_seq += rc == 0 ? 1U : 0U;
                batch.moved_cost +=
                    Admission::cost_of(record.size() + bytes.size(), env_->page_bytes());
                return rc;
            }};
}

int LmdbQueue::move_lanes_first(AppendTxn& batch) noexcept {
    try {
        batch.sources.emplace(*lanes_);
        batch.mover.emplace(mover_for(batch, *batch.sources, batch.cut_ns));
        Result<Moved> moved = batch.mover->run(kEveryRecord);
        if (!moved) {
            const int rc = batch.mover->rc();
            if (rc == 0) {
                lane_failure(moved.error());
            }
            return rc != 0 ? rc : EBUSY;
        }
        admission_.set_reserve(lane_reserve(batch.mover->rows()));
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

bool LmdbQueue::prepare_lanes(std::uint64_t cut_ns) noexcept {
    try {
        if (Status settled = settle_once(); !settled) {
            return false;
        }
        const Result<std::uint64_t> backlog = lanes_backlog();
        return backlog.ok() && (*backlog <= kMoveBytes || move_all(cut_ns).ok());
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

/// Moves about `bytes_max` bytes in one transaction. Returns true if more is left.
Result<bool> LmdbQueue::move_once(LaneSources& sources, std::uint64_t cut_ns,
                                  std::uint64_t bytes_max) {
    AppendTxn batch{.items = {}, .now_second = now().seconds};
    int rc = batch.txn.begin(*env_);
    rc = rc == 0 ? read_next_seq(batch) : rc;
    if (rc != 0) {
        batch.records.close();
        batch.txn.abort();
        return lane_failure(env_->error(rc, "write"), rc);
    }
    LaneMover mover = mover_for(batch, sources, cut_ns);
    const Result<Moved> moved = mover.run(bytes_max);
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
        return lane_failure(moved.error(), mover.rc());
    }
    if (rc != 0) {
        Error error = env_->error(rc, "write");
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
    return moved->more;
}

Status LmdbQueue::move_all(std::uint64_t cut_ns) {
    const Result<std::uint64_t> backlog = lanes_backlog();
    if (!backlog) {
        return backlog.error();
    }
    const std::uint64_t bytes_max = *backlog > kLargeBacklog ? kLargeMoveBytes : kMoveBytes;
    LaneSources sources(*lanes_);
    bool advanced = false;
    for (bool more = true; more;) {
        const Result<bool> moved = move_once(sources, cut_ns, bytes_max);
        if (!moved && moved.error().code == ErrorCode::kFull && !std::exchange(advanced, true) &&
            free_last_pages()) {
            continue;
        }
        if (!moved) {
            return moved.error();
        }
        more = *moved;
        if (more) {
            std::this_thread::sleep_for(kPause);
        }
    }
    return Status::success();
}

bool LmdbQueue::takes_lanes() const noexcept {
    return process_latch_.load() == AppendOutcome::kPending && !latched() && in_place_.load() &&
           admission_.is_open();
}

Status LmdbQueue::settle() {
    const Result<bool> settled = recovery_->settle();
    if (!settled) {
        return lane_failure(settled.error());
    }
    settled_.store(true);
    if (*settled) {
        page_.words().lanes_freed.fetch_add(1);
    }
    return Status::success();
}

/// Settles the lanes that earlier processes left, once in this process.
Status LmdbQueue::settle_once() {
    return settled_.load() ? Status::success() : settle();
}

Status LmdbQueue::move_lanes() {
    if (latched()) {
        return Status::success();
    }
    const LaneLock lock(*lanes_, LaneLock::Byte::kMovers, false);
    if (!lock.is_held()) {
        return Status::success();  // another process moves
    }
    try {
        Status settled = settle_once();
        return settled ? move_all(monotonic_ns()) : settled;
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
}

Status LmdbQueue::empty_lanes() {
    if (latched()) {
        return Error{ErrorCode::kIo, "no lane is moved, because " + page_.latch_text()};
    }
    return move_all(monotonic_ns());  // waits for the writer lock
}

Status LmdbQueue::recover_lanes_in_turn() {
    const LaneLock turn(*lanes_, LaneLock::Byte::kMovers);
    return recover_lanes();
}

Status LmdbQueue::recover_lanes() {
    if (latched()) {
        return Status::success();
    }
    if (Status settled = settle(); !settled) {
        return settled;
    }
    const Result<std::vector<LaneRow>> rows = lane_rows();
    if (!rows) {
        return rows.error();
    }
    const bool left = std::any_of(rows->begin(), rows->end(), [this](const LaneRow& row) {
        return recovery_->is_settled(row) && lanes_->known_of(row).durable != row.moved;
    });
    return left ? move_all(monotonic_ns()) : Status::success();
}

}  // namespace sluice::store
