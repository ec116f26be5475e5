#include "lmdb_store/queue/lmdb_queue.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include "core/protocol/record_limits.hpp"
#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kMapBytesDefault = 16ULL << 30;
constexpr std::uint64_t kMapBytesMin = 1ULL << 20;
constexpr std::uint64_t kMapBytesMax = 1ULL << 46;  ///< The largest map of a process.

std::optional<std::string_view> get(MDB_txn* txn, std::string_view key) noexcept {
    MDB_val key_val = to_val(key);
    MDB_val value{};
    if (mdb_get(txn, kMainTable, &key_val, &value) != 0) {
        return std::nullopt;
    }
    return to_view(value);
}

/// Returns nothing if the row is damaged.
std::optional<SequenceNumber> last_assigned(MDB_txn* txn) noexcept {
    const auto next = get(txn, kNextSeqKey);
    if (!next || next->size() != sizeof(std::uint64_t)) {
        return std::nullopt;
    }
    const auto value = get_big_endian<std::uint64_t>(next->data());
    return value == 0 ? std::nullopt : std::optional(SequenceNumber{value - 1});
}

}  // namespace

Result<std::unique_ptr<Queue>> Queue::open(const StorePaths& paths, const QueueOptions& options) {
    return attempt([&]() -> std::unique_ptr<Queue> {
        const StoreFormat format = checked(read_store_format(paths));
        check(check_writable_format(format));
        if (options.map_bytes != 0 && options.map_bytes < kMapBytesMin) {
            throw StoreFailure(invalid("the queue's map_size is 1m at least"));
        }
        ControlFile control = checked(ControlFile::open(paths));
        // A process without the setting uses nginx's size, because none may write beyond nginx's
        // map.
        std::uint64_t map_bytes = options.map_bytes;
        if (map_bytes == 0) {
            map_bytes = control.words().map_bytes.load();
            const bool plausible = map_bytes >= kMapBytesMin && map_bytes <= kMapBytesMax;
            map_bytes = plausible ? map_bytes : kMapBytesDefault;
        } else {
            control.words().map_bytes.store(map_bytes);
        }
        auto queue = std::make_unique<LmdbQueue>(paths, options, std::move(control), format.uuid);
        queue->open_environment(map_bytes);
        return queue;
    });
}

LmdbQueue::LmdbQueue(const StorePaths& paths, const QueueOptions& options, ControlFile control,
                     std::string uuid)
    : paths_(paths),
      options_(options),
      control_file_(std::move(control)),
      page_(&control_file_.words(), 0),
      uuid_(std::move(uuid)),
      admission_(paths.lanes) {}

void LmdbQueue::open_environment(std::uint64_t map_bytes) {
    env_ = checked(
        Environment::open({.folder = paths_.queue, .map_bytes = map_bytes, .sync = options_.sync}));
    if (options_.sync) {
        preallocation_.emplace(paths_.queue);
    }
    std::array<MDB_dbi, kQueueTables.size()> tables{};
    check(env_->open_databases(kQueueTables, tables, false));
    records_ = tables[0];
    idempotency_ = tables[1];
    idempotency_by_age_ = tables[2];
    read_identity();
    open_lanes();
}

void LmdbQueue::read_identity() {
    ReadTxn txn;
    check(txn.begin(*env_), *env_, "read");
    const auto format = get(txn.get(), kFormatKey);
    const auto uuid = get(txn.get(), kUuidKey);
    const auto next_seq = get(txn.get(), kNextSeqKey);
    if (!format || format->size() != 4 || !uuid || uuid->size() != 36 || !next_seq ||
        next_seq->size() != 8) {
        throw StoreFailure(corrupt(
            "\"" + paths_.queue.string() +
            "\" is not a queue that sluice wrote; nothing was changed. Restore it from a backup"));
    }
    const unsigned found = static_cast<unsigned char>((*format)[0]);
    if (found != kQueueFormat) {
        throw StoreFailure(unsupported(
            "\"" + paths_.queue.string() + "\" has format " + std::to_string(found) +
            (found > kQueueFormat ? ": use a newer release of sluice"
                                  : ", which only a pre-release of sluice read: move it away, and "
                                    "create a new store with \"sluice init\"")));
    }
    if (*uuid != uuid_) {
        throw StoreFailure(conflict(
            "\"" + paths_.queue.string() + "\" is the queue of another store than the one that \"" +
            paths_.format.string() +
            "\" names; nothing was changed. Put the files of one store together"));
    }
    page_ = ControlPage(&control_file_.words(), queue_key(uuid_));
}

Result<std::vector<QueuedRecord>> LmdbQueue::read(SequenceNumber from, std::size_t records_max,
                                                  std::size_t bytes_max) {
    ReadTxn txn;
    Cursor cursor;
    int rc = txn.begin(*env_);
    rc = rc == 0 ? cursor.open(txn, records_) : rc;
    std::vector<QueuedRecord> found;
    KeyBytes<8> first = seq_key(from.value);
    MDB_val key = to_val(first);
    MDB_val value{};
    std::size_t bytes = 0;
    for (MDB_cursor_op move = MDB_SET_RANGE;
         rc == 0 && found.size() < records_max && (found.empty() || bytes < bytes_max);
         move = MDB_NEXT) {
        rc = cursor.read(key, value, move);
        if (rc == 0 && key.mv_size == 8) {
            // One byte more than a record has shows that it is none.
            const std::string_view record = to_view(value).substr(0, kRecordBytesMax + 1);
            found.push_back({{get_big_endian<std::uint64_t>(key.mv_data)}, std::string(record)});
            bytes += record.size();
        }
    }
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return env_->error(rc, "read");
    }
    return found;
}

Status LmdbQueue::begin_drain(SequenceNumber applied) {
    // The drain continues without room, because it makes room. It recovers the lanes later.
    if (Status recovered = recover_lanes(); !recovered && !is_out_of_room(recovered.error())) {
        return recovered;
    }
    if (page_.applied() <= applied) {
        return Status::success();
    }
    page_.publish_applied(applied);
    // Appends read the checkpoint under the writer lock. Once this process has held that lock, no
    // append uses the old checkpoint.
    WriteTxn barrier;
    const int rc = barrier.begin(*env_);
    return rc == 0 ? Status::success() : Status(env_->error(rc, "write"));
}

int LmdbQueue::trim_once(SequenceNumber upto, std::size_t rows_max, std::uint64_t& deleted) {
    WriteTxn txn;
    deleted = 0;
    int rc = txn.begin(*env_);
    rc = rc == 0 ? delete_applied(txn, upto, rows_max, deleted) : rc;
    if (rc == 0 && deleted > 0) {
        rc = txn.commit();
    }
    if (rc != 0) {
        txn.abort();
    }
    return rc;
}

/// LMDB copies pages to delete, and nginx may have another map than this process: a larger one
/// since a reload, or one that is smaller than the file already is. Returns false if this process's
/// map is the configured one, whose mark leaves room for deletions.
bool LmdbQueue::adopt_map_size() {
    constexpr std::uint64_t kRoom = 4U << 20;
    const std::uint64_t configured = control_file_.words().map_bytes.load();
    const std::uint64_t own = env_->map_bytes();
    const std::uint64_t used = (env_->info().me_last_pgno + 1) * env_->page_bytes();
    const std::uint64_t wanted = configured > own    ? configured
                                 : used > configured ? used + kRoom
                                                     : 0;
    return wanted > own && wanted <= kMapBytesMax && env_->set_map_bytes(wanted) == 0;
}

Result<std::uint64_t> LmdbQueue::trim(SequenceNumber upto, std::size_t rows_max) {
    std::uint64_t deleted = 0;
    int rc = trim_once(upto, rows_max, deleted);
    if (rc == MDB_MAP_FULL && adopt_map_size()) {
        rc = trim_once(upto, rows_max, deleted);
    }
    if (rc != 0) {
        static_cast<void>(failed(rc, false));
        return env_->error(rc, "trim");
    }
    return deleted;
}

std::optional<AppendOutcome> LmdbQueue::closed_reason() const noexcept {
    if (const AppendOutcome why = process_latch_.load(); why != AppendOutcome::kPending) {
        return why;
    }
    if (const auto why = this->latched()) {
        return *why == Latch::kIo ? AppendOutcome::kInDoubt : AppendOutcome::kUnavailable;
    }
    return in_place_.load() ? admission_.closed(*env_) : AppendOutcome::kUnavailable;
}

bool LmdbQueue::still_in_place() noexcept {
    // LMDB refuses everything in a process that saw a failed commit. Once the latch is gone, the
    // caller opens the queue again.
    const bool failed = process_latch_.load() != AppendOutcome::kPending && !latched();
    const bool in_place = !failed && env_->still_in_place();
    in_place_.store(in_place);
    if (in_place) {
        admission_.check_again(*env_);
    }
    return in_place;
}

QueueFill LmdbQueue::measure_fill(const Txn& snapshot) {
    QueueFill fill;
    PageUse use;
    int rc = count_page_use(*env_, use);
    MDB_stat stat{};
    rc = rc == 0 ? mdb_stat(snapshot.get(), records_, &stat) : rc;
    rc = rc == 0 ? idempotency(snapshot).count(fill.idempotency_rows) : rc;
    fill.idempotency_rows_max = idempotency_rows_max();
    Cursor cursor;
    rc = rc == 0 ? cursor.open(snapshot, records_) : rc;
    check(rc, *env_, "read");
    MDB_val key{};
    MDB_val value{};
    rc = cursor.read(key, value, MDB_FIRST);
    check(rc == MDB_NOTFOUND ? 0 : rc, *env_, "read");
    if (rc == 0) {
        fill.first_seq.value = get_big_endian<std::uint64_t>(key.mv_data);
    }
    const auto last = last_assigned(snapshot.get());
    check(last ? 0 : MDB_CORRUPTED, *env_, "read");
    fill.last_seq = *last;
    fill.rows = stat.ms_entries;
    fill.bytes_used = use.bytes_used;
    fill.bytes_map = use.bytes_map;
    fill.bytes_high_water = admission_.high_water(use.bytes_map);
    return fill;
}

Result<SequenceNumber> LmdbQueue::last_seq() {
    return read_in(*env_, [&](const ReadTxn& txn) {
        const auto last = last_assigned(txn.get());
        check(last ? 0 : MDB_CORRUPTED, *env_, "read");
        return *last;
    });
}

// -- Gaps -----------------------------------------------------------------------------------------

int LmdbQueue::find_gap(const Txn& txn, SequenceNumber after,
                        std::optional<SequenceRange>& gap) const noexcept {
    const auto last = last_assigned(txn.get());
    return last ? store::find_gap(txn.get(), records_, after, *last, gap) : MDB_CORRUPTED;
}

Result<std::optional<SequenceRange>> LmdbQueue::first_gap(SequenceNumber after) {
    return read_in(*env_, [&](const ReadTxn& txn) {
        std::optional<SequenceRange> gap;
        check(find_gap(txn, after, gap), *env_, "read");
        return gap;
    });
}

Status LmdbQueue::fill_gap(SequenceNumber after, const SequenceRange& gap,
                           std::string_view record) {
    WriteTxn txn;
    std::optional<SequenceRange> found;
    int rc = txn.begin(*env_);
    rc = rc == 0 ? find_gap(txn, after, found) : rc;
    if (rc == 0 && found != gap) {
        txn.abort();
        return conflict(found ? "the missing inputs are " + std::to_string(found->first.value) +
                                    "-" + std::to_string(found->last.value)
                              : "no input is missing");
    }
    if (rc == 0) {
        KeyBytes<8> first = seq_key(gap.first.value);
        MDB_val key = to_val(first);
        MDB_val value = to_val(record);
        rc = mdb_put(txn.get(), records_, &key, &value, MDB_NOOVERWRITE);
    }
    rc = rc == 0 ? txn.commit() : rc;
    if (rc != 0) {
        txn.abort();
        static_cast<void>(failed(rc, false));
        return env_->error(rc, "write");
    }
    return Status::success();
}

Result<QueueFill> LmdbQueue::fill() {
    return read_in(*env_, [&](const ReadTxn& txn) { return measure_fill(txn); });
}

Result<QueueFill> LmdbQueue::fill_with_lanes() {
    return read_in(*env_, [&](const ReadTxn& txn) {
        std::vector<LaneRow> rows;
        check(read_lane_rows(txn.get(), rows), *env_, "read");
        QueueFill fill = measure_fill(txn);
        fill.lanes = fill_of(rows);
        return fill;
    });
}

// -- Latch ----------------------------------------------------------------------------------------

void LmdbQueue::latch(Latch latch, std::string_view text) noexcept {
    page_.set_latch(latch, latch_boot_, boot_ms(), text);
}

void LmdbQueue::latch_commit(Latch latch, int rc) noexcept {
    std::array<char, 400> text{};
    if (rc == kLockFileDamaged) {
        std::snprintf(text.data(), text.size(),
                      "another process damaged \"%s/lock.mdb\" (stop nginx and all sluice "
                      "programs; the first that starts again initializes it)",
                      paths_.queue.c_str());
        return this->latch(latch, text.data());
    }
    std::snprintf(text.data(), text.size(), "a commit to \"%s/data.mdb\" failed: %s%s",
                  paths_.queue.c_str(), mdb_strerror(rc),
                  latch == Latch::kDamage ? ": restore the store from a backup" : "");
    this->latch(latch, text.data());
}

std::optional<Latch> LmdbQueue::latched() const noexcept {
    return page_.latched(latch_boot_);
}

Status LmdbQueue::unlatch() {
    // A commit writes data and meta pages, with a sync each.
    WriteTxn txn;
    int rc = txn.begin(*env_);
    const std::string second = big_endian(static_cast<std::uint64_t>(now().seconds));
    rc = rc == 0 ? put_main(txn.get(), "unlatched", second) : rc;
    rc = rc == 0 ? txn.commit() : rc;
    if (rc != 0) {
        return env_->error(rc, "write");
    }
    if (Status written = lanes_->try_write(); !written) {
        return written;
    }
    page_.clear_latch();
    return Status::success();
}

}  // namespace sluice::store
