// Prometheus text format 0.0.4. Names end in their base unit, counters in _total; a figure that is
// not known is left out. docs/directives.md lists every name.
#include "core/json/writer.hpp"
#include "core/status/report.hpp"

namespace sluice {
namespace {

class MetricsText {
public:
    explicit MetricsText(std::string& out) noexcept : out_(out) {}

    void family(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        out_.append("# HELP ").append(name).append(" ").append(help).append("\n");
        out_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
    }
    /// `labels` without braces: `endpoint="events"`.
    template <class Number>
    void sample(std::string_view labels, Number value, std::string_view suffix = {}) {
        out_.append(name_).append(suffix);
        if (!labels.empty()) {
            out_.append("{").append(labels).append("}");
        }
        out_ += ' ';
        append_number(out_, static_cast<double>(value));
        out_ += '\n';
    }
    template <class Number>
    void counter(std::string_view name, std::string_view help, Number value) {
        family(name, "counter", help);
        sample({}, value);
    }
    template <class Number>
    void gauge(std::string_view name, std::string_view help, Number value) {
        family(name, "gauge", help);
        sample({}, value);
    }
    void histogram(std::string_view labels, const HistogramValues& values, double unit) {
        const std::string prefix = labels.empty() ? std::string() : std::string(labels) + ',';
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < values.bounds.size(); ++i) {
            below += values.buckets[i];
            std::string bound;
            append_number(bound, values.bounds[i] * unit);
            sample(prefix + "le=\"" + bound + '"', below, "_bucket");
        }
        sample(prefix + "le=\"+Inf\"", values.count, "_bucket");
        sample(labels, static_cast<double>(values.sum) * unit, "_sum");
        sample(labels, values.count, "_count");
    }

private:
    std::string& out_;
    std::string_view name_;
};

std::string label(std::string_view name, std::string_view value) {
    std::string text(name);
    text += "=\"";
    for (const char c : value) {
        if (c == '\\' || c == '"') {
            text += '\\';
        }
        if (c == '\n') {
            text += "\\n";
            continue;
        }
        text += c;
    }
    text += '"';
    return text;
}

constexpr std::array<Endpoint, kEndpoints> kAllEndpoints{Endpoint::kEvents, Endpoint::kCatalog,
                                                         Endpoint::kShopify, Endpoint::kWooCommerce,
                                                         Endpoint::kClicks};

/// @param ignored  Of webhooks that are ignored, or else of requests that are refused.
void write_reasons(MetricsText& text, Endpoint endpoint, const EndpointValues& values,
                   bool ignored) {
    for (std::size_t i = 1; i < kReasons; ++i) {
        const auto reason = static_cast<Reason>(i);
        if (is_ignored(reason) == ignored) {
            text.sample(
                label("endpoint", to_string(endpoint)) + ',' + label("reason", to_string(reason)),
                values.reasons[i]);
        }
    }
}

void write_requests(MetricsText& text, const MetricsSnapshot& metrics) {
    text.family("sluice_requests_total", "counter", "Answered requests by endpoint and result.");
    for (const Endpoint endpoint : kAllEndpoints) {
        for (std::size_t i = 0; i < kOutcomes; ++i) {
            text.sample(label("endpoint", to_string(endpoint)) + ',' +
                            label("result", to_string(static_cast<Outcome>(i))),
                        metrics.of(endpoint).results[i]);
        }
    }
    text.family("sluice_refusals_total", "counter",
                "Requests that were not accepted, by endpoint and reason.");
    for (const Endpoint endpoint : kAllEndpoints) {
        write_reasons(text, endpoint, metrics.of(endpoint), false);
    }
    text.family("sluice_source_ignored_total", "counter",
                "Webhooks that were answered 200 and ignored, by endpoint and reason.");
    for (const Endpoint endpoint : {Endpoint::kShopify, Endpoint::kWooCommerce}) {
        write_reasons(text, endpoint, metrics.of(endpoint), true);
    }
    text.family("sluice_source_notes_total", "counter",
                "Accepted webhooks whose amounts the platform did not state as the ledger needs "
                "them, by endpoint and note.");
    for (const Endpoint endpoint : {Endpoint::kShopify, Endpoint::kWooCommerce}) {
        for (std::size_t i = 0; i < std::size(kSourceNotes); ++i) {
            text.sample(label("endpoint", to_string(endpoint)) + ',' +
                            label("note", to_string(kSourceNotes[i])),
                        metrics.of(endpoint).notes[i]);
        }
    }
    text.family("sluice_records_accepted_total", "counter",
                "Orders (events), products (catalog) and clicks that were accepted.");
    for (const Endpoint endpoint : kAllEndpoints) {
        text.sample(label("endpoint", to_string(endpoint)), metrics.of(endpoint).records);
    }
    text.family("sluice_request_body_bytes_total", "counter", "Bytes of request bodies read.");
    for (const Endpoint endpoint : kAllEndpoints) {
        text.sample(label("endpoint", to_string(endpoint)), metrics.of(endpoint).body_bytes);
    }
}

void write_times(MetricsText& text, const MetricsSnapshot& metrics) {
    text.family("sluice_request_duration_seconds", "histogram",
                "From the first byte of a request to its answer.");
    for (const Endpoint endpoint : kAllEndpoints) {
        text.histogram(label("endpoint", to_string(endpoint)), metrics.of(endpoint).request_ms,
                       1e-3);
    }
    text.family("sluice_check_duration_seconds", "histogram",
                "Signature, rate limit and validation of one request.");
    for (const Endpoint endpoint : kAllEndpoints) {
        text.histogram(label("endpoint", to_string(endpoint)), metrics.of(endpoint).check_us, 1e-6);
    }
    text.family("sluice_commit_duration_seconds", "histogram",
                "One durable commit: wait for the writer lock, write, sync.");
    text.histogram({}, metrics.commit_us, 1e-6);
    text.family("sluice_commit_requests", "histogram", "Requests that shared one commit.");
    text.histogram({}, metrics.commit_requests, 1);
    text.counter("sluice_offloaded_bodies_total",
                 "Large bodies that were checked on the offload pool.", metrics.offloaded);
}

void write_links(MetricsText& text, const MetricsSnapshot& metrics) {
    text.family("sluice_links_total", "counter", "Requests for links, by result.");
    for (std::size_t i = 0; i < kLinkResults; ++i) {
        text.sample(label("result", to_string(static_cast<LinkResult>(i))), metrics.links[i]);
    }
    text.counter("sluice_clicks_lost_total", "Counted clicks of links that could not be written.",
                 metrics.clicks_lost);
    text.gauge("sluice_click_buffer_clicks", "Counted clicks of links that are not written yet.",
               metrics.clicks_buffered);
}

void write_queue(MetricsText& text, const QueueFigures& queue, std::uint64_t now_ms) {
    text.gauge("sluice_queue_records", "Records in the queue that are not applied yet.",
               queue.depth);
    text.gauge(
        "sluice_queue_oldest_age_seconds", "Age of the oldest record that is not applied yet.",
        queue.oldest_ms && now_ms > *queue.oldest_ms ? to_seconds(now_ms - *queue.oldest_ms) : 0);
    text.gauge("sluice_queue_used_bytes", "Pages of the queue that are in use.", queue.bytes_used);
    text.gauge("sluice_queue_mark_bytes", "Admission stops here.", queue.bytes_mark);
    text.gauge("sluice_queue_map_bytes", "Size of the queue's map.", queue.bytes_map);
    text.gauge("sluice_queue_last_sequence", "Sequence number that was given out last.",
               queue.last_seq);
    text.gauge("sluice_queue_applied_sequence", "Sequence number that was applied last.",
               queue.applied_seq);
    text.gauge("sluice_idempotency_keys", "Idempotency keys that are kept.",
               queue.idempotency_rows);
    text.gauge("sluice_idempotency_keys_max", "With as many keys, product batches get 503.",
               queue.idempotency_rows_max);
    if (queue.disk_free && queue.disk_bytes) {
        text.gauge("sluice_disk_free_bytes", "Free room on the store's disk.", *queue.disk_free);
        text.gauge("sluice_disk_size_bytes", "Size of the store's disk.", *queue.disk_bytes);
    }
    text.gauge("sluice_lanes", "Lanes of the store.", queue.lanes);
    text.gauge("sluice_lanes_in_use", "Lanes that a process writes to.", queue.lanes_in_use);
    text.gauge("sluice_lane_records", "Records in lanes that are not in the queue yet.",
               queue.lane_records);
    text.gauge("sluice_lane_used_bytes", "Bytes of lanes that are not in the queue yet.",
               queue.lane_bytes_used);
    text.gauge("sluice_lane_size_bytes", "Bytes that all lanes can hold.", queue.lane_bytes_all);
    text.gauge("sluice_lane_oldest_age_seconds", "Age of the oldest record that is in a lane.",
               to_seconds(queue.lane_oldest_ms));
    text.gauge("sluice_sample_timestamp_seconds", "When the figures of the queue were taken.",
               to_seconds(queue.sampled_ms));
}

void write_worker(MetricsText& text, const WorkerFigures& worker, std::uint64_t now_ms) {
    const std::string_view state = worker_state(worker, now_ms);
    text.gauge("sluice_worker_up", "1 if the worker runs and gives signs of life.",
               state == "running" || state == "retrying" || state == "starting" ? 1 : 0);
    text.gauge("sluice_worker_retrying", "1 if the worker cannot apply and tries again.",
               state == "retrying" ? 1 : 0);
    text.gauge("sluice_worker_heartbeat_timestamp_seconds", "Last sign of life of the worker.",
               to_seconds(worker.heartbeat_ms));
    text.gauge("sluice_worker_start_time_seconds", "When the worker started.",
               to_seconds(worker.started_ms));
    text.family("sluice_worker_inputs_total", "counter",
                "Inputs that the worker took from the queue since init, by outcome.");
    text.sample(label("class", "applied"), worker.applied);
    text.sample(label("class", "stale"), worker.stale);
    text.sample(label("class", "duplicate"), worker.duplicate);
    text.sample(label("class", "dead"), worker.dead);
    text.sample(label("class", "catalog"), worker.catalog);
    text.sample(label("class", "command"), worker.commands);
    text.sample(label("class", "clicks"), worker.clicks);
    text.family("sluice_clicks_total", "counter",
                "Rows of those inputs with clicks, by outcome, and clicks that were deleted "
                "(expired).");
    text.sample(label("outcome", "stored"), worker.clicks_stored);
    text.sample(label("outcome", "known"), worker.clicks_known);
    text.sample(label("outcome", "no_link"), worker.clicks_without_link);
    text.sample(label("outcome", "expired"), worker.clicks_expired);
    text.gauge("sluice_links_published", "Links that nginx may serve.", worker.links_published);
    text.gauge("sluice_links_behind_seconds",
               "For how long nginx has lacked a change of a link; 0 if it lacks none.",
               worker.links_behind_ms != 0 && now_ms > worker.links_behind_ms
                   ? to_seconds(now_ms - worker.links_behind_ms)
                   : 0);
    text.gauge("sluice_worker_attribution_left",
               "Codes, devices and programs whose waiting orders are still to be tried again.",
               worker.attribution_left);
    text.gauge("sluice_ledger_orders", "Orders in the ledger.", worker.orders);
    text.counter("sluice_ledger_journal_entries_total", "Entries of the commission journal.",
                 worker.journal_entries);
    text.gauge("sluice_ledger_used_bytes",
               "Pages of the ledger up to the last one, free ones included.",
               worker.ledger_bytes_used);
    text.gauge("sluice_ledger_map_bytes", "Size of the ledger's map.", worker.ledger_bytes_map);
    text.gauge("sluice_archive_bytes", "Size of the archive of applied inputs.",
               worker.archive_bytes);
    text.family("sluice_anomalies_total", "counter", "Orders that showed an anomaly, by kind.");
    for (const NamedFigure& figure : worker.anomalies_by_kind) {
        text.sample(label("kind", figure.name), figure.value);
    }
    text.family("sluice_dead_letters", "gauge",
                "Inputs that could not be applied and were not replayed, by kind.");
    for (const NamedFigure& figure : worker.dead_by_kind) {
        text.sample(label("kind", figure.name), figure.value);
    }
}

void write_registry(MetricsText& text, const RegistryFigures& registry) {
    text.gauge("sluice_registry_accounts", "Accounts of the store.", registry.accounts);
    text.gauge("sluice_registry_accounts_limit",
               "Accounts that the shared zone of this nginx has room for.", registry.accounts_max);
    text.gauge("sluice_registry_shops", "Shops of the store.", registry.shops);
    text.gauge("sluice_registry_tokens", "Tokens of the store, revoked ones included.",
               registry.tokens);
    text.gauge("sluice_registry_bytes", "Size of the registry that nginx reads.", registry.bytes);
    text.gauge("sluice_registry_generation", "Grows with every change that this nginx has seen.",
               registry.generation);
}

void write_accounts(MetricsText& text, const StatusReport& report) {
    const auto each = [&](std::string_view name, std::string_view type, std::string_view help,
                          std::uint64_t AccountUse::*value) {
        text.family(name, type, help);
        for (const AccountUse& use : report.accounts) {
            if (!use.account.empty()) {
                text.sample(label("account", use.account), use.*value);
            }
        }
    };
    each("sluice_account_accepted_total", "counter", "Accepted requests of the busiest accounts.",
         &AccountUse::accepted);
    each("sluice_account_limited_total", "counter",
         "Requests of the busiest accounts that got 429.", &AccountUse::limited);
    each("sluice_account_window_requests", "gauge",
         "Requests that the busiest accounts used of their current window.", &AccountUse::used);
    each("sluice_account_window_limit", "gauge",
         "Requests that the busiest accounts may send in a window; 0: unlimited.",
         &AccountUse::limit);
}

}  // namespace

std::string render_prometheus(const StatusReport& report) {
    const std::uint64_t now_ms = to_ms(report.now);
    std::string out;
    out.reserve(64u << 10);
    MetricsText text(out);
    text.family("sluice_build_info", "gauge", "Versions of the module and of nginx.");
    text.sample(label("version", report.version) + ',' + label("nginx", report.nginx), 1.0);
    text.gauge("sluice_ready", "1 if the store can take events now.", report.not_ready ? 0 : 1);
    text.gauge("sluice_counters_start_time_seconds",
               "When the counters began: they survive a reload, not a restart.",
               to_seconds(report.counters_since_ms));
    write_requests(text, report.metrics);
    write_times(text, report.metrics);
    write_links(text, report.metrics);
    if (report.queue) {
        write_queue(text, *report.queue, now_ms);
    }
    if (report.worker) {
        write_worker(text, *report.worker, now_ms);
    }
    if (report.registry) {
        write_registry(text, *report.registry);
    }
    write_accounts(text, report);
    return out;
}

}  // namespace sluice
