#include "ngx_module/request/handler.hpp"

#include <optional>

#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/request/arrival.hpp"
#include "ngx_module/request/body_deadline.hpp"
#include "ngx_module/request/check.hpp"
#include "ngx_module/request/open.hpp"
#include "ngx_module/request/pieces.hpp"
#include "ngx_module/request/record.hpp"
#include "ngx_module/request/request.hpp"
#include "ngx_module/request/request_pool.hpp"
#include "ngx_module/request/settle.hpp"

namespace sluice::ngx {
namespace {

extern "C" {
static void on_body_read(ngx_http_request_t* r) noexcept;
static void on_body_readable(ngx_http_request_t* r) noexcept;
static void on_woken(ngx_http_request_t* r) noexcept;
}

Step arrive(IngestRequest& request) {
    ngx_http_request_t* r = request.r;
    switch (arrival_of(r)) {
        case Arrival::kWhole:
            return Step::kOpen;
        case Arrival::kTooLarge:
            settle_too_large(request);
            break;
        case Arrival::kIncomplete:
            request.tools->notes.not_servable(r,
                                              "its body or method is not there any more, or an "
                                              "error page has settled its status");
            settle_unavailable(request, Reason::kNotServable);
            break;
    }
    r->err_status = 0;  // the sender is told this answer's status, not that of an error page
    return Step::kAnswerEarly;
}

void on_body_overdue(IngestRequest& request) noexcept;

Step read_body(IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    r->request_body_no_buffering = comes_in_pieces(r) ? 1 : 0;
    const ngx_int_t rc = ngx_http_read_client_request_body(r, on_body_read);
    if (rc == NGX_AGAIN && !r->request_body_no_buffering) {
        start_body_deadline(request, on_body_overdue);
    }
    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? end_with(request, rc) : Step::kBodyComing;
}

Step take_step(IngestRequest& request, Step step) {
    switch (step) {
        case Step::kArrive:
            return arrive(request);
        case Step::kOpen:
            return open(request);
        case Step::kReadBody:
            return read_body(request);
        case Step::kPieces:
            return read_pieces(request);
        case Step::kPieceTaken:
            return piece_taken(request);
        case Step::kBodyBroken:
            return break_off(request);
        case Step::kRenewed:
            look_up_sender(request);
            return request.answer ? drop_pieces(request, Step::kAnswer) : Step::kCheck;
        case Step::kCheck:
            return check(request);
        case Step::kOffload:
            return offload(request);
        case Step::kOffloaded:
            return offloaded(request);
        case Step::kCommit:
            return commit(request);
        case Step::kCommitted:
            return committed(request);
        case Step::kAnswer:
            return end_with(request, send_answer(request));
        case Step::kAnswerEarly:
            return end_with(request, send_early_answer(request));
        case Step::kBodyComing:
        case Step::kBodyHeld:
        case Step::kParked:
        case Step::kEnd:
            break;
    }
    return step;
}

bool is_stop(Step step) noexcept {
    return step == Step::kBodyComing || step == Step::kBodyHeld || step == Step::kParked ||
           step == Step::kEnd;
}

/// Whatever the client does, the request stays until wake().
void hold(ngx_http_request_t* r) noexcept {
    if (!r->aio) {
        r->main->blocked++;
        r->aio = 1;
        r->write_event_handler = on_woken;
    }
}

/// From step to step until the request ends or waits.
/// @return for ngx_http_finalize_request(). Nothing: it waits, and an event goes on with it.
std::optional<ngx_int_t> walk(IngestRequest& request, Step step) noexcept {
    while (!is_stop(step)) {
        const Step taken = step;
        step = guarded(request.r->connection->log, Step::kAnswer,
                       [&] { return take_step(request, taken); });
        if (step == Step::kAnswer && !request.answer) {
            settle_internal_error(request);  // something was thrown; nothing was sent yet
        }
    }
    if (step == Step::kParked || step == Step::kBodyHeld) {
        hold(request.r);
    }
    if (step != Step::kEnd) {
        return std::nullopt;
    }
    if (request.ending == NGX_HTTP_REQUEST_ENTITY_TOO_LARGE) {
        mark_refused_length(request.r);
    }
    return request.ending;
}

/// The request may be gone afterwards.
void go_on(IngestRequest& request, Step step) noexcept {
    ngx_http_request_t* r = request.r;
    if (const std::optional<ngx_int_t> ending = walk(request, step)) {
        ngx_http_finalize_request(r, *ending);
    }
}

void on_body_overdue(IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    ngx_connection_t* c = r->connection;
    ngx_http_set_log_request(c->log, r);
    ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT, "client sends its body too slowly");
    c->timedout = 1;
    request.ending = NGX_HTTP_REQUEST_TIME_OUT;
    go_on(request, request.stream != nullptr ? Step::kBodyBroken : Step::kEnd);
    ngx_http_run_posted_requests(c);
}

/// It comes in pieces, and the first of it is there.
void begin_to_read(IngestRequest& request) noexcept {
    request.r->read_event_handler = on_body_readable;
    start_body_deadline(request, on_body_overdue);
    const bool began = guarded(request.r->connection->log, false, [&] {
        begin_pieces(request);
        return true;
    });
    if (!began) {
        settle_internal_error(request);
    }
    go_on(request, began ? Step::kPieces : Step::kAnswer);
}

extern "C" {
static void on_body_read(ngx_http_request_t* r) noexcept {
    IngestRequest& request = *request_of(r);
    if (r->reading_body) {
        begin_to_read(request);
        return;
    }
    if (request.body_timer.timer_set) {
        // The body took its time: a sender that was revoked meanwhile is refused.
        stop_body_deadline(request);
        look_up_sender(request);
    }
    request.body.take(r);
    go_on(request, request.answer ? Step::kAnswer : Step::kCheck);
}

static void on_body_readable(ngx_http_request_t* r) noexcept {
    IngestRequest& request = *request_of(r);
    if (request.answer || is_reading_paused(request)) {
        r->connection->read->timedout = 0;
        ngx_http_block_reading(r);
        return;
    }
    go_on(request, Step::kPieces);
}

static void on_woken(ngx_http_request_t* r) noexcept {
    if (r->aio) {
        return;  // the socket became writable while the request is parked
    }
    r->write_event_handler = ngx_http_request_empty_handler;
    IngestRequest& request = *request_of(r);
    go_on(request, request.resume);
}
}

/// Refuses what has an answer of its own: a subrequest, or what post_action repeats.
ngx_int_t refuse_repetition(ngx_http_request_t* r, RequestPool* pool) noexcept {
    if (pool != nullptr) {
        pool->tools().notes.not_servable(
            r, r != r->main ? "it is a subrequest" : "it was answered already");
    }
    return r->header_sent ? NGX_OK : NGX_HTTP_SERVICE_UNAVAILABLE;
}

/// An error page leads from one ingest location to another: what was decided stays so, and it is
/// one request.
Step enter_again(IngestRequest& request, ngx_http_request_t* r) noexcept {
    ngx_http_clean_header(r);
    request.conf = loc_conf(r);
    ngx_http_set_ctx(r, &request, ngx_http_sluice_module);
    return request.answer ? Step::kAnswerEarly : Step::kArrive;
}

ngx_int_t enter(ngx_http_request_t* r, RequestPool& pool) {
    r->disable_not_modified = 1;  // If-Match and the like are about pages, not about events
    if (IngestRequest* earlier = RequestPool::find(r)) {
        return walk(*earlier, enter_again(*earlier, r)).value_or(NGX_DONE);
    }
    return walk(pool.acquire(r), Step::kArrive).value_or(NGX_DONE);
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_handler(ngx_http_request_t* r) noexcept {
    RequestPool* pool = main_conf(r)->requests;
    if (r != r->main || r->header_sent) {
        return refuse_repetition(r, pool);
    }
    const ngx_int_t failed = NGX_HTTP_INTERNAL_SERVER_ERROR;
    return pool == nullptr ? failed
                           : guarded(r->connection->log, failed, [&] { return enter(r, *pool); });
}
