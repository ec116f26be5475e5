#include "ngx_module/request/body_deadline.hpp"

namespace sluice::ngx {
namespace {

ngx_msec_t milliseconds_for(const ngx_http_request_t* r) noexcept {
    const auto* core = static_cast<const ngx_http_core_loc_conf_t*>(
        ngx_http_get_module_loc_conf(r, ngx_http_core_module));
    const off_t announced = r->headers_in.content_length_n;
    const off_t bytes = announced > 0 ? announced : core->client_max_body_size;
    return core->client_body_timeout +
           static_cast<ngx_msec_t>(bytes / kBodyBytesPerSecondMin) * 1000;
}

void on_overdue(ngx_event_t* event) noexcept {
    event->timedout = 0;
    ngx_http_request_t* r =
        static_cast<IngestRequest*>(static_cast<EventIdent*>(event->data)->owner)->r;
    ngx_connection_t* c = r->connection;
    ngx_http_set_log_request(c->log, r);
    ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT, "client sends its body too slowly");
    c->timedout = 1;
    ngx_http_finalize_request(r, NGX_HTTP_REQUEST_TIME_OUT);
    ngx_http_run_posted_requests(c);
}

}  // namespace

void start_body_deadline(IngestRequest& request) noexcept {
    ngx_event_t& timer = request.body_timer;
    request.body_ident.owner = &request;
    timer.data = &request.body_ident;
    timer.handler = &on_overdue;
    timer.log = request.r->connection->log;
    timer.cancelable = 1;  // nginx's own timer keeps a quitting process here
    ngx_add_timer(&timer, milliseconds_for(request.r));
}

void stop_body_deadline(IngestRequest& request) noexcept {
    if (request.body_timer.timer_set) {
        ngx_del_timer(&request.body_timer);
    }
}

}  // namespace sluice::ngx
