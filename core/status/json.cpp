// status.json: one object; a part that is not known is null.
#include "core/json/writer.hpp"
#include "core/status/report.hpp"

namespace sluice {
namespace {

double age_seconds(std::uint64_t now_ms, std::uint64_t then_ms) {
    return now_ms > then_ms ? to_seconds(now_ms - then_ms) : 0;
}

std::string time_text(std::uint64_t ms) {
    return Timestamp{static_cast<std::int64_t>(ms / 1000),
                     static_cast<std::uint32_t>(ms % 1000) * 1'000'000}
        .to_string();
}

void optional_time(JsonWriter& json, std::string_view name, std::uint64_t ms) {
    json.key(name);
    ms == 0 ? json.null() : json.value(time_text(ms));
}

std::string version_text(std::uint64_t packed) {
    return std::to_string(packed / 1'000'000) + '.' + std::to_string(packed / 1'000 % 1'000) + '.' +
           std::to_string(packed % 1'000);
}

/// @param unit  One of the histogram's units, in the unit that the name says (ms for `_ms`: 0.001
///              if the histogram counts microseconds).
void write_histogram(JsonWriter& json, std::string_view name, const HistogramValues& values,
                     double unit) {
    json.key(name).begin_object();
    json.field("count", values.count);
    json.field("sum", static_cast<double>(values.sum) * unit);
    json.field("p50", values.quantile(50) * unit);
    json.field("p90", values.quantile(90) * unit);
    json.field("p99", values.quantile(99) * unit);
    json.key("buckets").begin_array();
    for (std::size_t i = 0; i <= values.bounds.size(); ++i) {
        json.begin_array();
        i == values.bounds.size() ? json.null() : json.value(values.bounds[i] * unit);
        json.value(values.buckets[i]).end_array();
    }
    json.end_array().end_object();
}

void write_endpoint(JsonWriter& json, const EndpointValues& values) {
    json.field("requests", values.requests());
    json.key("results").begin_object();
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        json.field(to_string(static_cast<Outcome>(i)), values.results[i]);
    }
    json.end_object().key("reasons").begin_object();
    for (std::size_t i = 1; i < kReasons; ++i) {
        if (values.reasons[i] != 0) {
            json.field(to_string(static_cast<Reason>(i)), values.reasons[i]);
        }
    }
    json.end_object();
    json.field("records", values.records).field("body_bytes", values.body_bytes);
    write_histogram(json, "check_seconds", values.check_us, 1e-6);
    write_histogram(json, "request_seconds", values.request_ms, 1e-3);
}

void write_link_figures(JsonWriter& json, const MetricsSnapshot& metrics) {
    json.key("links").begin_object().key("results").begin_object();
    for (std::size_t i = 0; i < kLinkResults; ++i) {
        json.field(to_string(static_cast<LinkResult>(i)), metrics.links[i]);
    }
    json.end_object().field("clicks_lost", metrics.clicks_lost);
    json.field("clicks_buffered", metrics.clicks_buffered).end_object();
}

void write_server(JsonWriter& json, const StatusReport& report) {
    json.key("server").begin_object();
    json.field("version", report.version).field("nginx", report.nginx);
    json.field("pid", report.pid).field("workers", report.nginx_workers);
    optional_time(json, "counters_since", report.counters_since_ms);
    json.field("store", report.store_path).field("uuid", report.store_uuid);
    json.end_object();
}

void write_problems(JsonWriter& json, const StatusReport& report) {
    json.key("problems").begin_array();
    for (const Problem& problem : find_problems(report)) {
        json.begin_object();
        json.field("severity", problem.severity == Severity::kCritical ? "critical" : "warning");
        json.field("code", problem.code).field("message", problem.message).end_object();
    }
    json.end_array();
}

void optional_number(JsonWriter& json, std::string_view name,
                     const std::optional<std::uint64_t>& number) {
    json.key(name);
    number ? json.value(*number) : json.null();
}

void write_queue(JsonWriter& json, const StatusReport& report, std::uint64_t now_ms) {
    json.key("queue");
    if (!report.queue) {
        json.null();
        return;
    }
    const QueueFigures& queue = *report.queue;
    json.begin_object();
    json.field("sample_age_seconds", age_seconds(now_ms, queue.sampled_ms));
    json.field("first_seq", queue.first_seq).field("last_seq", queue.last_seq);
    json.field("applied_seq", queue.applied_seq).field("depth", queue.depth);
    json.field("oldest_age_seconds", queue.oldest_ms ? age_seconds(now_ms, *queue.oldest_ms) : 0);
    json.field("bytes_used", queue.bytes_used).field("bytes_mark", queue.bytes_mark);
    json.field("bytes_map", queue.bytes_map);
    json.field("idempotency_rows", queue.idempotency_rows);
    json.field("idempotency_rows_max", queue.idempotency_rows_max);
    optional_number(json, "disk_free_bytes", queue.disk_free);
    optional_number(json, "disk_bytes", queue.disk_bytes);
    json.key("lanes").begin_object();
    json.field("count", queue.lanes).field("in_use", queue.lanes_in_use);
    json.field("records", queue.lane_records).field("bytes_used", queue.lane_bytes_used);
    json.field("bytes_all", queue.lane_bytes_all);
    json.field("oldest_age_seconds", to_seconds(queue.lane_oldest_ms));
    json.end_object().end_object();
}

void write_named(JsonWriter& json, std::string_view name, const std::vector<NamedFigure>& figures) {
    json.key(name).begin_object();
    for (const NamedFigure& figure : figures) {
        json.field(figure.name, figure.value);
    }
    json.end_object();
}

void write_worker(JsonWriter& json, const StatusReport& report, std::uint64_t now_ms) {
    json.key("worker");
    if (!report.worker) {
        json.null().key("ledger").null();
        return;
    }
    const WorkerFigures& worker = *report.worker;
    json.begin_object();
    json.field("state", worker_state(worker, now_ms)).field("error", worker.error);
    json.field("version", version_text(worker.version)).field("pid", worker.pid);
    optional_time(json, "started_at", worker.started_ms);
    optional_time(json, "heartbeat_at", worker.heartbeat_ms);
    json.field("applied", worker.applied).field("stale", worker.stale);
    json.field("duplicate", worker.duplicate).field("dead", worker.dead);
    json.field("catalog", worker.catalog).field("commands", worker.commands);
    json.field("clicks", worker.clicks);
    json.field("links_published", worker.links_published);
    optional_time(json, "links_behind_since", worker.links_behind_ms);
    json.field("attribution_left", worker.attribution_left);
    json.field("last_batch_records", worker.batch_records);
    json.field("last_batch_seconds", static_cast<double>(worker.batch_us) * 1e-6);
    json.end_object();

    json.key("ledger").begin_object();
    json.field("orders", worker.orders).field("journal_entries", worker.journal_entries);
    json.field("anomalies", worker.anomalies);
    write_named(json, "anomalies_by_kind", worker.anomalies_by_kind);
    json.field("dead_open", worker.dead_open);
    write_named(json, "dead_by_kind", worker.dead_by_kind);
    json.field("bytes_used", worker.ledger_bytes_used);
    json.field("bytes_map", worker.ledger_bytes_map);
    json.field("archive_bytes", worker.archive_bytes).end_object();
}

void write_registry(JsonWriter& json, const StatusReport& report) {
    json.key("registry");
    if (!report.registry) {
        json.null();
        return;
    }
    const RegistryFigures& registry = *report.registry;
    json.begin_object();
    json.field("accounts", registry.accounts).field("accounts_limit", registry.accounts_max);
    json.field("shops", registry.shops).field("tokens", registry.tokens);
    json.field("bytes", registry.bytes).field("generation", registry.generation);
    json.end_object();
}

void write_accounts(JsonWriter& json, const StatusReport& report) {
    json.key("accounts").begin_array();
    for (const AccountUse& use : report.accounts) {
        json.begin_object().field("account", use.account).field("slot", use.slot);
        json.field("limit", use.limit).field("used", use.used).field("reset", use.reset_second);
        json.field("accepted", use.accepted).field("limited", use.limited).end_object();
    }
    json.end_array();
}

void write_history(JsonWriter& json, const StatusReport& report) {
    json.key("history").begin_array();
    for (const HistoryPoint& point : report.history) {
        json.begin_object().field("time", to_seconds(point.time_ms));
        json.field("seconds", to_seconds(point.span_ms));
        json.field("accepted_events", point.accepted_events);
        json.field("accepted_catalog", point.accepted_catalog);
        json.field("refused", point.refused).field("failed", point.failed);
        json.field("commits", point.commits);
        json.field("commit_p50", static_cast<double>(point.commit_p50_us) * 1e-6);
        json.field("commit_p99", static_cast<double>(point.commit_p99_us) * 1e-6);
        json.field("depth", point.queue_depth).end_object();
    }
    json.end_array();
}

}  // namespace

std::string render_status_json(const StatusReport& report) {
    const std::uint64_t now_ms = to_ms(report.now);
    std::string out;
    out.reserve(64u << 10);
    JsonWriter json(out);
    json.begin_object().field("schema", std::uint32_t{1}).field("time", report.now.to_string());
    write_server(json, report);
    json.field("ready", !report.not_ready);
    json.field("not_ready_reason", report.not_ready ? to_string(*report.not_ready) : "");
    write_problems(json, report);
    for (const Endpoint endpoint : {Endpoint::kEvents, Endpoint::kCatalog, Endpoint::kShopify,
                                    Endpoint::kWooCommerce, Endpoint::kClicks}) {
        json.key(to_string(endpoint)).begin_object();
        write_endpoint(json, report.metrics.of(endpoint));
        json.end_object();
    }
    write_histogram(json, "commit_seconds", report.metrics.commit_us, 1e-6);
    write_histogram(json, "commit_requests", report.metrics.commit_requests, 1);
    json.field("offloaded", report.metrics.offloaded);
    write_link_figures(json, report.metrics);
    write_queue(json, report, now_ms);
    write_worker(json, report, now_ms);
    write_registry(json, report);
    write_accounts(json, report);
    write_history(json, report);
    json.end_object();
    out += '\n';
    return out;
}

}  // namespace sluice
