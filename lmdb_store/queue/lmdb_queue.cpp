#include "lmdb_store/queue/lmdb_queue.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::store {
namespace {

constexpr std::uint64_t kMapBytesDefault = 16ULL << 30;
constexpr std::uint64_t kMapBytesMin = 1ULL << 20;
constexpr std::uint64_t kMapBytesMax = 1ULL << 46;  ///< What a process can map at all.

std::optional<std::string_view> get(MDB_txn* txn, std::string_view key) noexcept {
    MDB_val key_val = to_val(key);
    MDB_val value{};
    if (mdb_get(txn, kMainTable, &key_val, &value) != 0) {
        return std::nullopt;
    }
    return to_view(value);
}

}  // namespace

Result<std::unique_ptr<Queue>> Queue::open(const StorePaths& paths, const QueueOptions& options) {
    const Result<StoreFormat> format = read_store_format(paths);
    if (!format) {
        return format.error();
    }
    if (Status ok = check_writable_format(*format); !ok) {
        return ok.error();
    }
    if (options.map_bytes != 0 && options.map_bytes < kMapBytesMin) {
        return Error{ErrorCode::kInvalid, "the queue's map_size is 1m at least"};
    }
    Result<ControlFile> control = ControlFile::open(paths);
    if (!control) {
        return control.error();
    }
    // A process without the setting takes nginx's size: none may write beyond nginx's map.
    std::uint64_t map_bytes = options.map_bytes;
    if (map_bytes == 0) {
        map_bytes = control->words().map_bytes.load();
        const bool sane = map_bytes >= kMapBytesMin && map_bytes <= kMapBytesMax;
        map_bytes = sane ? map_bytes : kMapBytesDefault;
    } else {
        control->words().map_bytes.store(map_bytes);
    }
    auto queue = std::make_unique<LmdbQueue>(paths, options, std::move(*control), format->uuid);
    if (Status ok = queue->open_environment(map_bytes); !ok) {
        return ok.error();
    }
    return std::unique_ptr<Queue>(std::move(queue));
}

LmdbQueue::LmdbQueue(const StorePaths& paths, const QueueOptions& options, ControlFile control,
                     std::string store_uuid)
    : paths_(paths),
      options_(options),
      control_file_(std::move(control)),
      page_(&control_file_.words(), 0),
      admission_(paths.queue),
      store_uuid_(std::move(store_uuid)) {}

Status LmdbQueue::open_environment(std::uint64_t map_bytes) {
    auto env =
        Environment::open({.folder = paths_.queue, .map_bytes = map_bytes, .sync = options_.sync});
    if (!env.ok()) {
        return env.error();
    }
    env_ = std::move(*env);
    if (options_.sync) {
        headroom_.emplace(paths_.queue);
    }
    std::array<MDB_dbi, kQueueTables.size()> tables{};
    if (Status ok = env_->open_databases(kQueueTables, tables, false); !ok) {
        return ok;
    }
    records_ = tables[0];
    idempotency_ = tables[1];
    idempotency_by_age_ = tables[2];
    return read_identity();
}

Status LmdbQueue::read_identity() {
    ReadTxn txn;
    if (const int rc = txn.begin(*env_); rc != 0) {
        return env_->error(rc, "read");
    }
    const auto format = get(txn.get(), kFormatKey);
    const auto uuid = get(txn.get(), kUuidKey);
    const auto next_seq = get(txn.get(), kNextSeqKey);
    if (!format || format->size() != 4 || !uuid || uuid->size() != 36 || !next_seq ||
        next_seq->size() != 8) {
        return Error{ErrorCode::kCorrupt, "\"" + paths_.queue.string() +
                                              "\" is not a queue that sluice wrote; nothing was "
                                              "changed. Restore it from a backup"};
    }
    format_ = static_cast<unsigned char>((*format)[0]);
    if (format_ != kQueueFormat && format_ != kQueueFormatWithoutLanes) {
        return Error{ErrorCode::kUnsupported, "\"" + paths_.queue.string() +
                                                  "\" has a format that this release does not "
                                                  "know: use a newer one"};
    }
    uuid_ = *uuid;
    page_ = ControlPage(&control_file_.words(), queue_key(uuid_));
    if (const auto store = get(txn.get(), kStoreKey); store && *store != store_uuid_) {
        return Error{ErrorCode::kConflict,
                     "\"" + paths_.queue.string() +
                         "\" is the queue of another store than the one that \"" +
                         paths_.format.string() +
                         "\" names; nothing was changed. Put the files of one store together"};
    }
    txn.abort();
    return format_ == kQueueFormat ? open_lanes() : Status::success();
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
            found.push_back(
                {{get_big_endian<std::uint64_t>(key.mv_data)}, std::string(to_view(value))});
            bytes += value.mv_size;
        }
    }
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return env_->error(rc, "read");
    }
    return found;
}

Status LmdbQueue::begin_drain(SequenceNumber applied) {
    // Without room the drain goes on: it is what makes room, and looks for such lanes again.
    if (Status recovered = recover_lanes(); !recovered && !is_out_of_room(recovered.error())) {
        return recovered;
    }
    if (page_.applied() <= applied) {
        return Status::success();
    }
    page_.publish_applied(applied);
    // Appends read the position under the writer lock. So once this process has held that lock, no
    // append goes on with the old one.
    WriteTxn barrier;
    const int rc = barrier.begin(*env_);
    return rc == 0 ? Status::success() : Status(env_->error(rc, "write"));
}

Result<std::uint64_t> LmdbQueue::trim(SequenceNumber upto, std::size_t rows_max) {
    WriteTxn txn;
    std::uint64_t deleted = 0;
    int rc = txn.begin(*env_);
    rc = rc == 0 ? delete_applied(txn, upto, rows_max, deleted) : rc;
    if (rc == 0 && deleted > 0) {
        rc = txn.commit();
    }
    if (rc != 0) {
        txn.abort();
        return env_->error(rc, "trim");
    }
    return deleted;
}

std::optional<AppendOutcome> LmdbQueue::closed_reason() const noexcept {
    if (const AppendOutcome latched = latched_.load(); latched != AppendOutcome::kPending) {
        return latched;
    }
    if (const auto why = this->latched()) {
        return *why == Latch::kIo ? AppendOutcome::kInDoubt : AppendOutcome::kUnavailable;
    }
    return in_place_.load() ? admission_.closed(*env_) : AppendOutcome::kUnavailable;
}

bool LmdbQueue::still_in_place() noexcept {
    const bool in_place = env_->still_in_place() && !outdated_.load();
    in_place_.store(in_place);
    if (in_place && admission_.closed(*env_) == AppendOutcome::kFull) {
        static_cast<void>(admission_.measure(*env_));
    }
    return in_place;
}

/// @param txn  The snapshot, that all of it is of.
Status LmdbQueue::look_at_fill(const Txn& txn, QueueFill& fill) {
    PageUse use;
    int rc = count_page_use(*env_, use);
    MDB_stat stat{};
    rc = rc == 0 ? mdb_stat(txn.get(), records_, &stat) : rc;
    rc = rc == 0 ? idempotency(txn).count(fill.idempotency_rows) : rc;
    Cursor cursor;
    rc = rc == 0 ? cursor.open(txn, records_) : rc;
    if (rc != 0) {
        return env_->error(rc, "read");
    }
    MDB_val key{};
    MDB_val value{};
    rc = cursor.read(key, value, MDB_FIRST);
    if (rc == 0) {
        fill.first_seq.value = get_big_endian<std::uint64_t>(key.mv_data);
    } else if (rc != MDB_NOTFOUND) {
        return env_->error(rc, "read");
    }
    const auto next = get(txn.get(), kNextSeqKey);
    if (!next || next->size() != 8) {
        return env_->error(MDB_CORRUPTED, "read");
    }
    fill.last_seq.value = get_big_endian<std::uint64_t>(next->data()) - 1;
    fill.rows = stat.ms_entries;
    fill.bytes_used = use.bytes_used;
    fill.bytes_map = use.bytes_map;
    fill.bytes_mark = admission_.mark(use.bytes_map);
    return Status::success();
}

Result<QueueFill> LmdbQueue::fill() {
    QueueFill fill;
    ReadTxn txn;
    if (const int rc = txn.begin(*env_); rc != 0) {
        return env_->error(rc, "read");
    }
    Status looked = look_at_fill(txn, fill);
    return looked ? Result<QueueFill>(fill) : looked.error();
}

Result<QueueFill> LmdbQueue::fill_with_lanes() {
    QueueFill fill;
    std::vector<LaneRow> rows;
    ReadTxn txn;
    int rc = txn.begin(*env_);
    rc = rc == 0 && lanes_ != nullptr ? read_lane_rows(txn.get(), rows) : rc;
    if (rc != 0) {
        return env_->error(rc, "read");
    }
    if (Status looked = look_at_fill(txn, fill); !looked) {
        return looked.error();
    }
    const Result<LanesFill> lanes = fill_of(rows);
    if (!lanes) {
        return lanes.error();
    }
    fill.lanes = *lanes;
    return fill;
}

}  // namespace sluice::store
