#include "ngx_module/request/request.hpp"

#include <optional>

#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/process/edge.hpp"
#include "ngx_module/request/answer.hpp"
#include "ngx_module/request/check.hpp"
#include "ngx_module/request/handler.hpp"

namespace sluice::ngx {
namespace {

/// Small bodies in memory are checked at once; others may block for the disk, or take long.
bool is_offloaded(const IngestRequest& request) noexcept {
    const bool looks_up_key = request.conf->dry_run != 0 && !request.is_events();
    return looks_up_key || request.body.spooled() ||
           request.body.bytes() > request.conf->offload_threshold ||
           request.body.bytes() > store::kInlineBodyBytesMax;
}

/// For ngx_http_finalize_request(); kParked: not yet.
using Ending = std::optional<ngx_int_t>;
constexpr Ending kParked = std::nullopt;

/// The checked record goes to the store.
Ending commit(IngestRequest& request) {
    if (request.job.bulk) {
        Edge::current()->offload().release_memory(request);
    }
    request.job.item.prefix = request.envelope.prefix();
    request.job.item.body = request.job.bulk ? std::string_view() : request.body.view();
    request.job.owner = &request;
    request.job.completed = [](CommitJob& job) noexcept {
        auto& stored = *static_cast<IngestRequest*>(job.owner);
        stored.committed = true;
        if (job.item.outcome == store::AppendOutcome::kReplayed) {
            stored.records_count = job.item.records_count;
        }
        wake(stored);
    };
    if (Edge::current()->commits().join(request.job)) {
        park(request);
        return kParked;
    }
    settle_unavailable(request, Reason::kStoreUnavailable);
    return send_answer(request);
}

Ending after_check(IngestRequest& request) {
    return request.answer ? send_answer(request) : commit(request);
}

Ending check(IngestRequest& request) {
    if (is_offloaded(request)) {
        if (Edge::current()->offload().start(request)) {
            return kParked;
        }
        settle_unavailable(request, Reason::kMemory);
        return send_answer(request);
    }
    (void)request.body.gather();  // it lies in memory: no file can fail
    check_request(request, Edge::current()->scratch(), loop_time());
    return after_check(request);
}

Ending next_step(IngestRequest& request) {
    if (request.step == IngestRequest::Step::kBodyRead) {
        request.step = IngestRequest::Step::kChecked;
        return request.answer ? send_answer(request) : check(request);
    }
    if (request.committed) {
        settle_commit(request);
    }
    if (request.r->connection->error) {
        return NGX_HTTP_CLIENT_CLOSED_REQUEST;
    }
    return after_check(request);
}

/// Nothing was sent yet when something throws.
Ending fail(IngestRequest& request) noexcept {
    settle_internal_error(request);
    return send_answer(request);
}

}  // namespace

void IngestRequest::reset() noexcept {
    r = nullptr;
    head = {};
    sender = {};
    body.release();
    request_id = {};
    rate.reset();
    cell = nullptr;
    job.item = {};
    job.bulk.reset();
    job.commit_ms = 0;
    records_count = 0;
    answer.reset();
    counted = false;
    authenticated = false;
    replaces_page = false;
    diagnosis = {};
    committed = false;
    queue = nullptr;
    step = Step::kBodyRead;
}

IngestRequest* request_of(ngx_http_request_t* r) noexcept {
    return static_cast<IngestRequest*>(ngx_http_get_module_ctx(r, ngx_http_sluice_module));
}

void go_on(IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    const std::optional<Ending> known = guarded(r->connection->log, std::optional<Ending>(), [&] {
        return std::optional<Ending>(next_step(request));
    });
    const Ending ending = known ? *known : fail(request);
    if (ending) {
        ngx_http_finalize_request(r, *ending);
    }
}

void park(IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    r->main->blocked++;
    r->aio = 1;
    r->write_event_handler = ngx_http_sluice_woken;
}

void wake(IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    ngx_connection_t* c = r->connection;
    ngx_http_set_log_request(c->log, r);
    r->main->blocked--;
    r->aio = 0;
#if (nginx_version >= 1025004)
    if (r->main->terminated) {
        c->write->handler(c->write);
        return;
    }
#endif
    // Through the handler: termination has replaced it by its own.
    r->write_event_handler(r);
    ngx_http_run_posted_requests(c);
}

}  // namespace sluice::ngx

using namespace sluice::ngx;

void ngx_http_sluice_woken(ngx_http_request_t* r) noexcept {
    if (r->aio) {
        return;  // the socket became writable while the request is parked
    }
    go_on(*request_of(r));
}
