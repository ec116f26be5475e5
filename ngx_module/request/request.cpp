#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

void IngestRequest::reset() noexcept {
    r = nullptr;
    head = {};
    sender = {};
    body.release();
    stream.reset();
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
    guarded = false;
    body_sent = false;
    diagnosis = {};
    committed = false;
    queue = nullptr;
    resume = Step::kEnd;
}

IngestRequest* request_of(const ngx_http_request_t* r) noexcept {
    return static_cast<IngestRequest*>(ngx_http_get_module_ctx(r, ngx_http_sluice_module));
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
