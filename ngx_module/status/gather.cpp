#include "ngx_module/status/gather.hpp"

#include <array>
#include <atomic>

#include "core/journal/journal.hpp"
#include "core/values/result.hpp"
#include "ngx_module/build_id.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/loop_clock.hpp"

namespace sluice::ngx {
namespace {

std::uint64_t read(const std::atomic<std::uint64_t>& word) noexcept {
    return word.load(std::memory_order_relaxed);
}

constexpr std::array<std::string_view, 5> kWorkerStates{"unknown", "starting", "running",
                                                        "retrying", "stopped"};
constexpr std::array<std::string_view, 4> kDeadKinds{"unreadable", "order", "catalog", "command"};
constexpr std::array<std::string_view, 13> kErrorNames{"an input breaks a rule",
                                                       "something is missing",
                                                       "a conflict",
                                                       "a limit",
                                                       "no room",
                                                       "the disk is full",
                                                       "it is locked",
                                                       "an I/O error",
                                                       "damaged data",
                                                       "no permission",
                                                       "a newer format",
                                                       "an approval is waited for",
                                                       "an internal error"};
static_assert(kErrorNames.size() == static_cast<std::size_t>(ErrorCode::kInternal) + 1);

/// By the index that a word holds; words come from another process.
template <std::size_t N>
std::string_view name_at(const std::array<std::string_view, N>& names, std::uint64_t i) noexcept {
    return i < N ? names[i] : std::string_view("unknown");
}

}  // namespace

WorkerFigures worker_figures(const store::ControlWords& words) {
    WorkerFigures figures;
    figures.state = name_at(kWorkerStates, read(words.worker_state));
    figures.heartbeat_ms = read(words.heartbeat_ms);
    figures.started_ms = read(words.worker_started_ms);
    figures.pid = read(words.worker_pid);
    figures.version = read(words.worker_version);
    if (const std::uint64_t error = read(words.worker_error); error != 0) {
        figures.error = name_at(kErrorNames, error - 1);
    }
    figures.applied = read(words.applied);
    figures.stale = read(words.stale);
    figures.duplicate = read(words.duplicate);
    figures.dead = read(words.dead);
    figures.catalog = read(words.catalog);
    figures.commands = read(words.commands);
    figures.batch_records = read(words.apply_batch_records);
    figures.batch_us = read(words.apply_batch_us);
    figures.orders = read(words.orders);
    figures.journal_entries = read(words.journal_entries);
    figures.anomalies = read(words.anomalies);
    figures.dead_open = read(words.dead_open);
    figures.attribution_left = read(words.attribution_left);
    figures.ledger_bytes_used = read(words.ledger_bytes_used);
    figures.ledger_bytes_map = read(words.ledger_bytes_map);
    figures.archive_bytes = read(words.archive_bytes);
    for (std::size_t i = 1; i < kAnomalyKinds; ++i) {
        figures.anomalies_by_kind.push_back(
            {to_string(static_cast<AnomalyKind>(i)), read(words.anomalies_by_kind[i])});
    }
    for (std::size_t i = 0; i < kDeadKinds.size(); ++i) {
        figures.dead_by_kind.push_back({kDeadKinds[i], read(words.dead_by_kind[i])});
    }
    return figures;
}

namespace {

void add_store(const StatusSources& from, StatusReport& report) {
    report.not_ready = from.store.closed_reason();
    report.not_ready_detail = from.store.problem();
    report.accounts = from.sampler.accounts();
    if (store::Queue* queue = from.store.queue()) {
        if (queue->latched()) {
            report.not_ready_detail = queue->latch_text();
        }
        report.store_uuid = queue->uuid();
        report.queue = from.sampler.queue();
        report.worker = worker_figures(queue->control().words());
    }
}

}  // namespace

StatusReport gather_status(const MainConf& conf) {
    StatusReport report;
    report.now = loop_time();
    report.version = kBuildId;
    report.nginx = NGINX_VERSION;
    report.pid = static_cast<std::uint64_t>(ngx_pid);
    const auto* core = reinterpret_cast<const ngx_core_conf_t*>(
        ngx_get_conf(conf.cycle->conf_ctx, ngx_core_module));
    report.nginx_workers = static_cast<std::uint64_t>(core->worker_processes);
    report.store_path = to_view(conf.store_path);
    if (conf.zone_view.header != nullptr) {
        report.counters_since_ms =
            static_cast<std::uint64_t>(conf.zone_view.header->created_second) * 1000;
        report.metrics = sum_metrics(conf.zone_view.all_blocks());
        conf.zone_view.history->read(report.history);
    }
    if (conf.status_sources != nullptr) {
        add_store(*conf.status_sources, report);
    } else {
        report.not_ready = Reason::kStoreUnavailable;
        report.not_ready_detail = "this worker process could not start; see the error log";
    }
    return report;
}

}  // namespace sluice::ngx
