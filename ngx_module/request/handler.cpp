#include "ngx_module/request/handler.hpp"

#include <new>

#include "ngx_module/request/stages.hpp"

namespace sluice::ngx {

// -- The requests ---------------------------------------------------------------------------------

RequestPool::~RequestPool() {
    for (const std::unique_ptr<Slot>& slot : slots_) {
        if (slot->cleanup != nullptr) {
            slot->cleanup->handler = nullptr;
        }
    }
}

IngestRequest& RequestPool::acquire(ngx_http_request_t* r) {
    if (free_ == nullptr) {
        slots_.push_back(std::make_unique<Slot>());
        free_ = slots_.back().get();
        free_->pool = this;
    }
    ngx_pool_cleanup_t* cleanup = ngx_pool_cleanup_add(r->pool, 0);
    if (cleanup == nullptr) {
        throw std::bad_alloc();
    }
    Slot& slot = *free_;
    free_ = slot.next_free;
    slot.cleanup = cleanup;
    cleanup->data = &slot;
    cleanup->handler = &RequestPool::on_cleanup;
    ++in_use_;
    IngestRequest& request = slot.request.emplace(r, loc_conf(r), tools_, slot.envelope);
    ngx_http_set_ctx(r, &request, ngx_http_sluice_module);
    return request;
}

IngestRequest* RequestPool::find(const ngx_http_request_t* r) noexcept {
    IngestRequest* request = request_of(r);
    if (request != nullptr || !r->internal) {
        return request;
    }
    // A redirect clears the modules' contexts of a request, but not its cleanups.
    for (ngx_pool_cleanup_t* cleanup = r->pool->cleanup; cleanup != nullptr;
         cleanup = cleanup->next) {
        if (cleanup->handler == &RequestPool::on_cleanup) {
            return &*static_cast<Slot*>(cleanup->data)->request;
        }
    }
    return nullptr;
}

void RequestPool::on_cleanup(void* data) noexcept {
    Slot& slot = *static_cast<Slot*>(data);
    count_once(*slot.request);
    slot.request.reset();
    slot.cleanup = nullptr;
    slot.next_free = slot.pool->free_;
    slot.pool->free_ = &slot;
    --slot.pool->in_use_;
    slot.pool->tools_.store.request_ended();
}

// -- From step to step ----------------------------------------------------------------------------

namespace {

extern "C" {
static void on_body_read(ngx_http_request_t* r) noexcept;
static void on_body_readable(ngx_http_request_t* r) noexcept;
static void on_woken(ngx_http_request_t* r) noexcept;
}
void on_body_overdue(IngestRequest& request) noexcept;

/// Answers 500 after an exception; whether the body must be discarded depends on whether nginx has
/// begun to read it.
Step fail(IngestRequest& request) noexcept {
    settle_internal_error(request);
    return request.r->request_body == nullptr ? Step::kAnswerEarly : Step::kDropPieces;
}

Step perform(IngestRequest& request, Step step) {
    switch (step) {
        case Step::kOpen:
            return open(request);
        case Step::kReadBody:
            return read_body(request, on_body_read, on_body_overdue);
        case Step::kBodyRead:
            return body_read(request);
        case Step::kBeginPieces:
            return begin_pieces(request, on_body_readable, on_body_overdue);
        case Step::kReadPieces:
            return read_pieces(request);
        case Step::kPieceTaken:
            return piece_taken(request);
        case Step::kBreakOff:
            return break_off(request);
        case Step::kDropPieces:
            return drop_pieces(request);
        case Step::kLookUpAgain:
            return look_up_again(request);
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
        case Step::kFailed:
            return fail(request);
        case Step::kAnswer:
            return send_answer(request);
        case Step::kAnswerEarly:
            return send_early_answer(request);
        case Step::kBodyComing:
        case Step::kBodyHeld:
        case Step::kParked:
        case Step::kEnd:
            break;
    }
    return step;
}

/// Performs steps until the request ends or waits.
/// @return the result for ngx_http_finalize_request(), or nothing if the request waits for an
/// event.
std::optional<ngx_int_t> walk(IngestRequest& request, Step step) noexcept {
    while (step < Step::kBodyComing) {
        step = guarded(request.r->connection->log, Step::kFailed,
                       [&] { return perform(request, step); });
    }
    if (step == Step::kParked || step == Step::kBodyHeld) {
        park(request.r, on_woken);
    }
    if (step != Step::kEnd) {
        return std::nullopt;
    }
    if (request.ending == NGX_HTTP_REQUEST_ENTITY_TOO_LARGE) {
        mark_refused_length(request.r);
    }
    return request.ending;
}

/// Continues after an event. The request may be gone afterwards.
void advance(IngestRequest& request, Step step) noexcept {
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
    advance(request, request.stream != nullptr ? Step::kBreakOff : Step::kEnd);
    ngx_http_run_posted_requests(c);
}

extern "C" {
static void on_body_read(ngx_http_request_t* r) noexcept {
    advance(*request_of(r), r->reading_body ? Step::kBeginPieces : Step::kBodyRead);
}

static void on_body_readable(ngx_http_request_t* r) noexcept {
    IngestRequest& request = *request_of(r);
    if (request.answer || is_reading_paused(request)) {
        r->connection->read->timedout = 0;
        ngx_http_block_reading(r);
        return;
    }
    advance(request, Step::kReadPieces);
}

static void on_woken(ngx_http_request_t* r) noexcept {
    if (r->aio) {
        return;  // the socket became writable while the request is parked
    }
    r->write_event_handler = ngx_http_request_empty_handler;
    IngestRequest& request = *request_of(r);
    if (request.resume == Step::kOpen) {  // as the content handler would have ended
        ngx_http_finalize_request(r, walk(request, Step::kOpen).value_or(NGX_DONE));
        return;
    }
    advance(request, request.resume);
}
}

// -- Entry ----------------------------------------------------------------------------------------

/// Refuses a request that has an answer of its own: a subrequest, or one that post_action repeats.
ngx_int_t refuse_repetition(ngx_http_request_t* r, RequestPool* pool) noexcept {
    if (pool != nullptr) {
        pool->tools().notes.not_servable(
            r, r != r->main ? "it is a subrequest" : "it was answered already");
    }
    return r->header_sent ? NGX_OK : NGX_HTTP_SERVICE_UNAVAILABLE;
}

/// Continues a request that an error page leads from one ingest location to another. An
/// answer that was decided stays, and both count as one request.
Step enter_again(IngestRequest& request, ngx_http_request_t* r) noexcept {
    ngx_http_clean_header(r);
    request.conf = loc_conf(r);
    ngx_http_set_ctx(r, &request, ngx_http_sluice_module);
    return request.answer ? Step::kAnswerEarly : Step::kOpen;
}

ngx_int_t enter(ngx_http_request_t* r, RequestPool& pool) {
    r->disable_not_modified = 1;  // conditions such as If-Match concern pages, not events
    if (IngestRequest* earlier = RequestPool::find(r)) {
        return walk(*earlier, enter_again(*earlier, r)).value_or(NGX_DONE);
    }
    return walk(pool.acquire(r), Step::kOpen).value_or(NGX_DONE);
}

}  // namespace

void wake(IngestRequest& request, Step step) noexcept {
    request.resume = step;
    resume(request.r);
}

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
