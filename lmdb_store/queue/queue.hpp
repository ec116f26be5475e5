// Queue: the one durable, ordered log of inputs. docs/record-format.md has the bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/record.hpp"
#include "core/values/ids.hpp"
#include "core/values/interface.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/lanes/lane_writer.hpp"
#include "lmdb_store/queue/queue_fill.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

struct QueueOptions {
    std::uint64_t map_bytes = 0;  ///< Sparse. 0 means nginx's last size, or 16 GiB.
    bool sync = true;             ///< False only in benchmarks: a power cut would lose data.
    /// Age at which idempotency keys expire. 0 means that this process neither claims nor expires
    /// keys. Only nginx has the setting, so every other program passes 0.
    std::int64_t idempotency_ttl_seconds = 0;
    std::uint64_t lane_bytes = 0;  ///< Size of lanes that this process creates. 0 means by the map.
    /// Lanes that shall fit below the high-water mark; those that this process creates are as small
    /// as that needs.
    std::uint64_t lanes_wanted = 0;
    /// True once the process wants no lane; take_lane() then returns nullptr when its turn comes.
    std::shared_ptr<const std::atomic<bool>> lane_unwanted = nullptr;
};

/// Backlog of the movers, after the last move of any process.
struct LanesLeft {
    std::uint64_t bytes = 0;        ///< Bytes left in all lanes.
    std::uint64_t batch_bytes = 0;  ///< Average batch.
};

/// The catalog's promise to apply a key's request once.
struct IdempotencyClaim {
    ShopNumber shop;
    std::string_view key;  ///< 1 to 255 bytes.
    Topic topic = Topic::kProductUpsert;
    Digest256 body_sha256{};
    std::uint32_t records_count = 0;
};

enum class AppendOutcome : std::uint8_t {
    kPending,      ///< Not decided yet.
    kStored,       ///< Durable; `seq` is set.
    kReplayed,     ///< Stored before; `seq` and `records_count` are those of the first request.
    kConflict,     ///< The key was used with another body or topic.
    kFull,         ///< Not stored: high-water mark or map reached. May be retried.
    kNoSpace,      ///< Not stored: the disk is full. May be retried.
    kKeysFull,     ///< Not stored: as many idempotency keys as may be are kept. May be retried.
    kInDoubt,      ///< An I/O error; it may be stored. The queue is latched.
    kUnavailable,  ///< Not stored: the store is damaged, removed, latched or closed.
    kTooLarge,     ///< Not stored: could never fit this store.
};

/// Makes the envelope of a record that states its own number, under the writer lock.
class NumberedEnvelope : public Interface {
public:
    /// Returns RecordEnvelope::prefix(), of the same length as AppendItem::prefix or shorter, valid
    /// until the next call. May throw std::bad_alloc.
    virtual std::string_view prefix(SequenceNumber seq) = 0;
};

struct AppendItem {
    std::string_view prefix;               ///< RecordEnvelope::prefix()
    std::string_view body;                 ///< The inline body, as encoded.
    NumberedEnvelope* numbered = nullptr;  ///< Makes the prefix that is stored, if it is set.
    std::optional<IdempotencyClaim> claim{};
    Timestamp received_at;
    AppendOutcome outcome = AppendOutcome::kPending;
    SequenceNumber seq{};
    std::uint32_t records_count = 0;
};

/// Numbers that follow one another.
struct SequenceRange {
    SequenceNumber first, last;
    friend bool operator==(const SequenceRange&, const SequenceRange&) = default;
};

/// A record copied out of the queue.
struct QueuedRecord {
    SequenceNumber seq;
    std::string bytes;  ///< decode_record() reads it.
};

/// A record copied out of a lane.
struct LaneRecord {
    Receipt receipt;
    std::string bytes;  ///< decode_record() reads it.
};

/// Returns true for errors that may pass without intervention.
[[nodiscard]] inline bool is_out_of_room(const Error& error) noexcept {
    return error.code == ErrorCode::kNoSpace || error.code == ErrorCode::kFull ||
           error.code == ErrorCode::kBusy;
}

/// Durable, ordered log of inputs, stored in LMDB.
///
/// A record is durable when append() reports kStored. Sequence numbers increase and are never
/// reused. Above the high-water mark the queue rejects records, because LMDB needs free pages to
/// delete old ones.
///
/// Processes: nginx and the command line append, each through one Queue object per store, because
/// LMDB forbids two; only the holder of the worker lock reads.
/// Threads: one thread at a time calls append(); the other functions may run concurrently.
/// Blocking: append() waits for LMDB's writer lock and the disk, so never call it on an event loop.
/// closed_reason(), is_half_full(), takes_lanes(), lanes_left() and latched() never block.
/// Errors: an I/O error in a commit leaves the batch in doubt and latches the queue for all
/// processes until a master of nginx that was started later opens it, or unlatch() succeeds.
class Queue {
public:
    /// Opens the queue of an existing store. Returns kNotFound, kPermission, kCorrupt (missing,
    /// empty or short files) or kUnsupported, with a message that names the path.
    [[nodiscard]] static Result<std::unique_ptr<Queue>> open(const StorePaths& paths,
                                                             const QueueOptions& options);
    virtual ~Queue() = default;
    /// Stores the batch's items in order, in one transaction, and sets each item's outcome. While
    /// admission is closed it opens no write transaction, and still answers replays. Deletes up to
    /// twice as many applied records as it adds, and some expired keys. If the map is full, stores
    /// the batch in smaller parts, so that one large record does not fail its neighbours.
    /// @param now  Wall clock, for expiry.
    virtual void append(std::span<AppendItem> batch, Timestamp now) noexcept = 0;

    /// Checks, without the writer lock, whether the item's key was used. Sets kReplayed, kConflict
    /// or kFull (no room for a key), or leaves the item pending. append() checks again. May read
    /// the disk.
    virtual void find_replay(AppendItem& item, Timestamp now) noexcept = 0;

    /// Returns why append() would reject a record now, or nullopt. kInDoubt means latched after an
    /// I/O error.
    [[nodiscard]] virtual std::optional<AppendOutcome> closed_reason() const noexcept = 0;
    /// Returns whether, when this process stored or moved records last, the queue held at least
    /// half of what it takes.
    [[nodiscard]] virtual bool is_half_full() const noexcept = 0;

    /// Copies records from `from` on: at least one, up to `records_max` and about `bytes_max`.
    [[nodiscard]] virtual Result<std::vector<QueuedRecord>> read(SequenceNumber from,
                                                                 std::size_t records_max,
                                                                 std::size_t bytes_max) = 0;
    /// Starts a drain with the ledger's checkpoint. Lowers the published checkpoint if an older
    /// ledger was restored, under the writer lock; after it returned, no append deletes a record
    /// above `applied`. Records deleted before are gone, so compare fill().first_seq afterwards.
    /// Never raises the checkpoint: control().publish_applied() does, after each durable batch.
    [[nodiscard]] virtual Status begin_drain(SequenceNumber applied) = 0;
    /// Deletes up to `rows_max` records with numbers up to `upto`, in one commit.
    [[nodiscard]] virtual Result<std::uint64_t> trim(SequenceNumber upto, std::size_t rows_max) = 0;
    /// Returns the last number that was ever assigned, or 0.
    [[nodiscard]] virtual Result<SequenceNumber> last_seq() = 0;
    /// Returns the first numbers after `after` that were assigned and have no record, or nothing.
    [[nodiscard]] virtual Result<std::optional<SequenceRange>> first_gap(SequenceNumber after) = 0;
    /// Stores a record at the first number of a gap, in place of all its numbers. Returns kConflict
    /// if `gap` is not the first one after `after`.
    [[nodiscard]] virtual Status fill_gap(SequenceNumber after, const SequenceRange& gap,
                                          std::string_view record) = 0;
    [[nodiscard]] virtual Result<QueueFill> fill() = 0;
    /// Returns the fill with the lanes of the same snapshot, so that each record counts once.
    [[nodiscard]] virtual Result<QueueFill> fill_with_lanes() = 0;
    [[nodiscard]] virtual const std::string& uuid() const noexcept = 0;
    [[nodiscard]] virtual ControlPage& control() noexcept = 0;
    /// Frees the reader slots of dead processes. Returns their number.
    virtual int clear_stale_readers() noexcept = 0;
    /// Returns false if the queue must be opened again: the path names other files than were
    /// opened, or LMDB failed in this process and the latch was ended. Also checks whether a full
    /// queue or disk has room again. Call it about once a second in processes that append seldom.
    [[nodiscard]] virtual bool still_in_place() noexcept = 0;

    // -- Lanes: docs/internals.md ---------------------------------------------------------------

    /// Claims a lane without an owner, or creates one, after finding the ends of the lanes without
    /// an owner. Waits for processes that do the same, and deletes what killed processes left of
    /// lanes that they made. A large backlog of other lanes is moved first only if there is no room
    /// for another lane. Returns nullptr if there is no room even then, if the queue is latched, or
    /// if QueueOptions::lane_unwanted is set; the process then works without a lane until
    /// ControlWords::lanes_freed changes. Returns kCorrupt or kUnsupported if a lane is damaged and
    /// nothing may be stored.
    [[nodiscard]] virtual Result<std::unique_ptr<LaneWriter>> take_lane() = 0;
    /// Returns true if records that become durable in a lane now will fit the queue.
    [[nodiscard]] virtual bool takes_lanes() const noexcept = 0;
    [[nodiscard]] virtual LanesLeft lanes_left() noexcept = 0;
    /// Moves the records that are durable in lanes now. Does nothing while another process moves,
    /// or the queue is latched.
    [[nodiscard]] virtual Status move_lanes() = 0;
    /// As move_lanes(), but waits while another process moves, and returns kIo if the queue is
    /// latched.
    [[nodiscard]] virtual Status empty_lanes() = 0;
    /// Finds the ends of the lanes without an owner, and moves their records. Costs little if all
    /// are empty.
    [[nodiscard]] virtual Status recover_lanes() = 0;
    /// As recover_lanes(), but waits for other processes that move, so that each lane is read once.
    [[nodiscard]] virtual Status recover_lanes_in_turn() = 0;
    /// Copies about `bytes_max` bytes of records, lane by lane, without moving them.
    [[nodiscard]] virtual Result<std::vector<LaneRecord>> read_lanes(std::size_t bytes_max) = 0;
    /// Abandons lanes whose files are missing, with their records. Returns their paths.
    [[nodiscard]] virtual Result<std::vector<std::string>> drop_missing_lanes() = 0;

    /// Stops all processes that store; see ControlPage::set_latch().
    virtual void latch(Latch latch, std::string_view text) noexcept = 0;
    [[nodiscard]] virtual std::optional<Latch> latched() const noexcept = 0;
    [[nodiscard]] virtual std::string latch_text() const = 0;
    /// Ends the latch if a write and both syncs succeed.
    [[nodiscard]] virtual Status unlatch() = 0;

protected:
    Queue() = default;
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
};

}  // namespace sluice::store
