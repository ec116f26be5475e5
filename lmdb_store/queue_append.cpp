// The append transaction: everything that is decided under the writer lock.
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "lmdb_store/lmdb_queue.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kExpiredRowsPerAppend = 4;
constexpr std::size_t kExpiredRowsAtCap = 64;
constexpr std::int64_t kLookInPlaceEveryMs = 1000;
/// A disk with less than this left counts as full when a write came back short.
constexpr std::uint64_t kDiskFullBytes = 1U << 20;

std::int64_t monotonic_ms() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

void set_pending(std::span<AppendItem> batch, AppendOutcome outcome) noexcept {
    for (AppendItem& item : batch) {
        if (item.outcome == AppendOutcome::kPending) {
            item.outcome = outcome;
        }
    }
}

bool any_pending(std::span<const AppendItem> batch) noexcept {
    return std::any_of(batch.begin(), batch.end(), [](const AppendItem& item) {
        return item.outcome == AppendOutcome::kPending;
    });
}

}  // namespace

/// Outcomes are tentative until the commit: `seq` of a pending item says where it went.
struct LmdbQueue::Batch {
    std::span<AppendItem> items;
    WriteTxn txn;
    std::int64_t now_second = 0;
    std::uint64_t first_seq = 0;  ///< Of this batch.
    std::uint64_t next_seq = 0;
    std::uint64_t idempotency_rows = 0;
};

std::optional<AppendOutcome> LmdbQueue::why_closed() noexcept {
    if (latched_.load()) {
        return AppendOutcome::kUnavailable;
    }
    const std::int64_t now_ms = monotonic_ms();
    if (now_ms - looked_in_place_ms_ >= kLookInPlaceEveryMs) {
        looked_in_place_ms_ = now_ms;
        if (!env_->still_in_place()) {
            latched_.store(true);  // the files below the path are others: never write to these
            return AppendOutcome::kUnavailable;
        }
    }
    if (admission_.room(*env_) == 0) {
        return AppendOutcome::kFull;
    }
    return std::nullopt;
}

std::optional<AppendOutcome> LmdbQueue::closed_reason() const noexcept {
    if (latched_.load()) {
        return AppendOutcome::kUnavailable;
    }
    if (admission_.room(*env_) == 0) {
        return AppendOutcome::kFull;
    }
    if (condition_.load() == AppendOutcome::kNoSpace && !disk_is_full()) {
        condition_.store(AppendOutcome::kPending);
    }
    const AppendOutcome condition = condition_.load();
    return condition == AppendOutcome::kPending ? std::nullopt : std::optional(condition);
}

bool LmdbQueue::disk_is_full() const noexcept {
    struct statvfs disk {};
    return ::statvfs(paths_.queue.c_str(), &disk) == 0 &&
           static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < kDiskFullBytes;
}

std::uint64_t LmdbQueue::idempotency_rows_max() const noexcept {
    // A row takes about 200 bytes in its two tables; they may take an eighth of the map.
    constexpr std::uint64_t kRowBytes = 200;
    return std::max<std::uint64_t>(env_->map_bytes() / 8 / kRowBytes, 16);
}

/// Admission is closed: replays are answered from a snapshot, all else gets `otherwise`.
void LmdbQueue::answer_replays(std::span<AppendItem> batch, Timestamp now,
                               AppendOutcome otherwise) noexcept {
    ReadTxn txn;
    if (txn.begin(*env_) == 0) {
        for (AppendItem& item : batch) {
            IdempotencyRow row;
            if (item.outcome != AppendOutcome::kPending || !item.claim ||
                idempotency(txn).find(IdempotencyTable::key_of(*item.claim), row) != 0 ||
                row.accepted_second + options_.idempotency_ttl_seconds <= now.seconds) {
                continue;
            }
            item.outcome = compare_claim(*item.claim, row);
            item.seq = row.seq;
            item.records_count = row.records_count;
        }
    }
    set_pending(batch, otherwise);
}

std::uint64_t LmdbQueue::cost_of(const AppendItem& item) const noexcept {
    return Admission::cost_of(item.prefix.size() + item.body.size(), env_->page_bytes());
}

/// One record that does not fit must not fail its neighbours. False: nothing is left to store.
bool LmdbQueue::refuse_what_does_not_fit(std::span<AppendItem> batch, std::uint64_t room) noexcept {
    const std::uint64_t ever = Admission::mark_of(env_->map_bytes());
    constexpr std::uint64_t kTreesPages = 16;  // what an empty queue's own tables may take
    for (AppendItem& item : batch) {
        const std::uint64_t cost = cost_of(item);
        if (cost + kTreesPages * env_->page_bytes() > ever) {
            item.outcome = AppendOutcome::kTooLarge;
        } else if (cost > room) {
            item.outcome = AppendOutcome::kFull;
        } else {
            room -= cost;
        }
    }
    return any_pending(batch);
}

int LmdbQueue::put_record(Batch& batch, const AppendItem& item) noexcept {
    KeyBytes<8> key = seq_key(batch.next_seq);
    MDB_val key_val = to_val(key);
    MDB_val value{item.prefix.size() + item.body.size(), nullptr};
    const int rc = mdb_put(batch.txn.get(), records_, &key_val, &value, MDB_APPEND | MDB_RESERVE);
    if (rc == 0) {
        auto* to = static_cast<char*>(value.mv_data);
        std::memcpy(to, item.prefix.data(), item.prefix.size());
        if (!item.body.empty()) {
            std::memcpy(to + item.prefix.size(), item.body.data(), item.body.size());
        }
    }
    return rc;
}

/// Sets the outcome, or (a replay of this very batch) only `seq`, or leaves it pending with no
/// `seq`: then it is to be stored, and `key` is its row's.
int LmdbQueue::check_claim(Batch& batch, AppendItem& item, IdempotencyKey& key) noexcept {
    key = IdempotencyTable::key_of(*item.claim);
    IdempotencyRow row;
    const int rc = idempotency(batch.txn).find(key, row);
    if (rc == MDB_NOTFOUND ||
        (rc == 0 && row.accepted_second + options_.idempotency_ttl_seconds <= batch.now_second)) {
        return make_row_room(batch, item);
    }
    if (rc == 0) {
        const AppendOutcome outcome = compare_claim(*item.claim, row);
        item.seq = row.seq;
        item.records_count = row.records_count;
        // A row of this batch is as durable as this batch: its replay waits for the commit.
        if (outcome == AppendOutcome::kConflict || row.seq.value < batch.first_seq) {
            item.outcome = outcome;
        }
    }
    return rc;
}

/// At the cap of rows, expired ones must go first; if none has, the item has to wait.
int LmdbQueue::make_row_room(Batch& batch, AppendItem& item) noexcept {
    if (batch.idempotency_rows < idempotency_rows_max()) {
        return 0;
    }
    IdempotencyTable rows = idempotency(batch.txn);
    int rc = rows.expire(batch.now_second - options_.idempotency_ttl_seconds, kExpiredRowsAtCap);
    rc = rc == 0 ? rows.count(batch.idempotency_rows) : rc;
    if (rc == 0 && batch.idempotency_rows >= idempotency_rows_max()) {
        item.outcome = AppendOutcome::kFull;
    }
    return rc;
}

int LmdbQueue::store_item(Batch& batch, AppendItem& item) noexcept {
    IdempotencyKey key{};
    item.seq = {};
    if (item.claim) {
        const int rc = check_claim(batch, item, key);
        if (rc != 0 || item.outcome != AppendOutcome::kPending || item.seq.value != 0) {
            return rc;
        }
    }
    int rc = put_record(batch, item);
    if (rc == 0 && item.claim) {
        rc = idempotency(batch.txn).put(key, {.topic = item.claim->topic,
                                              .body_sha256 = item.claim->body_sha256,
                                              .seq = {batch.next_seq},
                                              .records_count = item.claim->records_count,
                                              .accepted_second = item.received_at.seconds});
        ++batch.idempotency_rows;
    }
    if (rc == 0) {
        item.seq.value = batch.next_seq++;
        item.records_count = item.claim ? item.claim->records_count : 1;
    }
    return rc;
}

int LmdbQueue::store_batch(Batch& batch) noexcept {
    MDB_val next_key = to_val(kNextSeqKey);
    MDB_val next{};
    int rc = mdb_get(batch.txn.get(), kMainTable, &next_key, &next);
    if (rc != 0 || next.mv_size != 8) {
        return rc != 0 ? rc : MDB_CORRUPTED;
    }
    batch.first_seq = batch.next_seq = get_big_endian<std::uint64_t>(next.mv_data);
    rc = idempotency(batch.txn).count(batch.idempotency_rows);
    for (AppendItem& item : batch.items) {
        if (rc == 0 && item.outcome == AppendOutcome::kPending) {
            rc = store_item(batch, item);
        }
    }
    const std::uint64_t stored = batch.next_seq - batch.first_seq;
    if (rc != 0 || stored == 0) {
        return rc;
    }
    // The hint is believed only for records that were there before this batch.
    const SequenceNumber applied{std::min(page_.applied().value, batch.first_seq - 1)};
    std::uint64_t deleted = 0;
    rc = delete_applied(batch.txn.get(), applied, static_cast<std::size_t>(2 * stored), deleted);
    if (rc == 0 && batch.idempotency_rows > 0) {
        rc = idempotency(batch.txn).expire(batch.now_second - options_.idempotency_ttl_seconds,
                                           kExpiredRowsPerAppend);
    }
    KeyBytes<8> bytes = seq_key(batch.next_seq);
    next = to_val(bytes);
    return rc == 0 ? mdb_put(batch.txn.get(), kMainTable, &next_key, &next, 0) : rc;
}

/// What a failed transaction means, and what follows for the ones to come.
AppendOutcome LmdbQueue::failure_of(int rc) noexcept {
    ReadTxn probe;
    const bool panicked = probe.begin(*env_) == MDB_PANIC;
    if (!panicked) {
        if (rc == MDB_MAP_FULL || rc == MDB_TXN_FULL) {
            admission_.saw_full();
            return AppendOutcome::kFull;
        }
        // LMDB reports a short write, which is how a disk runs full in the middle of one, as EIO.
        if (rc == ENOSPC || rc == EDQUOT || rc == EFBIG || (rc == EIO && disk_is_full())) {
            condition_.store(AppendOutcome::kNoSpace);
            return AppendOutcome::kNoSpace;
        }
        if (rc == ENOMEM || rc == MDB_READERS_FULL || rc == MDB_MAP_RESIZED || rc == EBUSY) {
            return AppendOutcome::kUnavailable;
        }
    }
    latched_.store(true);
    return panicked || rc == EIO ? AppendOutcome::kInDoubt : AppendOutcome::kUnavailable;
}

void LmdbQueue::append(std::span<AppendItem> batch, Timestamp now) noexcept {
    if (const auto reason = why_closed()) {
        answer_replays(batch, now, *reason);
        return;
    }
    if (!refuse_what_does_not_fit(batch, admission_.room(*env_))) {
        // Whatever was refused for lack of room may still be a replay.
        for (AppendItem& item : batch) {
            if (item.outcome == AppendOutcome::kFull) {
                item.outcome = AppendOutcome::kPending;
            }
        }
        answer_replays(batch, now, AppendOutcome::kFull);
        return;
    }
    Batch work{.items = batch, .txn = {}, .now_second = now.seconds};
    int rc = work.txn.begin(*env_);
    rc = rc == 0 ? store_batch(work) : rc;
    const bool wrote = work.next_seq > work.first_seq;
    if (rc == 0 && wrote) {
        rc = work.txn.commit();
    } else {
        work.txn.abort();
    }
    if (rc != 0) {
        set_pending(batch, failure_of(rc));
        return;
    }
    condition_.store(AppendOutcome::kPending);
    // Stored items took the numbers one after the other; a replay has one that was given before.
    std::uint64_t expected = work.first_seq;
    std::uint64_t cost = 0;
    for (AppendItem& item : batch) {
        if (item.outcome == AppendOutcome::kPending) {
            const bool own = item.seq.value == expected;
            expected += own ? 1U : 0U;
            cost += own ? cost_of(item) : 0U;
            item.outcome = own ? AppendOutcome::kStored : AppendOutcome::kReplayed;
        }
    }
    if (wrote) {
        admission_.took(cost);
        page_.notify_appended(static_cast<std::uint64_t>(now.seconds) * 1000 +
                              now.nanos / 1'000'000);
    }
}

}  // namespace sluice::store
