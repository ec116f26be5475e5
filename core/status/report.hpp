// Status report: the content of the status page, status.json and the metrics, as plain values.
//
// The module collects the values, on a thread once a second if they need I/O. The renderers are
// pure. Unknown values are absent: with a broken store the report contains the other values and the
// reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/history.hpp"
#include "core/status/metrics.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Converts to the unit of status.json and of Prometheus.
[[nodiscard]] inline double to_seconds(std::uint64_t ms) noexcept {
    return static_cast<double>(ms) / 1e3;
}

/// Sampled figures of the queue's environment and its file system.
struct QueueFigures {
    std::uint64_t sampled_ms = 0;  ///< Wall clock.
    std::uint64_t first_seq = 0;   ///< 0 if empty.
    std::uint64_t last_seq = 0;
    std::uint64_t applied_seq = 0;
    std::uint64_t depth = 0;                 ///< Not applied yet; those in lanes included.
    std::optional<std::uint64_t> oldest_ms;  ///< When the oldest one was received.
    std::uint64_t bytes_used = 0;            ///< Pages in use.
    std::uint64_t bytes_mark = 0;            ///< Admission stops here.
    std::uint64_t bytes_map = 0;
    std::uint64_t idempotency_rows = 0;
    std::uint64_t idempotency_rows_max = 0;  ///< With as many, product batches get 503.
    std::optional<std::uint64_t> disk_free;  ///< Bytes, for processes without privileges.
    std::optional<std::uint64_t> disk_bytes;
    std::uint64_t lanes = 0, lanes_in_use = 0;  ///< All lanes; lanes that a process writes.
    std::uint64_t lane_records = 0;             ///< Durable in lanes, but not in the queue yet.
    std::uint64_t lane_bytes_used = 0, lane_bytes_all = 0;
    std::uint64_t lane_oldest_ms = 0;  ///< Age of the oldest such record.
};

/// The registry as nginx's workers read it.
struct RegistryFigures {
    std::uint64_t accounts = 0, shops = 0, tokens = 0;  ///< Revoked tokens included.
    std::uint64_t accounts_max = 0;                     ///< Room in the shared zone.
    std::uint64_t bytes = 0;                            ///< Size of the published copy.
    std::uint64_t generation = 0;                       ///< Grows with every published change.
};

/// A figure with its label.
struct NamedFigure {
    std::string_view name;
    std::uint64_t value = 0;
};

/// The figures that the worker publishes in the control page.
struct WorkerFigures {
    std::string_view state;          ///< unknown, starting, running, retrying, stopped
    std::uint64_t heartbeat_ms = 0;  ///< 0 if there was none.
    std::uint64_t started_ms = 0;
    std::uint64_t pid = 0;
    std::uint64_t version = 0;  ///< 1.2.3 is 1'002'003.
    std::string_view error{};   ///< The error that it retries, or empty.
    std::uint64_t applied = 0, stale = 0, duplicate = 0, dead = 0, catalog = 0, commands = 0,
                  clicks = 0;
    std::uint64_t clicks_stored = 0, clicks_known = 0, clicks_without_link = 0, clicks_expired = 0;
    std::uint64_t links_published = 0;
    std::uint64_t links_behind_ms = 0;  ///< Since when nginx lacks changes of links, or 0.
    std::uint64_t batch_records = 0, batch_us = 0;  ///< The last batch.
    std::uint64_t orders = 0, journal_entries = 0, anomalies = 0, dead_open = 0;
    std::uint64_t attribution_left = 0;  ///< Codes, devices, programs to be tried again.
    std::uint64_t ledger_bytes_used = 0, ledger_bytes_map = 0, archive_bytes = 0;
    std::vector<NamedFigure> anomalies_by_kind{};
    std::vector<NamedFigure> dead_by_kind{};
};

/// One account's use of its window, and its totals since the counters began. Part of nginx's shared
/// zone, whose layout includes this one.
struct AccountFigures {
    std::uint64_t slot = 0;
    std::uint64_t used = 0;  ///< In the current window.
    std::int64_t reset_second = 0;
    std::uint64_t accepted = 0;
    std::uint64_t limited = 0;
};
struct AccountUse : AccountFigures {
    std::string account;      ///< Empty if unknown.
    std::uint64_t limit = 0;  ///< 0 if unlimited.
};
/// How many accounts are listed, the busiest first, which limits the labels.
inline constexpr std::size_t kStatusAccountsMax = 32;

enum class Severity : std::uint8_t { kWarning, kCritical };

/// A problem for the operator.
struct Problem {
    Severity severity = Severity::kWarning;
    std::string_view code;  ///< Stable, for scripts: `worker_stale`.
    std::string message;    ///< The problem and what to do.
};

struct StatusReport {
    Timestamp now;
    std::string_view version;  ///< The module's version.
    std::string_view nginx;
    std::uint64_t pid = 0;  ///< The nginx worker that answers.
    std::uint64_t nginx_workers = 0;
    std::uint64_t counters_since_ms = 0;
    std::string store_path;
    std::string store_uuid;           ///< Empty if not opened.
    std::optional<Reason> not_ready;  ///< Why the store cannot take events now.
    std::string not_ready_detail;     ///< More for the operator, or empty.
    std::string links_problem;        ///< Why nginx serves older links than are published.
    MetricsSnapshot metrics;
    std::optional<QueueFigures> queue;
    std::optional<WorkerFigures> worker;
    std::optional<RegistryFigures> registry;
    std::vector<AccountUse> accounts;
    std::vector<HistoryPoint> history;
};

/// A heartbeat older than this means that no worker runs.
inline constexpr std::uint64_t kHeartbeatStaleMs = 5'000;

/// Returns milliseconds since the epoch.
[[nodiscard]] constexpr std::uint64_t to_ms(Timestamp time) noexcept {
    return static_cast<std::uint64_t>(time.seconds) * 1000 + time.nanos / 1'000'000;
}
/// Returns the worker's state for people: `stale` with an old heartbeat, unless it is `stopped` or
/// `unknown`.
[[nodiscard]] std::string_view worker_state(const WorkerFigures& worker, std::uint64_t now_ms);
/// Returns all problems, the worst first.
[[nodiscard]] std::vector<Problem> find_problems(const StatusReport& report);

/// Returns `status.json` (docs/directives.md has the schema).
[[nodiscard]] std::string render_status_json(const StatusReport& report);
/// Returns the metrics in Prometheus text format 0.0.4.
[[nodiscard]] std::string render_prometheus(const StatusReport& report);

}  // namespace sluice
