// Queue: the one ordered, durable log of inputs. docs/record-format.md has the bytes.
//
// Writers: nginx workers and the command line, each through its own Queue object (one per process
// and store: LMDB forbids two). Reader: the holder of the worker's lock.
// Durable means: append() returned, after both syncs of the LMDB commit.
// Threads: append() from one thread at a time; the other calls may run meanwhile on other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/record.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/lanes/lane_writer.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

struct QueueOptions {
    std::uint64_t map_bytes = 0;  ///< 0: as nginx opened it last, else 16 GiB. Sparse.
    bool sync = true;             ///< Off: benchmarks only; loses data on power loss.
    /// Keys of this age are forgotten. 0: this process knows no claims and forgets none; so it is
    /// in every program but nginx, which alone has the setting.
    std::int64_t idempotency_ttl_seconds = 0;
    std::uint64_t lane_bytes = 0;  ///< Of lanes that this process makes. 0: by the map's size.
};

/// How far the movers are behind.
struct LanesLeft {
    std::uint64_t bytes = 0;        ///< That all lanes held.
    std::uint64_t batch_bytes = 0;  ///< Of a batch, on average.
};

/// The catalog's promise of one application per key.
struct IdempotencyClaim {
    ShopNumber shop;
    std::string_view key;  ///< 1 to 255 bytes.
    Topic topic = Topic::kProductUpsert;
    Digest256 body_sha256{};
    std::uint32_t records_count = 0;
};

enum class AppendOutcome : std::uint8_t {
    kPending,   ///< append() has not looked at it.
    kStored,    ///< Durable; `seq` is its number.
    kReplayed,  ///< The same request was stored before, durably; `seq` and `records_count` are the
                ///< first's.
    kConflict,  ///< The key was used with another body or topic.
    kFull,      ///< The mark, the map or the row cap is reached: not stored, later it can be.
    kNoSpace,   ///< The disk is full: not stored, later it can be.
    kInDoubt,   ///< An I/O error: it may be stored. Admission is latched until a restart.
    kUnavailable,  ///< The store is damaged, removed, latched or not open: not stored.
    kTooLarge,     ///< Could never fit this store.
};

struct AppendItem {
    std::string_view prefix;  ///< RecordEnvelope::prefix()
    std::string_view body;    ///< Inline body, as encoded.
    std::optional<IdempotencyClaim> claim;
    Timestamp received_at;

    AppendOutcome outcome = AppendOutcome::kPending;
    SequenceNumber seq;
    std::uint32_t records_count = 0;
};

/// A record copied out of the queue.
struct QueuedRecord {
    SequenceNumber seq;
    std::string bytes;  ///< decode_record() reads it.
};

/// It may work later, by itself.
[[nodiscard]] inline bool is_out_of_room(const Error& error) noexcept {
    return error.code == ErrorCode::kNoSpace || error.code == ErrorCode::kFull ||
           error.code == ErrorCode::kBusy;
}

/// What is durable in lanes and not in the queue yet.
struct LanesFill {
    std::uint64_t lanes = 0;   ///< All that there are,
    std::uint64_t in_use = 0;  ///< those that a process writes to,
    std::uint64_t cached = 0;  ///< and through the page cache: O_DIRECT is refused there.
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;      ///< Of their batches.
    std::uint64_t bytes_all = 0;  ///< That all lanes can hold.
    std::uint64_t oldest_ns = 0;  ///< Age of the oldest record, of this boot. 0: none.
};

struct QueueFill {
    SequenceNumber first_seq;  ///< Of what is stored (0: empty).
    SequenceNumber last_seq;   ///< Given out last (0: none ever).
    std::uint64_t rows = 0;
    std::uint64_t bytes_used = 0;  ///< Pages in use, also those that only a reader still holds.
    std::uint64_t bytes_map = 0;
    std::uint64_t bytes_mark = 0;  ///< Admission stops here.
    std::uint64_t idempotency_rows = 0;
    LanesFill lanes;  ///< Of fill_with_lanes() only.

    /// Records that are not applied yet, those in lanes included.
    [[nodiscard]] std::uint64_t depth(SequenceNumber applied) const noexcept {
        return lanes.records + (last_seq > applied ? last_seq.value - applied.value : 0);
    }
};

/// A record in a lane.
struct LaneRecord {
    Receipt receipt;
    std::string bytes;  ///< decode_record() reads it.
};

class Queue {
public:
    /// kNotFound, kPermission, kCorrupt (missing, empty or short files; names the path),
    /// kUnsupported.
    [[nodiscard]] static Result<std::unique_ptr<Queue>> open(const StorePaths& paths,
                                                             const QueueOptions& options);
    virtual ~Queue() = default;

    /// Stores what it can of `batch` in one transaction, in order, and sets each item's outcome.
    /// Blocks for the writer lock and the disk: never call it on an event loop. While admission is
    /// stopped it opens no write transaction; replays are answered all the same. Trims up to twice
    /// as many applied records as it adds, and a few expired idempotency rows. If the map turns out
    /// to be full, the batch is tried in smaller parts, so that one large record does not fail its
    /// neighbours.
    /// @param now  Wall clock, for expiry.
    virtual void append(std::span<AppendItem> batch, Timestamp now) noexcept = 0;

    /// Looks, without the writer lock, whether the item's key was used before: sets kReplayed,
    /// kConflict or (no room for a key) kFull, or leaves the item as it is. May wait for the disk,
    /// to read. Any thread. append() looks again.
    virtual void find_replay(AppendItem& item, Timestamp now) noexcept = 0;

    /// Nothing if append() would try to store now, else why not (kInDoubt: latched after an I/O
    /// error). Never waits for a lock or counts anything; any thread.
    [[nodiscard]] virtual std::optional<AppendOutcome> closed_reason() const noexcept = 0;

    /// Copies records from `from` on, up to `records_max` and about `bytes_max` (at least one).
    [[nodiscard]] virtual Result<std::vector<QueuedRecord>> read(SequenceNumber from,
                                                                 std::size_t records_max,
                                                                 std::size_t bytes_max) = 0;
    /// Call it first, before draining, with the ledger's checkpoint. If a later position was
    /// published before (an older ledger was restored), the position is lowered, under the writer
    /// lock; once this has returned, no append deletes a record behind it. Records that were
    /// deleted earlier are gone: compare fill().first_seq afterwards. Never raises the position:
    /// control().publish_applied() does, after each durable batch.
    [[nodiscard]] virtual Status begin_drain(SequenceNumber applied) = 0;
    /// Deletes up to `rows_max` records <= `upto`. Takes the writer lock and two syncs.
    [[nodiscard]] virtual Result<std::uint64_t> trim(SequenceNumber upto, std::size_t rows_max) = 0;
    [[nodiscard]] virtual Result<QueueFill> fill() = 0;
    /// Also reads what is in lanes, of the same snapshot: each record counts once.
    [[nodiscard]] virtual Result<QueueFill> fill_with_lanes() = 0;
    [[nodiscard]] virtual const std::string& uuid() const noexcept = 0;
    [[nodiscard]] virtual ControlPage& control() noexcept = 0;
    /// Frees the slots of readers that died. Returns how many.
    virtual int clear_stale_readers() noexcept = 0;
    /// False once the files below the path are no longer the ones that were opened. Also looks
    /// whether a queue that was full has room again. Call it about once a second where nobody
    /// appends; append() looks for itself.
    [[nodiscard]] virtual bool still_in_place() noexcept = 0;
    /// Its format was upgraded since it was opened: open it anew.
    [[nodiscard]] virtual bool is_outdated() const noexcept = 0;

    // -- Lanes: docs/internals.md. A queue of format 1 has none, and these do nothing there. --

    /// Takes a lane that nobody owns, or makes one, once everything that nobody owns is in the
    /// queue. nullptr: this process has to do without (no lanes, or no room for one more).
    /// kCorrupt, kUnsupported: a lane is not what was written; nothing may be stored.
    [[nodiscard]] virtual Result<std::unique_ptr<LaneWriter>> take_lane() = 0;
    [[nodiscard]] virtual bool has_lanes() const noexcept = 0;
    /// What is made durable in a lane now will fit. Never waits; any thread.
    [[nodiscard]] virtual bool takes_lanes() const noexcept = 0;
    /// What the last move of any process left. Two loads of shared memory.
    [[nodiscard]] virtual LanesLeft lanes_left() noexcept = 0;
    /// Moves all that is durable in lanes, up to now, to the queue. Does nothing while another
    /// process does it, or while the queue is latched. Any thread.
    [[nodiscard]] virtual Status move_lanes() = 0;
    /// The same, but waits while another process moves.
    [[nodiscard]] virtual Status empty_lanes() = 0;
    /// The same for lanes whose owner is gone, which are read to their end. Cheap if there are
    /// none. Any thread.
    [[nodiscard]] virtual Status recover_lanes() = 0;
    /// Copies what is in lanes, lane by lane, without moving it; about `bytes_max`.
    [[nodiscard]] virtual Result<std::vector<LaneRecord>> read_lanes(std::size_t bytes_max) = 0;
    /// Gives up the lanes whose files are missing, with what was in them. Their names.
    [[nodiscard]] virtual Result<std::vector<std::string>> drop_missing_lanes() = 0;

    /// Stops all processes that store: see ControlPage::set_latch().
    virtual void latch(Latch latch, std::string_view text) noexcept = 0;
    [[nodiscard]] virtual std::optional<Latch> latched() const noexcept = 0;
    [[nodiscard]] virtual std::string latch_text() const = 0;
    /// Ends the latch if a write and both syncs work.
    [[nodiscard]] virtual Status unlatch() = 0;

protected:
    Queue() = default;
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
};

}  // namespace sluice::store
