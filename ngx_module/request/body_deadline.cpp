#include "ngx_module/request/body_deadline.hpp"

#include <utility>

#include "ngx_module/nginx/loop_clock.hpp"

namespace sluice::ngx {
namespace {

ngx_msec_t milliseconds_for(const ngx_http_request_t* r) noexcept {
    const auto* core = static_cast<const ngx_http_core_loc_conf_t*>(
        ngx_http_get_module_loc_conf(r, ngx_http_core_module));
    const off_t announced = r->headers_in.content_length_n;
    // Of a chunked body nginx counts there what has come of it.
    const bool is_announced = announced > 0 && !r->headers_in.chunked;
    const off_t bytes = is_announced ? announced : core->client_max_body_size;
    return core->client_body_timeout +
           static_cast<ngx_msec_t>(bytes / kBodyBytesPerSecondMin) * 1000;
}

void on_overdue(ngx_event_t* event) noexcept {
    event->timedout = 0;
    auto& request = *static_cast<IngestRequest*>(static_cast<EventIdent*>(event->data)->owner);
    request.body_overdue(request);
}

}  // namespace

void start_body_deadline(IngestRequest& request,
                         void (*overdue)(IngestRequest&) noexcept) noexcept {
    ngx_event_t& timer = request.body_timer;
    request.body_overdue = overdue;
    request.body_ident.owner = &request;
    timer.data = &request.body_ident;
    timer.handler = &on_overdue;
    timer.log = request.r->connection->log;
    timer.cancelable = 1;  // nginx's own timer keeps a quitting process here
    ngx_add_timer(&timer, milliseconds_for(request.r));
}

void pause_body_deadline(IngestRequest& request) noexcept {
    if (request.body_timer.timer_set) {
        const auto left = static_cast<ngx_msec_int_t>(request.body_timer.timer.key - loop_ms());
        request.body_ms_left = left > 0 ? static_cast<ngx_msec_t>(left) : 1;
        ngx_del_timer(&request.body_timer);
    }
}

void resume_body_deadline(IngestRequest& request) noexcept {
    if (request.body_ms_left > 0) {
        ngx_add_timer(&request.body_timer, std::exchange(request.body_ms_left, 0));
    }
}

void stop_body_deadline(IngestRequest& request) noexcept {
    request.body_ms_left = 0;
    if (request.body_timer.timer_set) {
        ngx_del_timer(&request.body_timer);
    }
}

}  // namespace sluice::ngx
