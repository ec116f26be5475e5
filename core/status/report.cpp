#include "core/status/report.hpp"

#include <algorithm>

namespace sluice {
namespace {

using Problems = std::vector<Problem>;

std::string seconds_text(std::uint64_t ms) {
    return std::to_string(ms / 1000) + " s";
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
    return std::to_string(whole == 0 ? 0 : part * 100 / whole) + " %";
}

std::string_view remedy(Reason reason) noexcept {
    switch (reason) {
        case Reason::kQueueFull:
            return "The queue is at its mark; events get 503. See that the worker runs and catches "
                   "up, or give sluice_store a larger map_size.";
        case Reason::kDiskFull:
            return "The disk is full; events get 503. Free room: service resumes by itself.";
        case Reason::kIoError:
            return "A write to the store failed and may be in doubt; events get 503 until nginx is "
                   "restarted, or `sluice queue unlatch` could write. Check the disk first "
                   "(dmesg).";
        default:
            return "The store cannot be used; events get 503. The error log names the file and "
                   "what to do; `sluice doctor` checks the rest.";
    }
}

void check_store(const StatusReport& report, Problems& problems) {
    if (!report.not_ready) {
        return;
    }
    std::string message(remedy(*report.not_ready));
    if (!report.not_ready_detail.empty()) {
        message += " (" + report.not_ready_detail + ")";
    }
    problems.push_back({Severity::kCritical, "not_ready", std::move(message)});
}

void check_queue(const QueueFigures& queue, std::uint64_t now_ms, Problems& problems) {
    if (now_ms > queue.sampled_ms + 10 * 1000) {
        problems.push_back({Severity::kWarning, "sample_stale",
                            "The figures of the queue are " +
                                seconds_text(now_ms - queue.sampled_ms) +
                                " old: the disk may be hanging."});
    }
    if (queue.bytes_used * 10 >= queue.bytes_mark * 8 && queue.bytes_mark != 0) {
        problems.push_back({Severity::kWarning, "queue_filling",
                            "The queue is filled to " +
                                percent_text(queue.bytes_used, queue.bytes_mark) +
                                " of its mark; at the mark events get 503. See that the worker "
                                "runs and catches up."});
    }
    if (queue.idempotency_rows * 10 >= queue.idempotency_rows_max * 9 &&
        queue.idempotency_rows_max != 0) {
        problems.push_back({Severity::kWarning, "keys_filling",
                            std::to_string(queue.idempotency_rows) + " of " +
                                std::to_string(queue.idempotency_rows_max) +
                                " idempotency keys are kept; with all of them product batches get "
                                "503 until the oldest expire. Set a larger map_size in "
                                "sluice_store, or a shorter sluice_idempotency_ttl."});
    }
    if (queue.disk_free && queue.disk_bytes && *queue.disk_free * 20 < *queue.disk_bytes) {
        problems.push_back({Severity::kWarning, "disk_filling",
                            "Only " + percent_text(*queue.disk_free, *queue.disk_bytes) +
                                " of the store's disk are free; when it is full, events get 503."});
    }
}

void check_worker(const WorkerFigures& worker, std::uint64_t now_ms, Problems& problems) {
    const std::string_view state = worker_state(worker, now_ms);
    if (state == "stale") {
        problems.push_back({Severity::kCritical, "worker_stale",
                            "The worker gave no sign for " +
                                seconds_text(now_ms - worker.heartbeat_ms) +
                                ". Events are stored, but commissions stand still. Look at "
                                "`systemctl status sluice`."});
    } else if (state == "unknown" || state == "stopped") {
        problems.push_back({Severity::kWarning, "worker_stopped",
                            "No worker runs. Events are stored, but commissions stand still. Start "
                            "it: `systemctl start sluice`."});
    } else if (state == "retrying") {
        problems.push_back({Severity::kCritical, "worker_retrying",
                            "The worker cannot apply events now (" + std::string(worker.error) +
                                ") and tries again. Its log says why."});
    }
    if (worker.dead_open != 0) {
        problems.push_back({Severity::kWarning, "dead_letters",
                            std::to_string(worker.dead_open) +
                                " input(s) could not be applied. `sluice dead list` shows them; "
                                "`sluice dead replay` tries again."});
    }
}

/// Links that nginx has not got for so long are a problem.
constexpr std::uint64_t kLinksBehindMs = 60 * 1000;

void check_links(const StatusReport& report, std::uint64_t now_ms, Problems& problems) {
    if (!report.links_problem.empty()) {
        problems.push_back({Severity::kWarning, "links_unreadable",
                            "nginx serves the links that it read before: " + report.links_problem});
    }
    const std::uint64_t since_ms = report.worker ? report.worker->links_behind_ms : 0;
    if (since_ms != 0 && now_ms > since_ms + kLinksBehindMs) {
        problems.push_back({Severity::kWarning, "links_behind",
                            "For " + seconds_text(now_ms - since_ms) +
                                " the worker has not been able to publish changes of links. Its "
                                "log says why."});
    }
}

/// How far back refusals are a present problem.
constexpr std::uint64_t kRefusalsMs = 5 * 60 * 1000;

/// Reports refusals that no account's figures show.
void check_refusals(const std::vector<HistoryPoint>& history, std::uint64_t now_ms,
                    Problems& problems) {
    std::uint64_t addresses = 0;
    std::uint64_t before = 0;
    for (const HistoryPoint& point : history) {
        if (point.time_ms + kRefusalsMs >= now_ms) {
            addresses += point.address_limited;
            before += point.limited_before;
        }
    }
    if (addresses != 0) {
        problems.push_back({Severity::kWarning, "address_limited",
                            "In the last five minutes " + std::to_string(addresses) +
                                " requests got 429, because too many from the same address had "
                                "failed to authenticate. The access log has the addresses (reason "
                                "address_limited), and the shops and reasons of the first ones."});
    }
    if (before != 0) {
        problems.push_back({Severity::kWarning, "limited_before",
                            "In the last five minutes another module (limit_req, limit_conn) "
                            "refused " +
                                std::to_string(before) +
                                " requests with 429 or 503. nginx's error log names the limit; "
                                "sluice needs none of them."});
    }
}

}  // namespace

std::string_view worker_state(const WorkerFigures& worker, std::uint64_t now_ms) {
    const bool ended = worker.state == "unknown" || worker.state == "stopped";
    return !ended && now_ms > worker.heartbeat_ms + kHeartbeatStaleMs ? "stale" : worker.state;
}

std::vector<Problem> find_problems(const StatusReport& report) {
    Problems problems;
    const std::uint64_t now_ms = to_ms(report.now);
    check_store(report, problems);
    if (report.queue) {
        check_queue(*report.queue, now_ms, problems);
    }
    if (report.worker) {
        check_worker(*report.worker, now_ms, problems);
    }
    check_links(report, now_ms, problems);
    check_refusals(report.history, now_ms, problems);
    std::ranges::stable_sort(problems, std::greater(), &Problem::severity);
    return problems;
}

}  // namespace sluice
