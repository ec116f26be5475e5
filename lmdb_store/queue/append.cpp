// append(): stores a batch of records and sets their outcomes.
//
// Outcomes are set while the transaction is filled. If it fails, undo() resets those that depend on
// it, which are the ones with a sequence number of this transaction.
#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "lmdb_store/environment/reaction.hpp"
#include "lmdb_store/queue/lmdb_queue.hpp"
#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kExpiredRowsPerAppend = 4;
constexpr std::uint64_t kExpiredRowsAtCap = 64;
constexpr std::int64_t kCheckInPlaceEveryMs = 500;

bool is_pending(const AppendItem& item) noexcept {
    return item.outcome == AppendOutcome::kPending;
}

void set_pending(std::span<AppendItem> batch, AppendOutcome outcome) noexcept {
    for (AppendItem& item : batch) {
        item.outcome = is_pending(item) ? outcome : item.outcome;
    }
}

bool any_pending(std::span<const AppendItem> batch) noexcept {
    return std::any_of(batch.begin(), batch.end(), is_pending);
}

bool is_full(int rc) noexcept {
    return rc == MDB_MAP_FULL || rc == MDB_TXN_FULL;
}

/// Resets the items that the aborted transaction had stored, and replays that refer to them.
void undo(std::span<AppendItem> batch, std::uint64_t first_seq) noexcept {
    for (AppendItem& item : batch) {
        if (item.seq.value >= first_seq) {
            item.seq = {};
            item.records_count = 0;
            item.outcome = AppendOutcome::kPending;
        }
    }
}

void set_row(AppendItem& item, const IdempotencyRow& row) noexcept {
    item.outcome = compare_claim(*item.claim, row);
    item.seq = row.seq;
    item.records_count = row.records_count;
}

}  // namespace

std::uint64_t LmdbQueue::idempotency_rows_max() const noexcept {
    // A row takes about 200 bytes in its two tables; they may take an eighth of the map.
    constexpr std::uint64_t kRowBytes = 200;
    return std::max<std::uint64_t>(env_->map_bytes() / 8 / kRowBytes, 16);
}

bool LmdbQueue::expired(const IdempotencyRow& row, std::int64_t now_second) const noexcept {
    const std::int64_t ttl = options_.idempotency_ttl_seconds;
    return ttl > 0 && row.accepted_second <= now_second - ttl;
}

std::uint64_t LmdbQueue::cost_of(const AppendItem& item) const noexcept {
    return Admission::cost_of(item.prefix.size() + item.body.size(), env_->page_bytes());
}

std::uint64_t LmdbQueue::cost_of_stored(std::span<const AppendItem> part) const noexcept {
    std::uint64_t cost = 0;
    for (const AppendItem& item : part) {
        cost += item.outcome == AppendOutcome::kStored ? cost_of(item) : 0;
    }
    return cost;
}

void LmdbQueue::append(std::span<AppendItem> batch, Timestamp now) noexcept {
    // Every answer that a client of this batch can have seen was stamped before.
    const std::uint64_t cut_ns = monotonic_ns();
    if (!check_in_place()) {
        set_pending(
            batch,
            AppendOutcome::kUnavailable);  // replays included: their records are out of reach
        return;
    }
    answer_known_claims(batch, now);
    if (process_latch_.load() != AppendOutcome::kPending || latched()) {
        set_pending(batch, AppendOutcome::kUnavailable);
        return;
    }
    if (any_pending(batch)) {
        reject_oversized_items(batch, admission_.measure(*env_));
    }
    if (any_pending(batch) && !prepare_lanes(cut_ns)) {
        set_pending(batch, AppendOutcome::kUnavailable);
    }
    store_in_parts(batch, now, cut_ns);
}

void LmdbQueue::find_replay(AppendItem& item, Timestamp now) noexcept {
    ReadTxn txn;
    if (item.claim && txn.begin(*env_) == 0) {
        answer_claim(txn, item, now.seconds);
    }
}

/// Checks at intervals whether the store was removed or replaced.
bool LmdbQueue::check_in_place() noexcept {
    const std::int64_t now_ms = coarse_ms();
    if (now_ms - checked_at_ms_ >= kCheckInPlaceEveryMs) {
        checked_at_ms_ = now_ms;
        in_place_.store(env_->still_in_place());
    }
    return in_place_.load();
}

/// Answers most replays without the writer lock, even while admission is closed.
void LmdbQueue::answer_known_claims(std::span<AppendItem> batch, Timestamp now) noexcept {
    const bool any = std::any_of(batch.begin(), batch.end(), [](const AppendItem& item) {
        return is_pending(item) && item.claim.has_value();
    });
    if (!any || claims_txn_.renew(*env_) != 0) {
        return;
    }
    for (AppendItem& item : batch) {
        if (is_pending(item) && item.claim) {
            answer_claim(claims_txn_, item, now.seconds);
        }
    }
    claims_txn_.reset();
}

void LmdbQueue::answer_claim(const Txn& snapshot, AppendItem& item,
                             std::int64_t now_second) noexcept {
    IdempotencyTable table = idempotency(snapshot);
    IdempotencyRow row;
    const int rc = table.find(IdempotencyTable::key_of(*item.claim), row);
    if (rc == 0 && !expired(row, now_second)) {
        set_row(item, row);
        return;
    }
    std::uint64_t rows = 0;
    std::int64_t oldest = 0;
    const bool at_cap = table.count(rows) == 0 && rows >= idempotency_rows_max();
    if (at_cap && table.oldest(oldest) == 0 &&
        (options_.idempotency_ttl_seconds == 0 ||
         oldest > now_second - options_.idempotency_ttl_seconds)) {
        item.outcome = AppendOutcome::kKeysFull;  // no row has expired that could make room
    }
}

void LmdbQueue::reject_oversized_items(std::span<AppendItem> batch, std::uint64_t room) noexcept {
    constexpr std::uint64_t kTreesPages = 16;  // pages of the tables of an empty queue
    const std::uint64_t ever =
        admission_.high_water(env_->map_bytes()) -
        std::min(kTreesPages * env_->page_bytes(), admission_.high_water(env_->map_bytes()));
    for (AppendItem& item : batch) {
        if (!is_pending(item)) {
            continue;
        }
        const std::uint64_t cost = cost_of(item);
        if (cost > ever) {
            item.outcome = AppendOutcome::kTooLarge;
        } else if (cost > room) {
            item.outcome = AppendOutcome::kFull;
        } else {
            room -= cost;
        }
    }
}

void LmdbQueue::store_in_parts(std::span<AppendItem> batch, Timestamp now,
                               std::uint64_t cut_ns) noexcept {
    std::size_t count = batch.size();
    bool advanced = false;
    for (std::size_t at = 0; at < batch.size();) {
        const std::span<AppendItem> part = batch.subspan(at, std::min(count, batch.size() - at));
        if (!any_pending(part)) {
            at += part.size();
            continue;
        }
        AppendOutcome why = AppendOutcome::kFull;
        AppendTxn attempt{.items = part, .now_second = now.seconds, .cut_ns = cut_ns};
        const int rc = store_part(attempt, now, why);
        if (rc == 0) {
            at += part.size();
            count *= 2;
        } else if (is_full(rc) && part.size() > 1) {
            count = part.size() / 2;
        } else if (rc == MDB_MAP_FULL && !std::exchange(advanced, true) && free_last_pages()) {
            continue;
        } else if (is_full(rc) && cost_of(part.front()) > 2 * env_->page_bytes()) {
            set_pending(part, AppendOutcome::kFull);  // a smaller record may find room
            at += part.size();
        } else {
            set_pending(part, why);
            // Even a small record finds no room, or the rest would fail the same way. The rest was
            // not tried, so it is not in doubt.
            set_pending(batch, why == AppendOutcome::kInDoubt ? AppendOutcome::kUnavailable : why);
            return;
        }
    }
}

/// Stores the items in one transaction. On error, returns LMDB's code, leaves the items pending,
/// and sets `why` to the outcome that they should get.
int LmdbQueue::store_part(AppendTxn& batch, Timestamp now, AppendOutcome& why) noexcept {
    int rc = batch.txn.begin(*env_);
    rc = rc == 0 ? fill_transaction(batch) : rc;
    batch.records.close();
    if (rc == 0 && batch.next_seq == batch.first_seq) {
        return 0;  // every item was answered without being stored
    }
    const bool committing = rc == 0;
    const std::uint64_t cost = batch.moved_cost + cost_of_stored(batch.items);
    if (committing) {
        if (preallocation_) {
            preallocation_->prepare(*env_, cost);
        }
        rc = batch.txn.commit();
    } else {
        batch.txn.abort();
    }
    if (rc != 0) {
        undo(batch.items, batch.first_seq);
        why = failed(rc, committing);
        return rc;
    }
    if (batch.mover) {
        batch.mover->committed();
        publish_lane_backlog(batch.moved);
    }
    stored(cost, now);
    return 0;
}

/// Commits a row as it is. LMDB reuses the pages that a transaction freed two transactions later,
/// so after the worker's last deletion a large record would find none of them for ever if only it
/// came.
bool LmdbQueue::free_last_pages() noexcept {
    AppendTxn same;
    int rc = same.txn.begin(*env_);
    rc = rc == 0 ? read_next_seq(same) : rc;
    same.records.close();
    rc = rc == 0 ? put_main(same.txn.get(), kNextSeqKey, to_view(seq_key(same.next_seq))) : rc;
    const bool committing = rc == 0;
    if (committing) {
        rc = same.txn.commit();
    } else {
        same.txn.abort();
    }
    if (rc != 0) {
        static_cast<void>(failed(rc, committing));
    }
    return rc == 0;
}

void LmdbQueue::stored(std::uint64_t cost, Timestamp now) noexcept {
    admission_.took(cost);
    admission_.saw_success();
    page_.notify_appended(static_cast<std::uint64_t>(now.seconds) * 1000 + now.nanos / 1'000'000);
}

/// Returns the outcome of a failed transaction's records. Closes admission or latches the queue.
AppendOutcome LmdbQueue::failed(int rc, bool committing) noexcept {
    if (const int failure = env_->failure(); failure != 0) {
        return environment_failed(failure, committing);
    }
    if (rc == MDB_PANIC) {  // the thread whose commit failed is about to note why
        return AppendOutcome::kUnavailable;
    }
    // nginx may create files in lanes/ only; a commit has asked for queue/.
    rc = rc == EIO && disk_is_full(paths_.lanes) ? ENOSPC : rc;
    const Reaction reaction = reaction_to(rc);
    if (reaction == Reaction::kRetry) {
        return AppendOutcome::kUnavailable;
    }
    if (reaction == Reaction::kBackpressure && is_full(rc)) {
        admission_.saw_map_full(*env_);
        return AppendOutcome::kFull;
    }
    if (reaction == Reaction::kBackpressure) {
        admission_.saw_disk_full();
        return AppendOutcome::kNoSpace;
    }
    const bool by_disk = rc > 0;  // else a code of LMDB: damage, or a bug of ours
    latch_commit(by_disk ? Latch::kIo : Latch::kDamage, rc);
    if (!by_disk) {  // LMDB in this process must be opened again
        process_latch_.store(AppendOutcome::kUnavailable);
    }
    return committing && by_disk ? AppendOutcome::kInDoubt : AppendOutcome::kUnavailable;
}

/// LMDB refuses everything in this process after it could not write a meta page, so the process
/// opens the queue again. A lack of room there does not latch: LMDB has put the page back, and the
/// disk is not suspect.
AppendOutcome LmdbQueue::environment_failed(int failure, bool committing) noexcept {
    // Noted before: a person may have unlatched the queue since then.
    if (const AppendOutcome noted = process_latch_.load(); noted != AppendOutcome::kPending) {
        return committing ? AppendOutcome::kInDoubt : noted;
    }
    const bool no_room = reaction_to(failure) == Reaction::kBackpressure;
    const AppendOutcome closed = no_room ? AppendOutcome::kNoSpace : AppendOutcome::kInDoubt;
    if (no_room) {
        admission_.saw_disk_full();
    } else {
        latch_commit(Latch::kIo, failure);
    }
    process_latch_.store(closed);
    return committing ? AppendOutcome::kInDoubt : closed;
}

// -- Under the writer lock ------------------------------------------------------------------------

int LmdbQueue::read_next_seq(AppendTxn& batch) noexcept {
    MDB_val key = to_val(kNextSeqKey);
    MDB_val value{};
    const int rc = mdb_get(batch.txn.get(), kMainTable, &key, &value);
    if (rc != 0 || value.mv_size != sizeof(std::uint64_t)) {
        return rc != 0 ? rc : MDB_CORRUPTED;
    }
    batch.first_seq = batch.next_seq = get_big_endian<std::uint64_t>(value.mv_data);
    return batch.records.open(batch.txn, records_);
}

int LmdbQueue::fill_transaction(AppendTxn& batch) noexcept {
    int rc = read_next_seq(batch);
    rc = rc == 0 ? move_lanes_first(batch) : rc;
    rc = rc == 0 ? idempotency(batch.txn).count(batch.rows) : rc;
    for (AppendItem& item : batch.items) {
        if (rc == 0 && is_pending(item)) {
            rc = store_item(batch, item);
        }
    }
    return rc == 0 ? finish_transaction(batch) : rc;
}

/// Deletes old rows and writes the next sequence number, if anything was stored.
int LmdbQueue::finish_transaction(AppendTxn& batch) noexcept {
    if (batch.next_seq == batch.first_seq) {
        return 0;
    }
    if (const int rc = delete_old_rows(batch); rc != 0) {
        return rc;
    }
    return put_main(batch.txn.get(), kNextSeqKey, to_view(seq_key(batch.next_seq)));
}

int LmdbQueue::store_item(AppendTxn& batch, AppendItem& item) noexcept {
    IdempotencyKey key{};
    if (item.claim) {
        const int rc = decide_claim(batch, item, key);
        if (rc != 0 || !is_pending(item)) {
            return rc;
        }
    }
    std::string_view prefix = item.prefix;
    if (item.numbered != nullptr) {
        try {
            prefix = item.numbered->prefix({batch.next_seq});
        } catch (const std::bad_alloc&) {
            return ENOMEM;
        }
    }
    int rc = put_record(batch, prefix, item.body);
    if (rc == 0 && item.claim) {
        rc = idempotency(batch.txn).put(key, {.topic = item.claim->topic,
                                              .body_sha256 = item.claim->body_sha256,
                                              .seq = {batch.next_seq},
                                              .records_count = item.claim->records_count,
                                              .accepted_second = item.received_at.seconds});
        ++batch.rows;
        ++batch.rows_stored;
    }
    if (rc == 0) {
        item.seq.value = batch.next_seq++;
        item.records_count = item.claim ? item.claim->records_count : 1;
        item.outcome = AppendOutcome::kStored;
    }
    return rc;
}

/// Compares the claim with the stored rows, those of this batch included. Leaves the item pending
/// if it must be stored, and sets `key` to its row's key.
int LmdbQueue::decide_claim(AppendTxn& batch, AppendItem& item, IdempotencyKey& key) noexcept {
    key = IdempotencyTable::key_of(*item.claim);
    IdempotencyTable table = idempotency(batch.txn);
    IdempotencyRow row;
    int rc = table.find(key, row);
    if (rc == 0 && !expired(row, batch.now_second)) {
        set_row(item, row);
        return 0;
    }
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return rc;
    }
    rc = 0;
    if (batch.rows >= idempotency_rows_max()) {
        if (options_.idempotency_ttl_seconds > 0) {
            rc = table.expire(batch.now_second - options_.idempotency_ttl_seconds,
                              kExpiredRowsAtCap);
        }
        rc = rc == 0 ? table.count(batch.rows) : rc;
        if (rc == 0 && batch.rows >= idempotency_rows_max()) {
            item.outcome = AppendOutcome::kKeysFull;
        }
    }
    return rc;
}

int LmdbQueue::put_record(AppendTxn& batch, std::string_view front,
                          std::string_view back) noexcept {
    KeyBytes<8> key = seq_key(batch.next_seq);
    MDB_val key_val = to_val(key);
    MDB_val value{front.size() + back.size(), nullptr};
    const int rc = mdb_cursor_put(batch.records.get(), &key_val, &value, MDB_APPEND | MDB_RESERVE);
    if (rc == 0) {
        auto* to = static_cast<char*>(value.mv_data);
        std::copy(front.begin(), front.end(), to);
        std::copy(back.begin(), back.end(), to + front.size());
    }
    return rc;
}

int LmdbQueue::delete_old_rows(AppendTxn& batch) noexcept {
    // Read under the writer lock; see begin_drain(). Limited to records before this batch, because
    // the checkpoint is only a hint.
    const SequenceNumber applied{std::min(page_.applied().value, batch.first_seq - 1)};
    std::uint64_t deleted = 0;
    const int rc =
        delete_applied(batch.txn, applied, 2 * (batch.next_seq - batch.first_seq), deleted);
    if (rc != 0 || batch.rows == 0 || options_.idempotency_ttl_seconds == 0) {
        return rc;
    }
    // Expires more rows than were added, so that expiry keeps up.
    return idempotency(batch.txn).expire(batch.now_second - options_.idempotency_ttl_seconds,
                                         kExpiredRowsPerAppend + 2 * batch.rows_stored);
}

int LmdbQueue::delete_applied(const Txn& txn, SequenceNumber upto, std::uint64_t rows_max,
                              std::uint64_t& deleted) noexcept {
    deleted = 0;
    if (upto.value == 0) {
        return 0;
    }
    Cursor cursor;
    int rc = cursor.open(txn, records_);
    MDB_val key{};
    MDB_val value{};
    while (rc == 0 && deleted < rows_max) {
        rc = cursor.read(key, value, MDB_FIRST);
        if (rc == 0 && get_big_endian<std::uint64_t>(key.mv_data) > upto.value) {
            break;
        }
        rc = rc == 0 ? cursor.remove() : rc;
        deleted += rc == 0 ? 1U : 0U;
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

}  // namespace sluice::store
