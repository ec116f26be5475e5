// Control page: one page mapped by every process of the store. Hints only: the ledger is the truth,
// and a store without this file's contents is still right, only slower to wake.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/values/ids.hpp"

namespace sluice::store {

/// ControlWords::worker_state.
enum class WorkerState : std::uint8_t {
    kUnknown,   ///< None has run yet.
    kStarting,  ///< Opened the store, checks it.
    kRunning,   ///< Applies, or sleeps because there is nothing to apply.
    kRetrying,  ///< Cannot apply now (worker_error says why), tries again.
    kStopped,   ///< Ended by itself, cleanly.
};

/// Why nothing may be stored any more: ControlPage::set_latch().
enum class Latch : std::uint8_t {
    kIo,      ///< An I/O error: the disk is suspect.
    kDamage,  ///< A file is not what was written.
};

/// What a dead letter was: ControlWords::dead_by_kind.
enum class DeadKind : std::uint8_t { kUnreadable, kOrder, kCatalog, kCommand };

/// 1.2.3 -> 1'002'003.
[[nodiscard]] constexpr std::uint64_t packed_version(std::uint64_t major, std::uint64_t minor,
                                                     std::uint64_t patch) noexcept {
    return major * 1'000'000 + minor * 1'000 + patch;
}

/// Lock-free 64-bit words; layout is part of the disk format (4096 bytes, zero = unknown).
struct ControlWords {
    std::uint64_t magic;
    std::uint64_t format;
    std::atomic<std::uint64_t> applied_seq;   ///< Worker: ControlPage::publish_applied().
    std::atomic<std::uint64_t> heartbeat_ms;  ///< Worker: wall clock, milliseconds since the epoch.
    std::atomic<std::uint64_t> worker_pid;
    std::atomic<std::uint32_t> wake;            ///< Futex word: incremented by appenders.
    std::atomic<std::uint32_t> worker_sleeps;   ///< 1 while the worker waits on `wake`.
    std::atomic<std::uint64_t> last_append_ms;  ///< Appenders: the worker trims only when idle.
    std::atomic<std::uint64_t> module_heartbeat_ms;  ///< nginx: so that `store upgrade` can refuse.
    std::atomic<std::uint64_t> module_format;
    // Figures of the worker for the status page: totals since init, unless said otherwise. The
    // worker stores them after each batch; relaxed.
    std::atomic<std::uint64_t> applied, stale, duplicate, dead, catalog, commands;
    std::atomic<std::uint64_t> apply_batch_records, apply_batch_us;  ///< Of the last batch.
    std::atomic<std::uint64_t> anomalies, orders, journal_entries;
    std::atomic<std::uint64_t> worker_state;  ///< WorkerState.
    std::atomic<std::uint64_t> worker_started_ms;
    std::atomic<std::uint64_t> worker_version;  ///< packed_version() of the program.
    std::atomic<std::uint64_t> worker_error;    ///< 1 + ErrorCode that it waits on; 0: none.
    std::atomic<std::uint64_t> dead_open;       ///< Dead letters that were not replayed.
    std::atomic<std::uint64_t> ledger_bytes_used, ledger_bytes_map;  ///< Embedded ledger only.
    std::atomic<std::uint64_t> archive_bytes;
    std::array<std::atomic<std::uint64_t>, 16> anomalies_by_kind;  ///< Index: AnomalyKind.
    std::array<std::atomic<std::uint64_t>, 8> dead_by_kind;        ///< Open ones. Index: DeadKind.
    std::atomic<std::uint64_t>
        applied_check;  ///< Of applied_seq; if it does not fit, applied_seq is ignored.
    std::atomic<std::uint64_t> map_bytes;  ///< nginx: the queue's `map_size`.
    /// Worker: codes, devices and programs whose waiting orders are to be tried again.
    std::atomic<std::uint64_t> attribution_left;
    /// nginx: what the error log was told of admission last: why it stopped (0: it goes on) : 8,
    /// and when, milliseconds since the epoch : 56.
    std::atomic<std::uint64_t> admission_told;
    std::atomic<std::uint64_t> nginx_master;  ///< Which master's workers opened the store last.
    std::atomic<std::uint64_t> latch;         ///< ControlPage::set_latch(); 0: none.
    std::array<char, 480> latch_text;         ///< Ends with a zero. Written before `latch`.
    /// Movers, of the last move: bytes that lanes held after it, and of a batch of the last one
    /// that found any, on average.
    std::atomic<std::uint64_t> lanes_left, lanes_batch_bytes;
};
static_assert(sizeof(ControlWords) <= 4096);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class ControlPage {
public:
    /// @param words  Mapped as long as the page is used.
    /// @param key    Of the queue that the page belongs to (queue_key()).
    ControlPage(ControlWords* words, std::uint64_t key) noexcept : words_(words), key_(key) {}
    [[nodiscard]] ControlWords& words() noexcept { return *words_; }

    /// Worker: everything up to here is durable in the ledger (and the archive); appenders may
    /// delete it. It may also go down, after an older ledger was restored: see
    /// Queue::begin_drain().
    void publish_applied(SequenceNumber seq) noexcept;
    /// The position that was published last. 0 if there is none, or if this queue's worker did not
    /// write it (applied_check): appenders delete data by this hint.
    [[nodiscard]] SequenceNumber applied() const noexcept;

    /// Stops all processes that store, until a person or a new nginx master ends it. It counts
    /// within this boot of the machine. The first one stays.
    /// @param boot  cell_key() of the boot, or any number that is the same within it.
    /// @param text  What failed, on which file: for people.
    void set_latch(Latch latch, std::uint64_t boot, std::string_view text) noexcept;
    [[nodiscard]] std::optional<Latch> latched(std::uint64_t boot) const noexcept;
    [[nodiscard]] std::string latch_text() const;
    void clear_latch() noexcept;
    /// nginx: a worker of this master opens the store. The first worker of a new one ends a latch.
    void opened_by_master(std::uint64_t master) noexcept;

    /// Appenders, after a commit: wakes the worker if it sleeps (one system call then, else none).
    void notify_appended(std::uint64_t now_ms) noexcept;
    /// Worker: sleeps until woken or `timeout_ms` passed.
    void wait_for_append(std::uint32_t seen_wake, std::uint32_t timeout_ms) noexcept;

private:
    ControlWords* words_;
    std::uint64_t key_;
};

/// Ties the page to its queue, so that a page of another queue is ignored.
[[nodiscard]] std::uint64_t queue_key(std::string_view queue_uuid) noexcept;

}  // namespace sluice::store
