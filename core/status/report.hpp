// Status report: everything that the status page, status.json and the metrics say, as plain values.
//
// The module gathers the values; those that cost I/O, on a thread, once a second. The renderers are
// pure. A value that is not known is absent: with a broken store the report has the rest, and says
// why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/intake/intake.hpp"
#include "core/status/history.hpp"
#include "core/status/metrics.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The unit of status.json and of Prometheus.
[[nodiscard]] inline double to_seconds(std::uint64_t ms) noexcept {
    return static_cast<double>(ms) / 1e3;
}

/// Of the queue's environment and its file system, as sampled.
struct QueueFigures {
    std::uint64_t sampled_ms = 0;  ///< Wall clock.
    std::uint64_t first_seq = 0;   ///< 0: empty.
    std::uint64_t last_seq = 0;
    std::uint64_t applied_seq = 0;
    std::uint64_t depth = 0;                 ///< Not applied yet; those in lanes included.
    std::optional<std::uint64_t> oldest_ms;  ///< When the oldest of them was received.
    std::uint64_t bytes_used = 0;            ///< Pages in use.
    std::uint64_t bytes_mark = 0;            ///< Admission stops here.
    std::uint64_t bytes_map = 0;
    std::uint64_t idempotency_rows = 0;
    std::optional<std::uint64_t> disk_free;  ///< Bytes, for processes without privileges.
    std::optional<std::uint64_t> disk_bytes;
    std::uint64_t lanes = 0, lanes_in_use = 0;  ///< All; those that a process writes to.
    std::uint64_t lane_records = 0;             ///< Durable in lanes, not in the queue yet.
    std::uint64_t lane_bytes_used = 0, lane_bytes_all = 0;
    std::uint64_t lane_oldest_ms = 0;  ///< Age of the oldest of them.
};

/// A figure with its label.
struct NamedFigure {
    std::string_view name;
    std::uint64_t value = 0;
};

/// What the worker publishes in the control page.
struct WorkerFigures {
    std::string_view state;          ///< unknown, starting, running, retrying, stopped
    std::uint64_t heartbeat_ms = 0;  ///< 0: never.
    std::uint64_t started_ms = 0;
    std::uint64_t pid = 0;
    std::uint64_t version = 0;  ///< 1.2.3 is 1'002'003.
    std::string_view error;     ///< What it waits on; empty: nothing.
    std::uint64_t applied = 0, stale = 0, duplicate = 0, dead = 0, catalog = 0, commands = 0;
    std::uint64_t batch_records = 0, batch_us = 0;  ///< Of the last batch.
    std::uint64_t orders = 0, journal_entries = 0, anomalies = 0, dead_open = 0;
    std::uint64_t attribution_left = 0;  ///< Codes, devices, programs to be tried again.
    std::uint64_t ledger_bytes_used = 0, ledger_bytes_map = 0, archive_bytes = 0;
    std::vector<NamedFigure> anomalies_by_kind;
    std::vector<NamedFigure> dead_by_kind;
};

/// One account's use of its window, and its totals since the counters began.
struct AccountUse {
    std::string account;  ///< Empty: the name is not known.
    std::uint32_t slot = 0;
    std::uint32_t limit = 0;  ///< 0: unlimited.
    std::uint32_t used = 0;   ///< In the current window.
    std::int64_t reset_second = 0;
    std::uint64_t accepted = 0;
    std::uint64_t limited = 0;
};
/// Accounts that are listed, the busiest: the cap on labels.
inline constexpr std::size_t kStatusAccountsMax = 32;

enum class Severity : std::uint8_t { kWarning, kCritical };

/// Something that a person should look at.
struct Problem {
    Severity severity = Severity::kWarning;
    std::string_view code;  ///< Stable, for scripts: `worker_stale`.
    std::string message;    ///< What is wrong and what to do.
};

struct StatusReport {
    Timestamp now;
    std::string_view version;  ///< Of the module.
    std::string_view nginx;
    std::uint64_t pid = 0;  ///< Of the nginx worker that answers.
    std::uint64_t nginx_workers = 0;
    std::uint64_t counters_since_ms = 0;
    std::string store_path;
    std::string store_uuid;           ///< Empty: not opened.
    std::optional<Reason> not_ready;  ///< Why the store cannot take events now.
    std::string not_ready_detail;     ///< The operator's sentence, if there is more to say.
    MetricsSnapshot metrics;
    std::optional<QueueFigures> queue;
    std::optional<WorkerFigures> worker;
    std::vector<AccountUse> accounts;
    std::vector<HistoryPoint> history;
};

/// A heartbeat older than this means that no worker runs.
inline constexpr std::uint64_t kHeartbeatStaleMs = 5'000;

/// Milliseconds since the epoch.
[[nodiscard]] constexpr std::uint64_t to_ms(Timestamp time) noexcept {
    return static_cast<std::uint64_t>(time.seconds) * 1000 + time.nanos / 1'000'000;
}
/// The worker's state for people: with an old heartbeat it is `stale`, unless it is `stopped` or
/// `unknown`.
[[nodiscard]] std::string_view worker_state(const WorkerFigures& worker, std::uint64_t now_ms);
/// Everything that is wrong, the worst first.
[[nodiscard]] std::vector<Problem> find_problems(const StatusReport& report);

/// `status.json` (docs/operations.md has the schema).
[[nodiscard]] std::string render_status_json(const StatusReport& report);
/// Prometheus text format 0.0.4.
[[nodiscard]] std::string render_prometheus(const StatusReport& report);

}  // namespace sluice
