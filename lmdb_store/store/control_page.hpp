// Control page: one page that all processes of the store map, and the file that holds it.
//
// Its words are hints. The ledger is the truth, and a store whose control page is all zeros works,
// only slower to wake up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"
#include "os/files/mapped_file.hpp"

namespace sluice::store {

/// ControlWords::worker_state.
enum class WorkerState : std::uint8_t {
    kUnknown,   ///< No worker has run yet.
    kStarting,  ///< Has opened the store and checks it.
    kRunning,   ///< Applies records, or sleeps because the queue is empty.
    kRetrying,  ///< Cannot apply, for the reason in worker_error, and retries.
    kStopped,   ///< Ended cleanly.
};

/// Why no process may store anything: ControlPage::set_latch().
enum class Latch : std::uint8_t {
    kIo,      ///< An I/O error, so the disk is suspect.
    kDamage,  ///< A file does not hold what was written. The text of the latch names the remedy.
};

/// Returns what a person does, for the end of a sentence with the text of the latch.
[[nodiscard]] const char* latch_remedy(Latch latch) noexcept;

/// The kind of a dead letter: ControlWords::dead_by_kind.
enum class DeadKind : std::uint8_t {
    kUnreadable,
    kOrder,
    kCatalog,
    kCommand,
    kNotSealed,
    kPrivacyRequest,
    kClicks,
};
inline constexpr std::size_t kDeadKinds = 7;

/// Packs a version into a number: 1.2.3 becomes 1'002'003.
[[nodiscard]] constexpr std::uint64_t packed_version(std::uint64_t major, std::uint64_t minor,
                                                     std::uint64_t patch) noexcept {
    return major * 1'000'000 + minor * 1'000 + patch;
}

/// Lock-free 64-bit words. The layout is part of the disk format (4096 bytes, zero = unknown).
struct ControlWords {
    std::uint64_t magic;
    std::uint64_t format;
    std::atomic<std::uint64_t> applied_seq;   ///< Worker: ControlPage::publish_applied().
    std::atomic<std::uint64_t> heartbeat_ms;  ///< Worker: milliseconds since 1970.
    std::atomic<std::uint64_t> worker_pid;
    std::atomic<std::uint32_t> wake;            ///< Futex word: appenders increment it.
    std::atomic<std::uint32_t> worker_sleeps;   ///< 1 while the worker waits on `wake`.
    std::atomic<std::uint64_t> last_append_ms;  ///< Appenders. The worker trims only when idle.
    /// Raised when a lane becomes free, so that a process without a lane knows when to ask for one.
    std::atomic<std::uint64_t> lanes_freed;
    std::atomic<std::uint64_t> lane_claimer;  ///< The process that claims a lane now, or 0.
    // The worker's figures for the status page, stored after each batch, relaxed. Totals since
    // init, unless said otherwise.
    std::atomic<std::uint64_t> applied, stale, duplicate, dead, catalog, commands;
    std::atomic<std::uint64_t> apply_batch_records, apply_batch_us;  ///< The last batch.
    std::atomic<std::uint64_t> anomalies, orders, journal_entries;
    std::atomic<std::uint64_t> worker_state;  ///< WorkerState.
    std::atomic<std::uint64_t> worker_started_ms;
    std::atomic<std::uint64_t> worker_version;  ///< packed_version() of the program.
    std::atomic<std::uint64_t> worker_error;    ///< 1 + the ErrorCode it waits on, or 0.
    std::atomic<std::uint64_t> dead_open;       ///< Dead letters that were not replayed.
    std::atomic<std::uint64_t> ledger_bytes_used, ledger_bytes_map;  ///< Embedded ledger only.
    std::atomic<std::uint64_t> archive_bytes;
    std::array<std::atomic<std::uint64_t>, 16> first_anomalies;  ///< See anomalies_of().
    std::array<std::atomic<std::uint64_t>, 8> dead_by_kind;      ///< Open ones. Index: DeadKind.
    std::atomic<std::uint64_t> applied_check;                    ///< Must match applied_seq.
    std::atomic<std::uint64_t> map_bytes;                        ///< nginx: the queue's `map_size`.
    /// Worker: codes, devices and programs whose waiting orders are to be attributed again.
    std::atomic<std::uint64_t> attribution_left;
    /// nginx: the last log entry about admission. 8 bits: why it stopped, 0 if it did not. 56 bits:
    /// milliseconds since 1970.
    std::atomic<std::uint64_t> admission_told;
    std::atomic<std::uint64_t> latched_at_ms;  ///< boot_ms() of the last fault; see set_latch().
    std::atomic<std::uint64_t> latch;          ///< ControlPage::set_latch(), or 0.
    std::array<char, 480> latch_text;          ///< Zero-terminated. Written before `latch`.
    /// Movers: bytes left in lanes by the last move, and the average batch of the last move that
    /// moved any.
    std::atomic<std::uint64_t> lanes_left, lanes_batch_bytes;
    std::atomic<std::uint64_t> queue_last_seq;  ///< Worker: last number that its queue assigned.
    /// Worker: when it noted the last number that it applies before it notes another. Inputs wait
    /// for longer if it is not reached. Milliseconds since 1970.
    std::atomic<std::uint64_t> queue_noted_ms;
    /// Claimers: cell_key() of the boot in which no lane holds batches of an earlier one.
    std::atomic<std::uint64_t> lanes_boot;
    std::atomic<std::uint64_t> clicks;  ///< Worker, as `commands`: inputs with clicks.
    std::array<std::atomic<std::uint64_t>, 16> later_anomalies;  ///< See anomalies_of().
    /// Worker: rows of those inputs, by outcome, and clicks that were deleted.
    std::atomic<std::uint64_t> clicks_stored, clicks_known, clicks_without_link, clicks_expired;
    /// Worker: links that nginx may serve; Worker: milliseconds since 1970 since which the ledger
    /// has newer links than nginx, or 0.
    std::atomic<std::uint64_t> links_published, links_behind_ms;

    /// Returns the anomalies of an AnomalyKind, below 32.
    [[nodiscard]] std::atomic<std::uint64_t>& anomalies_of(std::size_t kind) noexcept {
        return kind < first_anomalies.size() ? first_anomalies[kind]
                                             : later_anomalies[kind - first_anomalies.size()];
    }
    [[nodiscard]] const std::atomic<std::uint64_t>& anomalies_of(std::size_t kind) const noexcept {
        return const_cast<ControlWords*>(this)->anomalies_of(kind);
    }
};
static_assert(sizeof(ControlWords) <= 4096);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Reads and writes the page. Threads: any. Only wait_for_append() blocks.
class ControlPage {
public:
    /// @param words  Mapped as long as the page is used.
    /// @param key    queue_key() of the page's queue.
    ControlPage(ControlWords* words, std::uint64_t key) noexcept : words_(words), key_(key) {}
    [[nodiscard]] ControlWords& words() noexcept { return *words_; }

    /// Worker: publishes its checkpoint. Everything up to `seq` is durable in ledger and archive,
    /// and appenders may delete it. The checkpoint may decrease after an older ledger was restored;
    /// see Queue::begin_drain().
    void publish_applied(SequenceNumber seq) noexcept;
    /// Returns the published checkpoint, or 0 if there is none or another queue's worker wrote it.
    /// Appenders delete data by this hint.
    [[nodiscard]] SequenceNumber applied() const noexcept;

    /// Stops all processes that store, until an administrator ends it, or a master of nginx that
    /// was started after the fault. A latch ends with this boot of the machine. The first text
    /// stays, and the last fault counts.
    /// @param boot    cell_key() of the boot, or any number that is the same within it.
    /// @param now_ms  boot_ms().
    /// @param text    For people: the operation that failed, and the file.
    void set_latch(Latch latch, std::uint64_t boot, std::uint64_t now_ms,
                   std::string_view text) noexcept;
    [[nodiscard]] std::optional<Latch> latched(std::uint64_t boot) const noexcept;
    [[nodiscard]] std::string latch_text() const;
    void clear_latch() noexcept;
    /// nginx: a worker opens the store. Ends a latch if the worker's master was started after the
    /// last fault; an older master, a reload and a new worker do not end it.
    /// @param started_ms  Start of the master, in milliseconds of boot_ms().
    void opened_by_master(std::uint64_t started_ms) noexcept;

    /// Appenders, after a commit: wakes the worker if it sleeps, with one system call.
    void notify_appended(std::uint64_t now_ms) noexcept;
    /// Worker: sleeps until an append wakes it, or `timeout_ms` passed. Returns at once if an
    /// append came since the caller read `seen_wake`.
    void wait_for_append(std::uint32_t seen_wake, std::uint32_t timeout_ms) noexcept;

private:
    ControlWords* words_;
    std::uint64_t key_;
};

/// Returns a key that ties the page to its queue, so that a page of another queue is ignored.
[[nodiscard]] std::uint64_t queue_key(std::string_view queue_uuid) noexcept;

/// The page's file, mapped. Internal to lmdb_store.
class ControlFile {
public:
    /// Creates a file without any hints.
    [[nodiscard]] static Status create(const StorePaths& paths, const FileOwner& owner);
    /// Maps the file. kCorrupt if it is missing, too short, or no control page.
    [[nodiscard]] static Result<ControlFile> open(const StorePaths& paths);
    [[nodiscard]] ControlWords& words() const noexcept {
        return *static_cast<ControlWords*>(file_.data());
    }

private:
    explicit ControlFile(MappedFile file) noexcept : file_(std::move(file)) {}
    MappedFile file_;
};

/// The page, mapped by a process that may write to nothing of the store.
class ControlView {
public:
    /// kCorrupt if the file is missing or too short.
    [[nodiscard]] static Result<ControlView> open(const StorePaths& paths);

    /// Returns whether the page belongs to the queue with this UUID, whose worker published
    /// something.
    [[nodiscard]] bool is_of(std::string_view queue_uuid) const noexcept;
    /// Returns the number of inputs in the queue that the worker has not applied, as of its last
    /// look.
    [[nodiscard]] std::uint64_t waiting() const noexcept;
    /// Returns a time since which an input waits, if any does. Milliseconds since 1970.
    [[nodiscard]] std::uint64_t queue_noted_ms() const noexcept;
    [[nodiscard]] WorkerState worker_state() const noexcept;
    [[nodiscard]] std::uint64_t heartbeat_ms() const noexcept;
    /// Returns when an input was last appended to the queue, or 0. Milliseconds since 1970.
    [[nodiscard]] std::uint64_t last_append_ms() const noexcept;
    /// Returns the worker's version as text, or an empty text.
    [[nodiscard]] std::string worker_version() const;

private:
    struct Unmap {
        void operator()(const ControlWords* words) const noexcept;
    };
    explicit ControlView(const void* page) noexcept
        : words_(static_cast<const ControlWords*>(page)) {}
    std::unique_ptr<const ControlWords, Unmap> words_;
};

/// Maps a file of hints. kCorrupt if it is missing or shorter than `bytes`.
[[nodiscard]] Result<MappedFile> map_hints(const std::filesystem::path& path, std::size_t bytes);
/// Returns the error of a damaged file of hints, which zeros may replace.
[[nodiscard]] Error damaged_hints(const std::filesystem::path& path, std::string_view what);
/// Mixes a word's bits by splitmix64's finalizer: each input bit changes about half of the output.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t word) noexcept {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31);
}

}  // namespace sluice::store
