// Control page: one page mapped by every process of the store. Hints only: the ledger is the truth,
// and a store without this file's contents is still right, only slower to wake.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/ids.hpp"

namespace sluice::store {

/// Lock-free 64-bit words; layout is part of the disk format (4096 bytes, zero = unknown).
struct ControlWords {
    std::uint64_t magic;
    std::uint64_t format;
    std::atomic<std::uint64_t> applied_seq;   ///< Worker: trim may delete up to here.
    std::atomic<std::uint64_t> heartbeat_ms;  ///< Worker: wall clock, milliseconds since the epoch.
    std::atomic<std::uint64_t> worker_pid;
    std::atomic<std::uint32_t> wake;            ///< Futex word: incremented by appenders.
    std::atomic<std::uint32_t> worker_sleeps;   ///< 1 while the worker waits on `wake`.
    std::atomic<std::uint64_t> last_append_ms;  ///< Appenders: the worker trims only when idle.
    std::atomic<std::uint64_t> module_heartbeat_ms;  ///< nginx: so that `store upgrade` can refuse.
    std::atomic<std::uint64_t> module_format;
    // Figures of the worker for the status page.
    std::atomic<std::uint64_t> applied, stale, duplicate, dead, catalog, commands;
    std::atomic<std::uint64_t> apply_batch_records, apply_batch_us;
    std::atomic<std::uint64_t> anomalies, orders, journal_entries;
};
static_assert(sizeof(ControlWords) <= 4096);

class ControlPage {
public:
    explicit ControlPage(ControlWords* words) noexcept : words_(words) {}
    [[nodiscard]] ControlWords& words() noexcept { return *words_; }

    /// Appenders, after a commit: wakes the worker if it sleeps (one system call then, else none).
    void notify_appended(std::uint64_t now_ms) noexcept;
    /// Worker: sleeps until woken or `timeout_ms` passed.
    void wait_for_append(std::uint32_t seen_wake, std::uint32_t timeout_ms) noexcept;

private:
    ControlWords* words_;
};

}  // namespace sluice::store
