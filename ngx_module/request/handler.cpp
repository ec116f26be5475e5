#include "ngx_module/request/handler.hpp"

#include <optional>

#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/request/answer.hpp"
#include "ngx_module/request/body_deadline.hpp"
#include "ngx_module/request/check.hpp"
#include "ngx_module/request/open.hpp"
#include "ngx_module/request/record.hpp"
#include "ngx_module/request/request.hpp"
#include "ngx_module/request/request_pool.hpp"

namespace sluice::ngx {
namespace {

extern "C" {
static void on_body_read(ngx_http_request_t* r) noexcept;
static void on_woken(ngx_http_request_t* r) noexcept;
}

Step read_body(IngestRequest& request) noexcept {
    const ngx_int_t rc = ngx_http_read_client_request_body(request.r, on_body_read);
    if (rc == NGX_AGAIN) {
        start_body_deadline(request);
    }
    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? end_with(request, rc) : Step::kBodyComing;
}

Step take_step(IngestRequest& request, Step step) {
    switch (step) {
        case Step::kOpen:
            return open(request);
        case Step::kReadBody:
            return read_body(request);
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
        case Step::kParked:
        case Step::kEnd:
            break;
    }
    return step;
}

bool is_stop(Step step) noexcept {
    return step == Step::kBodyComing || step == Step::kParked || step == Step::kEnd;
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
    if (step == Step::kParked) {
        // Whatever the client does, the request stays until wake().
        ngx_http_request_t* r = request.r;
        r->main->blocked++;
        r->aio = 1;
        r->write_event_handler = on_woken;
    }
    return step == Step::kEnd ? std::optional<ngx_int_t>(request.ending) : std::nullopt;
}

/// The request may be gone afterwards.
void go_on(IngestRequest& request, Step step) noexcept {
    ngx_http_request_t* r = request.r;
    if (const std::optional<ngx_int_t> ending = walk(request, step)) {
        ngx_http_finalize_request(r, *ending);
    }
}

extern "C" {
static void on_body_read(ngx_http_request_t* r) noexcept {
    IngestRequest& request = *request_of(r);
    if (request.body_timer.timer_set) {
        // The body took its time: a sender that was revoked meanwhile is refused.
        stop_body_deadline(request);
        look_up_sender(request);
    }
    request.body.take(r);
    go_on(request, request.answer ? Step::kAnswer : Step::kCheck);
}

static void on_woken(ngx_http_request_t* r) noexcept {
    if (r->aio) {
        return;  // the socket became writable while the request is parked
    }
    IngestRequest& request = *request_of(r);
    go_on(request, request.resume);
}
}

/// A rewrite, try_files or a named location may lead here. Not what was answered or read before,
/// which would be stored on behalf of another location, perhaps twice; and not an error page whose
/// status is settled, which would tell the sender something else than this location's answer.
bool is_first_hand(const ngx_http_request_t* r) noexcept {
    return r == r->main && !r->header_sent && r->request_body == nullptr && !r->discard_body &&
           r->err_status == 0;
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_handler(ngx_http_request_t* r) noexcept {
    RequestPool* pool = main_conf(r)->requests;
    if (!is_first_hand(r)) {
        if (pool != nullptr) {
            pool->tools().notes.redirect(r);
        }
        return NGX_HTTP_NOT_FOUND;
    }
    IngestRequest* request = nullptr;
    if (pool != nullptr) {
        guarded(r->connection->log, [&] { request = &pool->acquire(r); });
    }
    if (request == nullptr) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
    return walk(*request, Step::kOpen).value_or(NGX_DONE);
}
