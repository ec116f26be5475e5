#include "ngx_module/status/status.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/status/report.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "ngx_module/build_id.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/response.hpp"
#include "ngx_module/status/status_page.hpp"

namespace sluice::ngx {
namespace {

// -- The report -----------------------------------------------------------------------------------

std::uint64_t read(const std::atomic<std::uint64_t>& word) noexcept {
    return word.load(std::memory_order_relaxed);
}

constexpr std::array<std::string_view, 5> kWorkerStates{"unknown", "starting", "running",
                                                        "retrying", "stopped"};
constexpr std::array<std::string_view, store::kDeadKinds> kDeadKindNames{
    "unreadable", "order", "catalog", "command", "not_sealed", "privacy_request", "clicks"};
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

/// Returns the name for a word, which another process wrote, so that it may be out of range.
template <std::size_t N>
std::string_view name_at(const std::array<std::string_view, N>& names, std::uint64_t i) noexcept {
    return i < N ? names[i] : std::string_view("unknown");
}

/// Reads what the worker published, from memory that is mapped already.
WorkerFigures worker_figures(const store::ControlWords& words) {
    WorkerFigures figures{.state = name_at(kWorkerStates, read(words.worker_state)),
                          .heartbeat_ms = read(words.heartbeat_ms),
                          .started_ms = read(words.worker_started_ms),
                          .pid = read(words.worker_pid),
                          .version = read(words.worker_version)};
    if (const std::uint64_t error = read(words.worker_error); error != 0) {
        figures.error = name_at(kErrorNames, error - 1);
    }
    figures.applied = read(words.applied);
    figures.stale = read(words.stale);
    figures.duplicate = read(words.duplicate);
    figures.dead = read(words.dead);
    figures.catalog = read(words.catalog);
    figures.commands = read(words.commands);
    figures.clicks = read(words.clicks);
    figures.clicks_stored = read(words.clicks_stored);
    figures.clicks_known = read(words.clicks_known);
    figures.clicks_without_link = read(words.clicks_without_link);
    figures.clicks_expired = read(words.clicks_expired);
    figures.links_published = read(words.links_published);
    figures.links_behind_ms = read(words.links_behind_ms);
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
            {to_string(static_cast<AnomalyKind>(i)), read(words.anomalies_of(i))});
    }
    for (std::size_t i = 0; i < kDeadKindNames.size(); ++i) {
        figures.dead_by_kind.push_back({kDeadKindNames[i], read(words.dead_by_kind[i])});
    }
    return figures;
}

/// Returns nothing if the registry is not open or cannot be read now.
std::optional<RegistryFigures> registry_figures(store::RegistryReader* registry,
                                                std::uint64_t accounts_max) {
    try {
        if (registry == nullptr) {
            return std::nullopt;
        }
        const store::RegistrySize size = registry->size();
        return RegistryFigures{size.accounts, size.shops, size.tokens,
                               accounts_max,  size.bytes, size.generation};
    } catch (const store::StoreFailure&) {
        return std::nullopt;  // the requests that need it log the error
    }
}

void add_store(const StatusSources& from, const ZoneView& zone, StatusReport& report) {
    report.registry = registry_figures(from.store.registry(), zone.cells_count);
    report.not_ready = from.store.closed_reason();
    report.not_ready_detail = from.store.problem();
    report.accounts = from.sampler.accounts();
    report.links_problem = from.links.problem();
    if (store::Queue* queue = from.store.queue()) {
        if (queue->latched()) {
            report.not_ready_detail = queue->latch_text();
        }
        report.store_uuid = queue->uuid();
        report.queue = from.sampler.queue();
        report.worker = worker_figures(queue->control().words());
    }
}

/// Collects what is known now, also about a broken store, or in a process that could not open one.
/// Reads mapped memory only, except while the disk is full: then closed_reason() asks the file
/// system for its free space.
StatusReport gather_status(const MainConf& conf) {
    StatusReport report;
    report.now = loop_time();
    report.version = kBuildId;
    report.nginx = NGINX_VERSION;
    report.pid = static_cast<std::uint64_t>(ngx_pid);
    report.nginx_workers = static_cast<std::uint64_t>(core_conf(conf.cycle).worker_processes);
    report.store_path = to_view(conf.store_path);
    if (conf.zone_view.header != nullptr) {
        report.counters_since_ms =
            static_cast<std::uint64_t>(conf.zone_view.header->created_second) * 1000;
        report.metrics = sum_metrics(conf.zone_view.all_blocks());
        conf.zone_view.history->read(report.history);
    }
    if (conf.status_sources != nullptr) {
        add_store(*conf.status_sources, conf.zone_view, report);
    } else {
        report.not_ready = Reason::kStoreUnavailable;
        report.not_ready_detail = "this worker process could not start; see the error log";
    }
    return report;
}

// -- Documents ------------------------------------------------------------------------------------

constexpr std::string_view kNothing = "/";  ///< Names no document.

/// Returns the document that the URI names, "" for the page. In a prefix location it is the rest of
/// the URI; in an exact or a regular expression's location the last segment (`location =
/// /metrics`).
std::string_view resource_of(const ngx_http_request_t* r) noexcept {
    const ngx_http_core_loc_conf_t& core = core_conf(r);
    std::string_view uri = to_view(r->uri);
    const std::string_view location = to_view(core.name);
    if (!core.exact_match && uri.substr(0, location.size()) == location) {
        uri.remove_prefix(location.size());
        const bool whole_segment = uri.empty() || location.back() == '/';
        return whole_segment ? uri : uri.front() == '/' ? uri.substr(1) : kNothing;
    }
    return uri.substr(uri.rfind('/') + 1);
}

struct Document {
    std::string_view type;
    std::string_view text{};  ///< Static, or in `made`.
    std::string made{};
    ngx_uint_t status = NGX_HTTP_OK;
};

Document ready(const MainConf& conf) {
    const std::optional<Reason> closed = conf.status_sources != nullptr
                                             ? conf.status_sources->store.closed_reason()
                                             : Reason::kStoreUnavailable;
    Document document{"text/plain; charset=utf-8", "ready\n"};
    if (closed) {
        document.made = std::string(to_string(*closed)) + '\n';
        document.status = NGX_HTTP_SERVICE_UNAVAILABLE;
    }
    return document;
}

std::optional<Document> document_of(const ngx_http_request_t* r, const MainConf& conf) {
    const std::string_view resource = resource_of(r);
    if (resource == "status.json") {
        return Document{.type = "application/json",
                        .made = render_status_json(gather_status(conf))};
    }
    if (resource == "metrics") {
        return Document{.type = "text/plain; version=0.0.4; charset=utf-8",
                        .made = render_prometheus(gather_status(conf))};
    }
    if (resource == "health") {
        return Document{"text/plain; charset=utf-8", "ok\n"};
    }
    if (resource == "ready") {
        return ready(conf);
    }
    if (resource.empty() || core_conf(r).exact_match) {
        return Document{"text/html; charset=utf-8", kStatusPage};
    }
    return std::nullopt;
}

ngx_int_t serve(ngx_http_request_t* r) {
    std::optional<Document> document = document_of(r, *main_conf(r));
    if (!document) {
        return NGX_HTTP_NOT_FOUND;
    }
    std::string_view text = document->text;
    if (!document->made.empty()) {
        text = *make_in_pool<std::string>(r->pool, std::move(document->made));
    }
    const bool added = add_header(r, "Cache-Control", "no-store") &&
                       add_header(r, "X-Content-Type-Options", "nosniff") &&
                       add_header(r, "Referrer-Policy", "no-referrer") &&
                       add_header(r, "Content-Security-Policy", kStatusPolicy);
    return added ? send_text(r, document->status, document->type, text) : NGX_ERROR;
}

// -- Readiness while the store is opened ----------------------------------------------------------

extern "C" {
static void on_ready_resumed(ngx_http_request_t* r) noexcept {
    if (r->aio) {
        return;  // the socket became writable while the request is parked
    }
    r->write_event_handler = ngx_http_request_empty_handler;
    const ngx_int_t failed = NGX_HTTP_INTERNAL_SERVER_ERROR;
    ngx_http_finalize_request(r, guarded(r->connection->log, failed, [&] { return serve(r); }));
}
}

void on_store_opened(StoreWaiter& waiter) noexcept {
    resume(static_cast<ngx_http_request_t*>(waiter.owner));
}

/// Returns true if the request waits for the store as events do, so that a start or a reload does
/// not look like a failure.
bool waits_for_store(ngx_http_request_t* r) {
    const StatusSources* sources = main_conf(r)->status_sources;
    if (sources == nullptr || r != r->main || resource_of(r) != "ready" ||
        !sources->store.closed_reason()) {
        return false;
    }
    auto* const waiter = make_in_pool<StoreWaiter>(r->pool);
    waiter->owner = r;
    waiter->resumed = on_store_opened;
    if (!sources->store.wait(*waiter)) {
        return false;
    }
    r->main->count++;
    park(r, on_ready_resumed);
    return true;
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_status_handler(ngx_http_request_t* r) noexcept {
    r->disable_not_modified = 1;  // If-None-Match and the like do not apply to live figures
    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD))) {
        static_cast<void>(add_header(r, "Allow", "GET, HEAD"));
        return NGX_HTTP_NOT_ALLOWED;
    }
    const ngx_int_t rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }
    const ngx_int_t failed = NGX_HTTP_INTERNAL_SERVER_ERROR;
    return guarded(r->connection->log, failed,
                   [&] { return waits_for_store(r) ? ngx_int_t{NGX_DONE} : serve(r); });
}
